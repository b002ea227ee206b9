import { PROOF_SECONDS } from './after-failure.ts';

/** Everything a budget is computed from, in seconds. */
export interface BudgetFacts {
  readonly leadSeconds: number;
  readonly suppressing: boolean;
  /** Greatest deregistration delay of the groups concerned; undefined when nothing is drained. */
  readonly drainDelaySeconds: number | undefined;
  /** Are health processes of an Auto Scaling group held? */
  readonly holding: boolean;
  /** How long a floor that does not permit may be waited for. */
  readonly floorWaitSeconds: number;
  /** Does a run over the whole fleet cover this one? Then instances that it deployed to before are waited for. */
  readonly covered: boolean;
  readonly deploymentSeconds: number;
  readonly readySeconds: number;
  readonly readyBeforeTraffic: boolean;
  readonly readyEvaluations: number;
  readonly checked: boolean;
  readonly checkIntervalSeconds: number;
  /** May instances stay out after a failure, so that their readiness has to be known first (D38)? */
  readonly provesAfterFailure: boolean;
  /** Slowest health check among the groups: interval x healthy threshold + time-out; undefined when no target is waited for. */
  readonly inServiceSeconds: number | undefined;
}

/** What each phase may take, in seconds. Shown in the plan, enforced inside the loops (D15). */
export interface Budgets {
  readonly lead: number;
  readonly traffic: number;
  readonly before: number;
  readonly deployment: number;
  readonly ready: number;
  readonly inService: number;
  readonly readyAgain: number;
  readonly release: number;
  readonly after: number;
  readonly undo: number;
  /** From the first suppression to the end of after-deploy: what the suppression has to cover. */
  readonly whole: number;
}

// SEED 3.4: 192 s measured. Twice the measurement is slow, three times is broken.
const SPREAD_BUDGET = 600;
// R-BUDGET: the field adds 30 s to the delay; a joint look and two polls come on top.
const DRAIN_SLACK = 60;
const JOINT = 60;
// SEED 3.4: 120-150 s measured.
const RELEASE_BUDGET = 450;
/** SEED 5.1: describe lags up to 60 s. */
export const DESCRIBE_LAG = 60;
// The longest act is 60 s (D5).
const FENCE_WAIT = 65;

export function computeBudgets(facts: BudgetFacts): Budgets {
  const lead = facts.suppressing ? Math.max(SPREAD_BUDGET, facts.leadSeconds + SPREAD_BUDGET / 2) : 0;
  const traffic =
    facts.drainDelaySeconds === undefined && !facts.holding
      ? 0
      : facts.floorWaitSeconds + (facts.drainDelaySeconds ?? 0) + DRAIN_SLACK;
  const earlier = facts.covered && facts.checked ? facts.readySeconds : 0;
  const before = Math.max(lead, traffic, earlier) + JOINT;
  const ready = facts.checked && facts.readyBeforeTraffic ? facts.readySeconds : 0;
  const inService =
    facts.inServiceSeconds === undefined
      ? 0
      : Math.max(facts.readySeconds, 3 * facts.inServiceSeconds + DRAIN_SLACK);
  const readyAgain = facts.checked
    ? (facts.readyEvaluations + 2) * facts.checkIntervalSeconds + DESCRIBE_LAG + facts.readySeconds
    : 0;
  const release = facts.suppressing ? RELEASE_BUDGET : 60;
  const after = ready + inService + readyAgain + release;
  return {
    lead,
    traffic,
    before,
    deployment: facts.deploymentSeconds,
    ready,
    inService,
    readyAgain,
    release,
    after,
    // One after the other: an ip target is registered again only after its delay (D44), a hold is given up only when the
    // targets are healthy, and the suppression only after the hold.
    undo:
      FENCE_WAIT +
      (facts.provesAfterFailure ? PROOF_SECONDS : 0) +
      (facts.drainDelaySeconds ?? 0) +
      inService +
      release +
      JOINT,
    whole: before + facts.deploymentSeconds + after,
  };
}
