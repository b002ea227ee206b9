import { createHash } from 'node:crypto';
import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { concurrently } from '../aws/batch.ts';
import { enableSuppression } from '../aws/suppression.ts';
import { dropClaims } from '../bracket/end-claims.ts';
import type { Member } from '../domain/fleet.ts';
import { judgeSuppressed, type StatusSeen } from '../domain/goals.ts';
import { chooseLaunches } from '../domain/newcomers.ts';
import { claimInstance, findInstances } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { findRun, recordNewcomer } from '../ledger/runs.ts';
import { DESCRIBES_AT_ONCE } from '../limits.ts';
import { nowSeconds } from '../time.ts';

/** An instance that is being launched, as it is now. */
export interface Newcomer {
  readonly member: Member;
  readonly tags: Readonly<Record<string, string>>;
  /** Does it carry the opt-in tag (D19)? */
  readonly optedIn: boolean;
  readonly status: StatusSeen | undefined;
}

/** What the live runs on its group want of it. */
export interface HeldForRuns {
  /** Why the launch may not go on yet; undefined when no run keeps it. */
  readonly held: string | undefined;
  /** Which run goes without it, and why; empty when none does. */
  readonly remark: string;
  /** Since when a run lacks its suppression (seconds since the epoch); 0 when none does. */
  readonly unsuppressedSince: number;
}

/**
 * What the live runs on a group want of an instance that it is launching (`policy.launches`): wait until they have ended, or
 * be one of their instances and be suppressed with them. Repeating it does only what is still to do. A suppression that does
 * not come in a run's own budget for its lead is waited for no longer (D1).
 *
 * @param lackingSince `unsuppressedSince` of the last time
 */
export async function holdForRuns(
  group: AutoScalingGroupFacts,
  newcomer: Newcomer,
  lackingSince: number,
): Promise<HeldForRuns> {
  const since = lackingSince || nowSeconds();
  const reasons: string[] = [];
  const remarks: string[] = [];
  let isSuppressed = true;
  for (const run of await liveRunsOn(group)) {
    const wish = chooseLaunches(run.request.policy.launches, run.request, {
      zone: newcomer.member.zone,
      tags: newcomer.tags,
    });
    if (wish === 'wait') reasons.push(`run ${run.runId} keeps launches waiting until it has ended`);
    if (wish !== 'join') continue;
    const joined = await join(run, newcomer, since);
    if (joined.lacks === 'nothing') continue;
    if (joined.lacks === 'suppression') isSuppressed = false;
    const isOver = joined.lacks === 'suppression' && nowSeconds() >= since + run.plan.budgets.lead;
    if (joined.lacks === 'tag' || isOver) remarks.push(joined.reason);
    else reasons.push(joined.reason);
  }
  return {
    held: reasons.length > 0 ? reasons.join('; ') : undefined,
    remark: remarks.join('; '),
    unsuppressedSince: isSuppressed ? 0 : since,
  };
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

type Joined =
  | { readonly lacks: 'nothing' }
  | { readonly lacks: 'tag' | 'turn' | 'suppression'; readonly reason: string };

const JOINED: Joined = { lacks: 'nothing' };

/**
 * Suppresses the newcomer for as long as the run's fleet is: the run's record and the claim are written first, so that the
 * run's end, whichever it is, releases it (R-UNDO). What could not be released afterwards is not taken (D19).
 *
 * @param since which lack of a suppression this is: a later one is another intention
 */
async function join(run: RunRecord, { member, optedIn, status }: Newcomer, since: number): Promise<Joined> {
  const { runId, plan } = run;
  const { instanceId } = member;
  if (member.suppression === 'none' || !takesNewcomers(run)) return JOINED;
  if (!optedIn)
    return { lacks: 'tag', reason: `run ${runId} does not suppress it: it does not carry the opt-in tag` };
  const known = await recordOf(instanceId);
  if (!known?.claims.has(runId)) {
    // Somebody else's suppression is left as it is (D39).
    if (status?.status === 'suppressed' && !known) return JOINED;
    if (!(await recordNewcomer(runId, instanceId))) return JOINED;
    const claim = { member, until: plan.suppressUntil };
    const answer = await claimInstance(runId, instanceId, claim, false, nowSeconds());
    if (!answer.claimed) return { lacks: 'turn', reason: `run ${answer.by} is just releasing it` };
  }
  const record = await recordOf(instanceId);
  const now = await findRun(runId);
  if (now?.status !== 'live') {
    // It has ended since, and may have looked for its claims before this one was written.
    if (record) await dropClaims(runId, new Map([[instanceId, record]]));
    return JOINED;
  }
  // From here on this act ends within ACT_TIMEOUT_SECONDS. An undo, and the release of a run with newcomers, wait for that.
  if (!takesNewcomers(now)) return JOINED;
  const until = Math.max(...[...(record?.claims.values() ?? [])].map(claim => claim.until));
  const isMet = judgeSuppressed(member, status, until * 1000).verdict === 'met';
  if (isMet && status?.status === 'suppressed') return JOINED;
  const { failed } = await enableSuppression(
    [instanceId],
    until - nowSeconds(),
    tokenOf(runId, instanceId, String(until), String(since)),
  );
  // Without an included check nothing may ever show it (D13).
  if (isMet) return JOINED;
  const [refused] = failed;
  const reason = refused
    ? `it is not suppressed for run ${runId}: ${refused.reason}`
    : `its suppression for run ${runId} has to spread`;
  return { lacks: 'suppression', reason };
}

const recordOf = async (instanceId: string): Promise<InstanceRecord | undefined> =>
  (await findInstances([instanceId])).get(instanceId);

/** The same for the same intention: EC2 ignores a repeated call. */
const tokenOf = (...intention: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(intention)).digest('hex');
