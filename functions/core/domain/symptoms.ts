import { isUnhealthy } from './floors.ts';
import type { NodeOpinion, ObservedCheck, ObservedInstance, ObservedTarget } from './observed-fleet.ts';

/** What is wrong with a target group: what all its requests meet. */
export const GROUP_SYMPTOMS = [
  'no-target',
  'failing-open',
  'errors-while-draining',
  'shallow-check',
] as const;

/** What is wrong on an instance, the gravest first. */
export const INSTANCE_SYMPTOMS = [
  'draining-with-errors',
  'blocked',
  'unreachable',
  'not-listening',
  'resets',
  'slow',
  'hangs',
  'times-out',
  'wrong-answer',
  'unexplained',
  'load-balancer-only',
  'unhealthy-target',
] as const;

export type InstanceSymptom = (typeof INSTANCE_SYMPTOMS)[number];
export type Symptom = (typeof GROUP_SYMPTOMS)[number] | InstanceSymptom;

/** One thing that is wrong on one instance, with the check or the target that shows it. */
export interface Complaint {
  readonly symptom: InstanceSymptom;
  readonly instance: ObservedInstance;
  readonly check?: ObservedCheck;
  readonly target?: ObservedTarget;
}

/** Targets in these states get requests, or are about to. */
const IN_TRAFFIC: ReadonlySet<string> = new Set([
  'initial',
  'healthy',
  'unhealthy',
  'unhealthy.draining',
  'draining',
]);

export const isDraining = ({ state }: ObservedTarget): boolean => state === 'draining';

const isServing = (target: ObservedTarget): boolean => target.state === 'healthy' || isUnhealthy(target);

/**
 * Why nothing that an instance shows is held against it; undefined when it has to serve. A suppressed instance that gets no
 * requests is being worked on: that its application does not answer is what a deployment looks like.
 */
export function excuseOf({ notInService, suppressed, targets }: ObservedInstance): string | undefined {
  if (notInService !== undefined) return notInService;
  const idle = !targets.some(({ state }) => IN_TRAFFIC.has(state));
  return suppressed && idle ? 'is suppressed and out of traffic, as in a deployment' : undefined;
}

/** Has a check, or a load balancer, an opinion on the instance? Only those with one count among how many are well. */
export const isJudged = ({ checks, targets }: ObservedInstance): boolean =>
  checks.some(({ status }) => status === 'passed' || status === 'failed') || targets.some(isServing);

/** Everything that is wrong on an instance that has to serve. */
export function complaintsOf(instance: ObservedInstance): readonly Complaint[] {
  const failed = instance.checks.filter(({ status }) => status === 'failed');
  if (instance.targets.some(isDraining) && !instance.targets.some(isServing))
    return failed.map(check => ({ symptom: 'draining-with-errors', instance, check }));
  if (failed.length > 0) return failed.map(check => ({ symptom: symptomOf(check), instance, check }));
  const passes = instance.checks.some(({ status }) => status === 'passed');
  return instance.targets
    .filter(isUnhealthy)
    .map(target => ({ symptom: passes ? 'load-balancer-only' : symptomOfTarget(target), instance, target }));
}

/** Has a check not been let in at all? By the Code of today, or the error type of a legacy result. */
export const isConnectionTimeout = (code: string | undefined): boolean =>
  code === 'ConnectionTimeout' || code === 'HttpConnectTimeoutException';

/** By the reason's Code alone: on connection errors the status code is documented as absent and measured as 0. */
function symptomOf({ code, passedSinceChange }: ObservedCheck): InstanceSymptom {
  // A security group drops packets silently, and does so from the start.
  if (isConnectionTimeout(code)) return passedSinceChange === 'no' ? 'blocked' : 'unreachable';
  switch (code) {
    case 'ConnectionRefused':
      return 'not-listening';
    case 'ConnectionReset':
      return 'resets';
    case 'ResponseTimeout':
      return 'slow';
    case 'ResponseCodeMismatch':
    case 'Http Status Code':
      return 'wrong-answer';
    default:
      return 'unexplained';
  }
}

type Failing = NonNullable<NodeOpinion['failing']>;

/** The nodes that see a target fail, with what they see. */
export const failingAt = ({ logged }: ObservedTarget): readonly (Failing & { readonly node: string })[] =>
  logged?.nodes.flatMap(({ node, failing }) => (failing ? [{ node, ...failing }] : [])) ?? [];

/** An unhealthy target's symptom by the nodes' logs. */
function symptomOfTarget(target: ObservedTarget): InstanceSymptom {
  const failing = failingAt(target);
  const [reason, ...others] = new Set(failing.map(one => one.reason));
  if (!target.logged || others.length > 0) return 'unhealthy-target';
  switch (reason) {
    case 'TimedOut':
      return symptomOfTimeOuts(failing, target.logged.timeoutSeconds);
    case 'ConnectionReset':
      return 'resets';
    case undefined:
    case 'InternalError':
    case 'other':
      return 'unhealthy-target';
    default:
      return 'wrong-answer';
  }
}

/** A check that takes half of what it may comes near its time-out. */
export const NEAR_TIMEOUT = 0.5;

/** A time-out is one of connecting or of answering: the logs do not say which. */
function symptomOfTimeOuts(failing: readonly Failing[], timeoutSeconds: number): InstanceSymptom {
  const passes = failing.flatMap(({ passSeconds }) => passSeconds ?? []);
  if (passes.length === 0) return 'times-out';
  return Math.max(...passes) < NEAR_TIMEOUT * timeoutSeconds ? 'hangs' : 'slow';
}
