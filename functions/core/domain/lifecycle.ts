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

/** Has EC2 ended an instance in this state? One that EC2 does not know any more was terminated long ago. (R-GONE) */
export const hasEnded = (state = 'terminated'): boolean =>
  state === 'terminated' || state === 'shutting-down';

const ASIDE = new Set([
  'Terminating',
  'Terminating:Wait',
  'Terminating:Proceed',
  'Terminated',
  'Terminating:Retained',
  'EnteringStandby',
  'Standby',
]);

/**
 * Is it not to serve any more, whatever it did when a run began: on its way out, retained, in the warm pool, or put in Standby?
 * (R-GONE, R-LIFECYCLE)
 */
export const isSetAside = (lifecycleState: string): boolean =>
  ASIDE.has(lifecycleState) || lifecycleState.startsWith('Warmed:');
