/** What of a run's record the sweep decides by. Times are seconds since the epoch. */
export interface SweptRun {
  readonly runId: string;
  readonly status: 'live' | 'ended';
  readonly phase: 'before' | 'go-ahead' | 'after' | 'done';
  /** The execution that acts for it, or undoes it. */
  readonly owner: string;
  readonly deadline: number;
  readonly goAheadAt?: number;
  readonly endedAt?: number;
  readonly outcome?: 'succeeded' | 'failed';
  readonly error?: string;
  readonly cause?: string;
  /** Until then what a failed run keeps held is left alone (D38). */
  readonly heldUntil?: number;
  readonly plan: {
    readonly suppressUntil: number;
    readonly budgets: { readonly deployment: number; readonly undo: number };
  };
  readonly request: { readonly observer?: string | undefined };
}

/** How an execution, or a deployment, has ended, and when. What still runs, or cannot be read, has none of these. */
export interface End {
  readonly status: string;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly error?: string;
  readonly cause?: string;
}

/** What is known of the world outside the ledger. */
export interface SweepFacts {
  readonly now: number;
  readonly executions: ReadonlyMap<string, End>;
  readonly deployments: ReadonlyMap<string, End>;
  /** By run: how its after-deploy ended, of runs that are between go-ahead and after-deploy. */
  readonly resumptions: ReadonlyMap<string, End>;
  /** Instances that failed runs kept for somebody to look at, and that are terminated. */
  readonly gone: ReadonlySet<string>;
}

/** What a run has in the ledger beside its record. */
export interface LeftBehind {
  readonly instances: readonly string[];
  /** Those among them that a failed run keeps for somebody to look at (D38). */
  readonly keptHeld: readonly string[];
  readonly targetGroups: readonly string[];
  readonly autoScalingGroups: readonly string[];
}

/** Why a run is not what its record says. */
export type FindingKind =
  | 'cut-off'
  | 'overdue'
  | 'deployment-ended'
  | 'undo-unfinished'
  | 'left-by-success'
  | 'record-lost';

/** A run that nobody looks after any more. */
export interface Finding {
  readonly kind: FindingKind;
  readonly runId: string;
  /** When it came to be so, in seconds since the epoch. */
  readonly since: number;
  /** What its undo is told: the run's own first error where it has one (R-FAIL). */
  readonly error: string;
  readonly cause: string;
  /** What is left of it. Of a live run its undo finds that. */
  readonly left: LeftBehind;
  /** The execution that owned the run when this was found; empty where no undo is to be started. */
  readonly owner: string;
  /**
   * Tells one undo of the run from another: the same within a while, so that a repeated sweep joins what it has started;
   * another one after it, so that an undo that came to nothing is not the last.
   */
  readonly attempt: string;
}

/** How much later than its time a phase may end: each step of its loops may have been retried for minutes. Ours. */
const OVERDUE_SECONDS = 600;

/** Seconds between two sweeps: the rate of SweepSchedule in template.yaml. A test holds the two together. */
export const SWEEP_SECONDS = 300;

/** The runs, from another one on with each sweep: where only so many are looked at in one, each comes to its turn. */
export function inTurn<T>(runs: readonly T[], now: number, perSweep: number): T[] {
  const from = runs.length > 0 ? (Math.floor(now / SWEEP_SECONDS) * perSweep) % runs.length : 0;
  return [...runs.slice(from), ...runs.slice(0, from)];
}

/** The longest time between two undos of a run that cannot be undone. Ours: a permission that is given back heals within it. */
const LONGEST_PAUSE_SECONDS = 3600;

/** The CodeDeploy deployment whose hooks began a run; one to ECS or Lambda has one run, of its own name (D25). */
export function deploymentOf({ runId, request }: Pick<SweptRun, 'runId' | 'request'>): string | undefined {
  return request.observer ?? (/^d-[0-9A-Z]+$/.test(runId) ? runId : undefined);
}

/**
 * From then on a live run is overdue, whatever still acts for it. Between go-ahead and after-deploy that is not when the
 * deployment should be over, since a slow one must not be put into traffic half done, but when its instances would soon be
 * protected no more: an undo still fits into their suppression.
 */
export const overdueAt = ({ phase, goAheadAt, deadline, plan }: SweptRun): number =>
  phase === 'go-ahead' && goAheadAt !== undefined
    ? Math.max(goAheadAt + plan.budgets.deployment + OVERDUE_SECONDS, plan.suppressUntil - plan.budgets.undo)
    : deadline + OVERDUE_SECONDS;

/** What a live run has died of; undefined when somebody looks after it. */
export function judgeLive(run: SweptRun, facts: SweepFacts): Finding | undefined {
  const { runId, owner } = run;
  const found = (kind: FindingKind, since: number, error: string, cause: string): Finding => {
    const period = Math.max(0, Math.floor((facts.now - since) / SWEEP_SECONDS));
    const attempt = period === 0 ? owner : `${owner} ${period}`;
    return { kind, runId, since, error, cause, left: NOTHING, owner, attempt };
  };
  const cutOff = (what: string, { status, at, error, cause }: End) =>
    found('cut-off', at, error || status, cause || `${what} ended as ${status} before the run did.`);
  const execution = facts.executions.get(owner);
  if (execution && CUT_OFF.has(execution.status)) return cutOff(owner, execution);
  const resumption = facts.resumptions.get(runId);
  if (resumption && hasMissed(run, resumption)) return cutOff(`after-deploy of run ${runId}`, resumption);
  const deploymentId = deploymentOf(run);
  const deployment = deploymentId === undefined ? undefined : facts.deployments.get(deploymentId);
  // While after-deploy runs, the bracket is just being closed.
  if (deployment && run.phase !== 'after') {
    const cause = `CodeDeploy deployment ${deploymentId} ended with ${deployment.status} before after-deploy had closed the bracket.`;
    return found('deployment-ended', deployment.at, 'DeploymentEnded', cause);
  }
  const due = overdueAt(run);
  if (facts.now <= due) return undefined;
  const what =
    run.phase === 'go-ahead' ? 'after-deploy was not started' : `its phase ${run.phase} did not end`;
  return found('overdue', due, 'RunOverdue', `${what} by ${instant(due)}.`);
}

