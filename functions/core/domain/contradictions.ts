import type { CheckTiming, TargetGroupTiming } from './timing.ts';

/** Where a health check asks, and what it takes for a success. */
export interface Endpoint {
  /** How a person knows it: a target group's name, a check's id. */
  readonly name: string;
  /** Undefined for a check of the connection alone. */
  readonly path: string | undefined;
  /** Codes and ranges, such as `200,300-399`. */
  readonly matcher: string | undefined;
}

export type CheckedGroup = Endpoint &
  Pick<TargetGroupTiming, 'intervalSeconds' | 'timeoutSeconds' | 'healthyThreshold'> & {
    readonly deregistrationDelaySeconds?: number;
  };

export type CheckedApplication = Endpoint & Pick<CheckTiming, 'graceSeconds'>;

/** What is known of the application itself; what is not known contradicts nothing. */
export interface ApplicationFacts {
  readonly startUpSeconds?: number;
  readonly longestRequestSeconds?: number;
  /** How long the application itself waits, after a recovery, before it says that it is well. */
  readonly recoverySeconds?: number;
  /** HealthCheckGracePeriod of the Auto Scaling group. */
  readonly groupGraceSeconds?: number;
  /** Metrics by which the group is scaled. */
  readonly scalesOn?: readonly string[];
}

export interface HealthSetup {
  readonly groups: readonly CheckedGroup[];
  readonly checks: readonly CheckedApplication[];
  readonly application: ApplicationFacts;
}

/** Settings that cannot both be meant, each as a sentence that says what follows from them. */
export function contradictionsOf({ groups, checks, application }: HealthSetup): string[] {
  return [
    ...groups.flatMap(group => ofGroup(group, application)),
    ...checks.flatMap(check => ofCheck(check, application)),
    ...groups.flatMap(group => checks.flatMap(check => ofBoth(group, check))),
    ...ofScaling(application),
  ];
}

function ofGroup(group: CheckedGroup, application: ApplicationFacts): string[] {
  const { name, intervalSeconds, timeoutSeconds, healthyThreshold, deregistrationDelaySeconds } = group;
  const {
    longestRequestSeconds = 0,
    recoverySeconds = 0,
    startUpSeconds = 0,
    groupGraceSeconds,
  } = application;
  return [
    ...when(
      timeoutSeconds >= intervalSeconds,
      `${name}: the time-out (${timeoutSeconds} s) is not shorter than the interval (${intervalSeconds} s), so a probe is still waiting when the next one goes out.`,
    ),
    ...redirects(group),
    ...when(
      deregistrationDelaySeconds !== undefined && deregistrationDelaySeconds < longestRequestSeconds,
      `${name}: the deregistration delay (${deregistrationDelaySeconds} s) is shorter than the longest request (${longestRequestSeconds} s), which is cut when its target leaves.`,
    ),
    ...when(
      recoverySeconds > 0,
      `${name}: recovery is delayed twice, by the application (${recoverySeconds} s) and by the healthy threshold (${healthyThreshold} x ${intervalSeconds} s). Let one of them do it.`,
    ),
    ...when(
      groupGraceSeconds !== undefined && groupGraceSeconds < startUpSeconds,
      `The grace period of the Auto Scaling group (${groupGraceSeconds} s) is shorter than the start-up (${startUpSeconds} s): with ELB health checks an instance is replaced before it is up, again and again.`,
    ),
  ];
}

function ofCheck(check: CheckedApplication, { startUpSeconds = 0 }: ApplicationFacts): string[] {
  const { name, graceSeconds } = check;
  return [
    ...redirects(check),
    ...when(
      graceSeconds < startUpSeconds,
      `${name}: the initialization grace period (${graceSeconds} s) is shorter than the start-up (${startUpSeconds} s), so an instance can be impaired, and replaced, before it is up.`,
    ),
  ];
}

/** Readiness depends on others; an instance that is replaced because a database is down is replaced for nothing. */
function ofBoth(group: CheckedGroup, check: CheckedApplication): string[] {
  return when(
    group.path !== undefined && group.path === check.path,
    `${group.name} and ${check.name} ask the same path ${group.path}: what should only keep traffic away (readiness) also gets the instance replaced (liveness).`,
  );
}

const HEALTH_COUNTS = /^(Un)?HealthyHostCount$|^StatusCheckFailed/;

function ofScaling({ scalesOn = [] }: ApplicationFacts): string[] {
  return scalesOn
    .filter(metric => HEALTH_COUNTS.test(metric))
    .map(
      metric =>
        `${metric} counts health and is no measure of demand: in a failure that all instances share it scales out what is just as broken. Scale on requests, concurrency or CPU.`,
    );
}

function redirects({ name, matcher = '' }: Endpoint): string[] {
  const accepts = matcher.split(',').some(part => {
    const [, low = '', high = low] = /^\s*(\d{3})(?:-(\d{3}))?\s*$/.exec(part) ?? [];
    return low !== '' && Number(low) <= 399 && Number(high) >= 300;
  });
  return when(
    accepts,
    `${name}: the matcher ${matcher} accepts redirects, which are not followed: a redirect to a login or an error page passes for health.`,
  );
}

const when = (holds: boolean, sentence: string): string[] => (holds ? [sentence] : []);
