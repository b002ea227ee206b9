import {
  AUTO_SCALING_ACTS_SECONDS,
  AUTO_SCALING_LOOKS_SECONDS,
  BOOT_SECONDS,
  CHECK_INTERVAL_SECONDS,
  CHECKERS_APART_SECONDS,
  DESCRIBE_LAG_LEAST_SECONDS,
  DESCRIBE_LAG_SECONDS,
} from '../limits.ts';

/** How long something takes, in seconds: at best, on average over all phases, at worst. */
export interface Span {
  readonly best: number;
  readonly expected: number;
  readonly worst: number;
}

/** The health check of a target group. */
export interface TargetGroupTiming {
  readonly type: 'application' | 'network';
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** Load balancer nodes that check the target, each on a phase of its own. */
  readonly nodes: number;
}

/** An application status check. Its interval is AWS's. */
export interface CheckTiming {
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  /** From launch, in which it does not probe. */
  readonly graceSeconds: number;
}

/** What is checked, and how it fails. */
export interface ApplicationTiming {
  /** From boot until it answers. */
  readonly startUpSeconds: number;
  /** Does a broken application answer at once (an error, a refused connection), or not at all? */
  readonly failure: 'answers' | 'silent';
  /** How long after the failure, or the recovery, the probe goes out that counts first; anywhere in the interval unless known. */
  readonly phaseSeconds?: number;
}

/** How a failure is found and what follows from it, counted from the failure. */
export interface DetectionTiming {
  /** `unhealthy`, or `impaired`. */
  readonly failed: Span;
  /** As a Describe call shows it. */
  readonly failedShown: Span;
  /** When Auto Scaling begins to terminate the instance. */
  readonly terminated: Span;
  /** When its replacement is `healthy`, or `ok`. */
  readonly replaced: Span;
  /** `healthy`, or `passed`, again: counted from when the application answers again. */
  readonly recovered: Span;
  readonly recoveredShown: Span;
}

/** A target is unhealthy when every node says so, and healthy when the first one does. Auto Scaling counts it if ELB is among its health check types. */
export function timeTargetGroup(group: TargetGroupTiming, application: ApplicationTiming): DetectionTiming {
  const { intervalSeconds, healthyThreshold, unhealthyThreshold, nodes } = group;
  const more = (threshold: number) => exactly((threshold - 1) * intervalSeconds);
  const failed = sum(
    untilProbe(intervalSeconds, nodes / (nodes + 1), application),
    more(unhealthyThreshold),
    untilAnswer(group, application),
  );
  const firstProbe = untilProbe(intervalSeconds, 1 / (nodes + 1), application);
  const recovered = sum(firstProbe, more(healthyThreshold));
  const terminated = sum(failed, between(0, AUTO_SCALING_LOOKS_SECONDS));
  const replaced = sum(
    terminated,
    between(...BOOT_SECONDS),
    exactly(application.startUpSeconds),
    untilProbe(intervalSeconds, 1 / (nodes + 1), {}),
    successesOfNewTarget(group, application),
  );
  return { failed, failedShown: failed, terminated, replaced, recovered, recoveredShown: recovered };
}

/** Both checkers have to fail, one of them has to succeed. */
export function timeCheck(check: CheckTiming, application: ApplicationTiming): DetectionTiming {
  const { failureThreshold, successThreshold, graceSeconds } = check;
  const more = (threshold: number) => exactly((threshold - 1) * CHECK_INTERVAL_SECONDS);
  const firstProbe = untilProbe(CHECK_INTERVAL_SECONDS, 1 / 2, application);
  const failed = sum(
    firstProbe,
    more(failureThreshold),
    exactly(CHECKERS_APART_SECONDS),
    untilAnswer(check, application),
  );
  const recovered = sum(firstProbe, more(successThreshold));
  const terminated = sum(failed, exactly(AUTO_SCALING_ACTS_SECONDS));
  const replaced = sum(
    terminated,
    later(sum(between(...BOOT_SECONDS), exactly(application.startUpSeconds)), exactly(graceSeconds)),
    untilProbe(CHECK_INTERVAL_SECONDS, 1 / 2, {}),
    more(successThreshold),
    exactly(CHECKERS_APART_SECONDS),
  );
  const shown = between(DESCRIBE_LAG_LEAST_SECONDS, DESCRIBE_LAG_SECONDS);
  return {
    failed,
    failedShown: sum(failed, shown),
    terminated,
    replaced,
    recovered,
    recoveredShown: sum(recovered, shown),
  };
}

/** The first success ends `initial` at an Application Load Balancer, unless the start-up was long enough for `unhealthy`. */
function successesOfNewTarget(
  { type, intervalSeconds, timeoutSeconds, healthyThreshold, unhealthyThreshold }: TargetGroupTiming,
  { startUpSeconds }: ApplicationTiming,
): Span {
  const all = (healthyThreshold - 1) * intervalSeconds;
  const surelyUnhealthy = startUpSeconds >= unhealthyThreshold * intervalSeconds + timeoutSeconds;
  if (type === 'network' || surelyUnhealthy) return exactly(all);
  return startUpSeconds <= (unhealthyThreshold - 1) * intervalSeconds ? exactly(0) : between(0, all);
}

/** @param share which part of the interval passes on average: of the last of several nodes it is more, of the first less */
function untilProbe(
  intervalSeconds: number,
  share: number,
  { phaseSeconds }: Pick<ApplicationTiming, 'phaseSeconds'>,
): Span {
  if (phaseSeconds !== undefined) return exactly(phaseSeconds);
  return { best: 0, expected: intervalSeconds * share, worst: intervalSeconds };
}

const untilAnswer = (
  { timeoutSeconds }: { readonly timeoutSeconds: number },
  { failure }: ApplicationTiming,
): Span => exactly(failure === 'silent' ? timeoutSeconds : 0);

const exactly = (seconds: number): Span => ({ best: seconds, expected: seconds, worst: seconds });

const between = (least: number, most: number): Span => ({
  best: least,
  expected: (least + most) / 2,
  worst: most,
});

const sum = (...spans: readonly Span[]): Span => ({
  best: total(spans.map(({ best }) => best)),
  expected: total(spans.map(({ expected }) => expected)),
  worst: total(spans.map(({ worst }) => worst)),
});

const later = (one: Span, other: Span): Span => ({
  best: Math.max(one.best, other.best),
  expected: Math.max(one.expected, other.expected),
  worst: Math.max(one.worst, other.worst),
});

const total = (seconds: readonly number[]): number => seconds.reduce((all, one) => all + one, 0);