/**
 * Did after-deploy end before it could take the run over? Then nothing else comes to close the bracket. One that was refused
 * may be called again.
 */
export const hasMissed = (
  { phase, goAheadAt }: Pick<SweptRun, 'phase' | 'goAheadAt'>,
  { status, at, error = '' }: End,
): boolean =>
  phase === 'go-ahead' &&
  at >= (goAheadAt ?? at) &&
  (status === 'ABORTED' || status === 'TIMED_OUT' || (status === 'FAILED' && !REFUSALS.has(error)));

/** What after-deploy may refuse while its run waits for it: its own request and what that promotes, or that it comes too early or twice. */
const REFUSALS = new Set([
  'InvalidRequest',
  'CheckUnknown',
  'CheckInUse',
  'BudgetExceedsTimeout',
  'NoGoAhead',
  'RunInProgress',
]);

const CUT_OFF = new Set(['FAILED', 'TIMED_OUT', 'ABORTED']);
const NOTHING: LeftBehind = { instances: [], keptHeld: [], targetGroups: [], autoScalingGroups: [] };
const instant = (seconds: number): string => new Date(seconds * 1000).toISOString();

/**
 * What is to be done about a run that has ended and left something behind; undefined while its undo goes on.
 *
 * @param run undefined when the ledger has no record of it
 */
export function judgeEnded(
  runId: string,
  run: SweptRun | undefined,
  left: LeftBehind,
  facts: SweepFacts,
): Finding | undefined {
  if (!run) {
    const cause = `The ledger has no record of run ${runId}, and it still claims ${listOf(left)}.`;
    const lost = { error: 'RunLost', cause, since: facts.now, owner: '', attempt: '' };
    return { kind: 'record-lost', runId, left, ...lost };
  }
  const { owner, outcome, endedAt = facts.now, heldUntil = 0, error = 'RunFailed', cause = '' } = run;
  const holds = left.keptHeld.length > 0 && left.keptHeld.length === left.instances.length;
  // Nobody looks at what was terminated, and its group is held in vain (R-GONE).
  const inVain = left.keptHeld.some(id => facts.gone.has(id));
  const since = holds && !inVain ? Math.max(endedAt, heldUntil) : endedAt;
  if (outcome === 'succeeded')
    return { kind: 'left-by-success', runId, since, error: '', cause: '', left, owner: '', attempt: '' };
  if (!facts.executions.has(owner) || facts.now < since) return undefined;
  const pause = pauseAt(facts.now - since);
  const attempt = pause === 0 ? owner : `again ${pause}`;
  return { kind: 'undo-unfinished', runId, since, error, cause, left, owner, attempt };
}

/**
 * The pause that a run is in so long after its end, counted from 0: each is twice as long as the one before, up to an hour.
 * One undo is started in each, for ever, and nothing but the record's own time tells which it is.
 */
export function pauseAt(seconds: number): number {
  const growing = Math.log2(LONGEST_PAUSE_SECONDS / SWEEP_SECONDS);
  const steps = Math.ceil(growing);
  const grown = SWEEP_SECONDS * (2 ** steps - 1);
  if (seconds < grown) return Math.max(0, Math.floor(Math.log2(seconds / SWEEP_SECONDS + 1)));
  return steps + Math.floor((seconds - grown) / LONGEST_PAUSE_SECONDS);
}

const listOf = ({ instances, targetGroups, autoScalingGroups }: LeftBehind): string =>
  [...instances, ...targetGroups, ...autoScalingGroups].slice(0, 5).join(', ');

/** What the ledger holds beside the runs' records. */
export interface Held {
  readonly instances: Iterable<{
    readonly instanceId: string;
    readonly claims: ReadonlyMap<string, { readonly fate?: { readonly how: string } }>;
    readonly traffic?: string;
  }>;
  readonly outByGroup: ReadonlyMap<string, Iterable<string>>;
  readonly holds: Iterable<{ readonly group: string; readonly runs: readonly string[] }>;
}

/** All that is held, by the run that holds it. */
export function heldByRun({ instances, outByGroup, holds }: Held): ReadonlyMap<string, LeftBehind> {
  const held = new Map<string, { [K in keyof LeftBehind]: string[] }>();
  const of = (runId: string) => {
    const known = held.get(runId) ?? { instances: [], keptHeld: [], targetGroups: [], autoScalingGroups: [] };
    held.set(runId, known);
    return known;
  };
  for (const { instanceId, claims, traffic } of instances)
    for (const runId of new Set([...claims.keys(), ...(traffic === undefined ? [] : [traffic])])) {
      of(runId).instances.push(instanceId);
      if (claims.get(runId)?.fate?.how === 'held') of(runId).keptHeld.push(instanceId);
    }
  for (const [arn, runs] of outByGroup) for (const runId of runs) of(runId).targetGroups.push(arn);
  for (const { group, runs } of holds) for (const runId of runs) of(runId).autoScalingGroups.push(group);
  return held;
}
