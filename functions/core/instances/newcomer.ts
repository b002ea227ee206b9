import { createHash } from 'node:crypto';
import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { concurrently } from '../aws/batch.ts';
import { enableSuppression } from '../aws/ec2.ts';
import { dropClaims } from '../bracket/end-claims.ts';
import type { Member } from '../domain/fleet.ts';
import { judgeSuppressed, type StatusSeen } from '../domain/goals.ts';
import { chooseLaunches } from '../domain/newcomers.ts';
import { claimInstance, findInstances } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { findRun, recordNewcomer } from '../ledger/runs.ts';
import { DESCRIBES_AT_ONCE } from '../limits.ts';
import { nowSeconds } from '../time.ts';

/**
 * What the live runs on a group want of an instance that it is launching (`policy.launches`): wait until they have ended, or
 * be one of their instances and be suppressed with them. Repeating it does only what is still to do.
 *
 * @returns why the launch may not go on yet; undefined when no run keeps it
 */
export async function holdForRuns(
  group: AutoScalingGroupFacts,
  newcomer: Member,
  tags: Readonly<Record<string, string>>,
  status: StatusSeen | undefined,
): Promise<string | undefined> {
  const reasons: string[] = [];
  for (const run of await liveRunsOn(group)) {
    const wish = chooseLaunches(run.request.policy.launches, run.request.fleet, tags);
    if (wish === 'wait') reasons.push(`run ${run.runId} keeps launches waiting until it has ended`);
    if (wish === 'join') reasons.push(...(await join(run, newcomer, status)));
  }
  return reasons.length > 0 ? reasons.join('; ') : undefined;
}

/** The live runs that claim an instance of the group: what claims its neighbours concerns the newcomer. */
async function liveRunsOn(group: AutoScalingGroupFacts): Promise<RunRecord[]> {
  const neighbours = await findInstances(group.instances.map(({ instanceId }) => instanceId));
  const runIds = [...new Set([...neighbours.values()].flatMap(({ claims }) => [...claims.keys()]))];
  const runs = await concurrently(runIds, DESCRIBES_AT_ONCE, findRun);
  return runs.filter(run => run !== undefined).filter(run => run.status === 'live');
}

/**
 * Before the go-ahead and during the deployment; after it nobody works on the fleet any more. A run that leaves its instances to
 * the run around it releases none.
 */
const takesNewcomers = ({ phase, plan }: RunRecord): boolean =>
  (phase === 'before' || phase === 'go-ahead') && plan.suppressing > 0 && plan.coveredBy === undefined;

/**
 * Suppresses the newcomer for as long as the run's fleet is: the run's record and the claim are written first, so that the
 * run's end, whichever it is, releases it (R-UNDO).
 *
 * @returns what is still missing
 */
async function join(run: RunRecord, newcomer: Member, status: StatusSeen | undefined): Promise<string[]> {
  const { runId, plan } = run;
  const { instanceId } = newcomer;
  if (newcomer.suppression === 'none' || !takesNewcomers(run)) return [];
  const known = await recordOf(instanceId);
  if (!known?.claims.has(runId)) {
    // Somebody else's suppression is left as it is (D39).
    if (status?.status === 'suppressed' && !known) return [];
    if (!(await recordNewcomer(runId, instanceId))) return [];
    const claim = { member: newcomer, until: plan.suppressUntil };
    const answer = await claimInstance(runId, instanceId, claim, false, nowSeconds());
    if (!answer.claimed) return [`run ${answer.by} is just releasing it`];
  }
  const record = await recordOf(instanceId);
  const now = await findRun(runId);
  if (now?.status !== 'live') {
    // It has ended since, and may have looked for its claims before this one was written.
    if (record) await dropClaims(runId, new Map([[instanceId, record]]));
    return [];
  }
  // From here on this act ends within ACT_TIMEOUT_SECONDS. An undo waits for that, and before a release there are two
  // evaluations of each check, so neither can overtake it.
  if (!takesNewcomers(now)) return [];
  const until = Math.max(...[...(record?.claims.values() ?? [])].map(claim => claim.until));
  if (judgeSuppressed(newcomer, status, until * 1000).verdict === 'met') return [];
  const { failed } = await enableSuppression(
    [instanceId],
    until - nowSeconds(),
    tokenOf(runId, instanceId, String(until)),
  );
  const [refused] = failed;
  return [
    refused
      ? `it is not suppressed for run ${runId}: ${refused.reason}`
      : `its suppression for run ${runId} has to spread`,
  ];
}

const recordOf = async (instanceId: string): Promise<InstanceRecord | undefined> =>
  (await findInstances([instanceId])).get(instanceId);

/** The same for the same intention: EC2 ignores a repeated call. */
const tokenOf = (...intention: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(intention)).digest('hex');
