/** The vocabulary of the log: one line a transition, each with one of these as `event`. Saved queries refer to them. */
export const logEvents = {
  runPlanned: 'run.planned',
  runQueued: 'run.queued',
  runResumed: 'run.resumed',
  suppressionEnabled: 'suppression.enabled',
  targetsDeregistered: 'targets.deregistered',
  targetsRegistered: 'targets.registered',
  goalObserved: 'goal.observed',
  observationPending: 'observation.pending',
  handedOver: 'run.handed-over',
  released: 'run.released',
  goAheadGiven: 'run.go-ahead',
  runSucceeded: 'run.succeeded',
  runFenced: 'run.fenced',
  runUndoing: 'run.undoing',
  runUndone: 'run.undone',
  runTold: 'run.told',
  runsUnended: 'runs.unended',
  ledgerSwept: 'ledger.swept',
  hookAnswered: 'hook.answered',
  hookOpened: 'hook.opened',
  hookClosed: 'hook.closed',
  hookRefused: 'hook.refused',
  stepRefused: 'step.refused',
  stepFailed: 'step.failed',
} as const;

export type LogEvent = (typeof logEvents)[keyof typeof logEvents];
