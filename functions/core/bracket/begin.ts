import { type Promotion, promotionsOf } from '../adopt/promotions.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { BudgetExceedsTimeout, NoGoAhead, RunEnded, RunInProgress, RunUnknown } from '../errors.ts';
import { requireOpen } from '../ledger/closing.ts';
import { findInstances } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { advance, createRun, findRun, markActed } from '../ledger/runs.ts';
import { MACHINE_TIMEOUT_SECONDS, RETRY_ROOM_SECONDS, SUPPRESSION_MARGIN_SECONDS } from '../limits.ts';
import type { AfterRequest, RunRequest } from '../request.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { claimFleet, runsThatGiveWay } from './claim-fleet.ts';
import { coverOf } from './cover.ts';
import { list } from './discover-fleet.ts';
import { dropClaims } from './end-claims.ts';
import { keepTakenOver } from './keep-taken-over.ts';
import { emergencyOf, type PlannedRun, planRun } from './plan-run.ts';
import { readsFor } from './reads.ts';

/** What before-deploy goes by. All times are seconds since the epoch. */
export interface Begun {
  readonly verdict: 'planned' | 'queued';
  readonly waitSeconds: number;
  readonly runId: string;
  readonly suppressing: number;
  readonly draining: number;
  readonly holding: number;
  readonly emergency: boolean;
  /** A run over the whole fleet covers this one. */
  readonly covered: boolean;
  readonly leadDeadline: number;
  /** How long a floor, or another run's guard or hold, is waited for: what follows still has to drain. */
  readonly floorDeadline: number;
  readonly goAheadDeadline: number;
  readonly drainSeconds: number;
  readonly suppressUntil: number;
  readonly budgets: PlannedRun['plan']['budgets'];
  readonly bystanders: number;
  readonly remarks: readonly string[];
}

/** Who begins a run, and when. */
export interface Beginning {
  readonly owner: string;
  /** When the execution started, in seconds since the epoch: a queued run waits from then, as long as its policy says. */
  readonly startedAt: number;
  /** When the machine asked for this plan, in milliseconds since the epoch. */
  readonly enteredAt: number;
  readonly optIn: OptInTag;
}

/**
 * Plans a run, writes its record and claims its instances: all before anything in AWS is changed.
 *
 * @throws a Refusal; RunInProgress when another live run moves the traffic of an instance and `queue` is not set
 */
export async function beginRun(
  request: RunRequest,
  { owner, startedAt, enteredAt, optIn }: Beginning,
): Promise<Begun> {
  const now = nowSeconds();
  await requireOpen();
  const earlier = await refuseEnded(request.runId, owner);
  const reads = await readsFor(request.observer, enteredAt - PLAN_MAY_BE_OLD_MS);
  const planned = await keepTakenOver(await planRun(request, optIn, now, reads), earlier);
  const { plan } = planned;
  const begun = {
    runId: request.runId,
    suppressing: plan.suppressing,
    draining: plan.draining,
    holding: plan.holdings.length,
    emergency: emergencyOf(request, now) !== undefined,
    covered: plan.coveredBy !== undefined,
    leadDeadline: now + plan.budgets.lead,
    floorDeadline: now + request.policy.waitSeconds,
    goAheadDeadline: now + plan.budgets.before,
    drainSeconds:
      plan.draining > 0 ? Math.max(0, ...plan.groups.map(group => group.deregistrationDelaySeconds)) : 0,
    suppressUntil: plan.suppressUntil,
    budgets: plan.budgets,
    bystanders: plan.bystanders.length,
    remarks: plan.remarks.slice(0, 10),
  };
  const deadline = now + plan.budgets.before + plan.budgets.undo;
  await createRun({ runId: request.runId, owner, request, plan, createdAt: now, deadline });
  const conflicts = await claimFleet(request, owner, planned, now);
  if (conflicts.length === 0) return { ...begun, verdict: 'planned', waitSeconds: 0 };

  const leaving = await runsThatGiveWay(request.runId, now, conflicts);
  const mayWait = request.queue || conflicts.every(({ by, why }) => why === 'releasing' || leaving.has(by));
  const waitSeconds = nextWait(now, startedAt + request.policy.waitSeconds, pollSeconds(plan.budgets.before));
  if (!mayWait || waitSeconds === 0)
    throw new RunInProgress(
      `Run ${list([...new Set(conflicts.map(conflict => conflict.by))])} is live on ${list(conflicts.map(conflict => conflict.instanceId))} and moves the same traffic. Wait for it, or say queue: true with a longer policy.waitSeconds.`,
    );
  const claimed = await findInstances(plan.instanceIds);
  const unused = [...claimed].filter(([, { tookOver }]) => tookOver !== request.runId);
  if (await dropClaims(request.runId, new Map(unused))) await markActed(request.runId, owner);
  return { ...begun, verdict: 'queued', waitSeconds };
}

/** What the runs of one deployment plan by may be so much older than their start: they all begin at about the same time. */
const PLAN_MAY_BE_OLD_MS = 15_000;

/**
 * A redriven or repeated execution must not begin what has ended (D12).
 *
 * @returns the run as an earlier plan of this execution has left it
 */
async function refuseEnded(runId: string, owner: string): Promise<RunRecord | undefined> {
  const run = await findRun(runId);
  if (run?.status === 'ended')
    throw new RunEnded(
      `Run ${runId} has ended${run.outcome ? ` (${run.outcome})` : ''}. Start a new one with a runId of its own.`,
    );
  if (run && run.owner !== owner)
    throw new RunInProgress(`Run ${runId} is live in ${run.owner}. Wait for it, or use another runId.`);
  return run;
}

