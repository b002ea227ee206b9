import type { Member } from '../domain/fleet.ts';
import { findInstances } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { findRun } from '../ledger/runs.ts';

/**
 * A run over the whole fleet covers the runs that hooks begin inside it. It has suppressed their instances before them and
 * outlasts them, and its after-deploy, which is still to come, proves every instance before it releases any (D17). So a covered
 * run puts its instance into service and leaves it there.
 *
 * @param until the covered run would need the suppression until then (seconds since the epoch), were it alone
 * @returns the run that covers all of these instances; undefined when none does
 */
export async function findCover(
  runId: string,
  records: readonly InstanceRecord[],
  until: number,
): Promise<string | undefined> {
  const [first] = records;
  for (const candidate of first?.claims.keys() ?? [])
    if (candidate !== runId && (await covers(candidate, records, until))) return candidate;
  return undefined;
}

/** The run that the plan is covered by, as long as it does cover these instances. */
export async function coverOf(
  { plan: { coveredBy, suppressUntil } }: RunRecord,
  records: readonly InstanceRecord[],
): Promise<string | undefined> {
  return coveredBy !== undefined && (await covers(coveredBy, records, suppressUntil)) ? coveredBy : undefined;
}

async function covers(runId: string, records: readonly InstanceRecord[], until: number): Promise<boolean> {
  if (!records.every(({ claims }) => (claims.get(runId)?.until ?? 0) >= until)) return false;
  const run = await findRun(runId);
  // It proves what it has planned for: an instance that was launched meanwhile it only releases.
  if (!records.every(({ instanceId }) => run?.plan.instanceIds.includes(instanceId))) return false;
  // Before its go-ahead it may still be refused; in its after-deploy it may be past looking. A hook's own run is no cover.
  return run?.status === 'live' && run.phase === 'go-ahead' && run.request.observer === undefined;
}

/** An instance that the deployment has been to, and from when on its evaluations count, in milliseconds since the epoch. */
export interface Earlier {
  readonly member: Member;
  readonly newerThan: number;
}

/** The instances that covered runs of the same deployment have left to the run that covers this one too. */
export async function earlierOf({ plan, request }: RunRecord): Promise<Earlier[]> {
  const { coveredBy } = plan;
  const cover = coveredBy === undefined ? undefined : await findRun(coveredBy);
  if (!cover) return [];
  const records = await findInstances(cover.plan.instanceIds);
  return [...records.values()].flatMap(({ claims, deployed }) => {
    const claim = claims.get(cover.runId);
    if (!claim || !deployed || deployed.by !== request.observer) return [];
    return [{ member: claim.member, newerThan: deployed.at * 1000 }];
  });
}
