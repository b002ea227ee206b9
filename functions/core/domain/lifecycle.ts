/** Auto Scaling lifecycle states in which the bracket has nothing to do, with the reason a person reads. */
const standing: Readonly<Record<string, string>> = {
  Pending: 'is being launched',
  'Pending:Wait': 'is being launched',
  'Pending:Proceed': 'is being launched',
  Standby: 'is in Standby, where no health check acts',
  EnteringStandby: 'is entering Standby',
  Detaching: 'is being detached',
  Detached: 'is detached',
  Quarantined: 'is quarantined',
  RootVolumeReplaced: 'has just had its root volume replaced',
  Terminating: 'is being terminated',
  'Terminating:Wait': 'is being terminated',
  'Terminating:Proceed': 'is being terminated',
  'Terminating:Retained': 'was retained after its termination hook',
  Terminated: 'is terminated',
};

/** Why an instance in this Auto Scaling lifecycle state is left alone; undefined when it is InService. (R-LIFECYCLE, D30) */
export function whyNotInService(lifecycleState: string): string | undefined {
  if (lifecycleState === 'InService') return undefined;
  if (lifecycleState.startsWith('Warmed:')) return 'waits in the warm pool';
  if (lifecycleState.startsWith('ReplacingRootVolume')) return 'is having its root volume replaced';
  return standing[lifecycleState] ?? `is in the unknown lifecycle state ${lifecycleState}`;
}

const LEAVING = new Set(['Terminating', 'Terminating:Wait', 'Terminating:Proceed', 'Terminated']);

/** Is the group ending the instance? One that is retained after its termination hook stays (R-GONE). */
export const isLeaving = (lifecycleState: string): boolean => LEAVING.has(lifecycleState);
