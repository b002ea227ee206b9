export type AutoScalingPolicy = 'auto' | 'hold' | 'standby' | 'none';

/** Suspended together or not at all: with only one of them, marks accumulate and are acted on at resume (D4). */
export const HEALTH_PROCESSES = ['HealthCheck', 'ReplaceUnhealthy'] as const;

/** What the run does about the group's own health verdicts. */
export function chooseHolding(
  policy: AutoScalingPolicy,
  healthCheckTypes: readonly string[],
): Exclude<AutoScalingPolicy, 'auto'> {
  if (policy !== 'auto') return policy;
  return healthCheckTypes.some(type => type === 'ELB' || type === 'VPC_LATTICE') ? 'hold' : 'none';
}

/** The processes to suspend: only those that nobody has suspended yet, so that only those are resumed (R-PROCESS, D39). */
export function processesToSuspend(
  wanted: readonly string[],
  alreadySuspended: readonly string[],
): readonly string[] {
  return wanted.filter(process => !alreadySuspended.includes(process));
}
