/** A state reports an error: an Error Name and a human-readable Cause, as in the specification's Error Output. */
export class StateFailure extends Error {
  /** Empty when a Fail state names none. */
  readonly error: string;
  override readonly cause: string;

  constructor(error: string, cause: string) {
    super(`${error}: ${cause}`);
    this.name = 'StateFailure';
    this.error = error;
    this.cause = cause;
  }
}

/** What a task's work rejects with: for Lambda, the error's type and its JSON. */
export class TaskFailure extends StateFailure {
  override readonly name = 'TaskFailure';
}

/** A JSONata expression threw, returned nothing, or returned what the field does not accept. */
export class QueryEvaluationFailure extends StateFailure {
  override readonly name = 'QueryEvaluationFailure';
  /** The field that was evaluated. */
  readonly location: string;

  constructor(location: string, cause: string) {
    super('States.QueryEvaluationError', cause);
    this.location = location;
  }
}

/** The definition is not one that can run here, with everything that is wrong with it. */
export class DefinitionRefused extends Error {
  override readonly name = 'DefinitionRefused';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the state machine is refused:\n${problems.map(problem => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** The Error Names that begin with `States.`: the specification's appendix A, and those that AWS's guide adds. */
export const predefinedErrors: ReadonlySet<string> = new Set([
  'States.ALL',
  'States.BranchFailed',
  'States.DataLimitExceeded',
  'States.ExceedToleratedFailureThreshold',
  'States.HeartbeatTimeout',
  'States.ItemReaderFailed',
  'States.NoChoiceMatched',
  'States.Permissions',
  'States.QueryEvaluationError',
  'States.ResultWriterFailed',
  'States.Runtime',
  'States.TaskFailed',
  'States.Timeout',
]);

/** States.Runtime always fails the execution; States.DataLimitExceeded is caught only by its own name (AWS's guide). */
export const isTerminal = (error: string): boolean =>
  error === 'States.Runtime' || error === 'States.DataLimitExceeded';

const isTimeout = (error: string): boolean =>
  error === 'States.Timeout' || error === 'States.HeartbeatTimeout';

/** Does a Retrier's or Catcher's ErrorEquals match this Error Name? */
export function matches(errorEquals: readonly string[], error: string): boolean {
  if (error === 'States.Runtime') return false;
  return errorEquals.some(name => {
    if (name === error) return true;
    if (name === 'States.ALL') return !isTerminal(error);
    if (name === 'States.TaskFailed') return !isTerminal(error) && !isTimeout(error);
    return name === 'States.Timeout' && isTimeout(error);
  });
}