/** What after-deploy goes by. All times are seconds since the epoch. */
export interface Resumed {
  readonly runId: string;
  readonly suppressing: number;
  readonly draining: number;
  readonly holding: number;
  /** It is still covered: in service, its instances are left to the run that covers it. */
  readonly covered: boolean;
  readonly readyBeforeTraffic: boolean;
  readonly readyEvaluations: number;
  /** Evaluations must be newer than this (milliseconds since the epoch). */
  readonly deployedAt: number;
  readonly readyDeadline: number;
  readonly inServiceDeadline: number;
  readonly evidenceDeadline: number;
  readonly releaseDeadline: number;
  readonly releaseSeconds: number;
  /**
   * When what the request promotes is adopted. Under the suppression, unless that cannot be seen on every instance, for want of
   * an included check (D13), or is another run's.
   */
  readonly promotes: 'nothing' | 'before-release' | 'after-release';
  readonly promotions: readonly Promotion[];
  readonly promotionDeadline: number;
  /** The deployment took longer than the suppression covers: it is extended first, until then. */
  readonly extend: boolean;
  readonly suppressUntil: number;
}

/**
 * Takes a run over for after-deploy and sets its deadlines.
 *
 * @throws RunUnknown, NoGoAhead when before-deploy has not given its go-ahead, RunEnded
 * @throws CheckUnknown, CheckInUse, BudgetExceedsTimeout when the checks cannot be promoted: the run stays as it is
 */
export async function resumeRun(request: AfterRequest, owner: string): Promise<Resumed> {
  const now = nowSeconds();
  const run = await findRun(request.runId);
  if (!run)
    throw new RunUnknown(`There is no run ${request.runId}. Was before-deploy started with this runId?`);
  const { budgets } = run.plan;
  const readyDeadline = now + budgets.ready;
  const inServiceDeadline = readyDeadline + budgets.inService;
  const records = [...(await findInstances(run.plan.instanceIds)).values()];
  const claimed = records.filter(({ claims }) => claims.has(run.runId));
  const covered = (await coverOf(run, claimed)) !== undefined;
  const { promotions, seconds } = await promotionsOf(request.promoteCheckIds ?? []);
  const promotes = whenToPromote(promotions, !covered && isSeenSuppressed(run.runId, claimed));
  const before = promotes === 'before-release' ? seconds : 0;
  const evidenceDeadline = inServiceDeadline + before + budgets.readyAgain;
  const releaseDeadline = evidenceDeadline + budgets.release;
  const promotionDeadline =
    promotes === 'after-release' ? releaseDeadline + seconds : inServiceDeadline + before;
  const deadline = Math.max(releaseDeadline, promotionDeadline) + budgets.undo;
  if (promotions.length > 0 && deadline - now > MACHINE_TIMEOUT_SECONDS - RETRY_ROOM_SECONDS)
    throw new BudgetExceedsTimeout(
      `after-deploy and the promotion may take ${deadline - now} s, and the machine's own time-out is ${MACHINE_TIMEOUT_SECONDS} s. Leave promoteCheckIds out, and adopt the checks afterwards.`,
    );
  const moved = await advance(request.runId, {
    from: 'go-ahead',
    to: 'after',
    owner,
    at: now,
    takesOver: true,
    deadline,
  });
  if (!moved) throw await whyNotResumed(request.runId);
  const suppressUntil = releaseDeadline + SUPPRESSION_MARGIN_SECONDS;
  return {
    extend: run.plan.suppressing > 0 && suppressUntil > run.plan.suppressUntil,
    suppressUntil,
    runId: run.runId,
    suppressing: run.plan.suppressing,
    draining: run.plan.draining,
    holding: run.plan.holdings.length,
    covered,
    // Then the load balancer decides when it gets traffic, and the checks when the deployment may go on.
    readyBeforeTraffic: run.request.policy.readyBeforeTraffic && budgets.ready > 0 && !covered,
    readyEvaluations: budgets.readyAgain > 0 ? run.request.policy.readyEvaluations : 0,
    deployedAt: Math.max(
      request.deployedAt ? Date.parse(request.deployedAt) : now * 1000,
      ...records.map(({ deployed }) => (deployed?.at ?? 0) * 1000),
    ),
    readyDeadline,
    inServiceDeadline,
    evidenceDeadline,
    releaseDeadline,
    releaseSeconds: run.plan.suppressing > 0 ? RELEASE_SECONDS : 0,
    promotes,
    promotions,
    promotionDeadline,
  };
}

function whenToPromote(promotions: readonly Promotion[], suppressed: boolean): Resumed['promotes'] {
  if (promotions.length === 0) return 'nothing';
  return suppressed ? 'before-release' : 'after-release';
}

/** Has every instance an included check, without which its suppression does not show (D13)? */
const isSeenSuppressed = (runId: string, claimed: readonly InstanceRecord[]): boolean =>
  claimed.every(({ claims }) => (claims.get(runId)?.member.includedChecks.length ?? 0) > 0);

// MEASURED: a release shows after 120-150 s; looking earlier is wasted.
const RELEASE_SECONDS = 120;

async function whyNotResumed(runId: string): Promise<Error> {
  const run = await findRun(runId);
  if (run?.status === 'live' && run.phase === 'before')
    return new NoGoAhead(`Run ${runId} has no go-ahead yet: before-deploy (${run.owner}) has not succeeded.`);
  if (run?.status === 'live') return new RunInProgress(`Run ${runId} is live in ${run.owner}. Wait for it.`);
  return new RunEnded(
    `Run ${runId} has ended${run?.outcome ? ` (${run.outcome})` : ''}: there is nothing to resume.`,
  );
}
