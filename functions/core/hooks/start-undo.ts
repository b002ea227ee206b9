import { executionArn, startExecution } from '../aws/step-functions.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';

/** An undo of a run that its execution cannot undo any more. */
export interface Undoing {
  readonly runId: string;
  /** What the run ends with, unless it has failed already: then it keeps its own (R-FAIL). */
  readonly error: string;
  readonly cause: string;
  /** The execution that owns the run now, and loses it. */
  readonly from: string;
  /** Tells one undo of the run from another; the execution that it is taken from unless given. */
  readonly attempt?: string;
  /** Also what the run's policy keeps held for somebody to look at is given back (D38). */
  readonly giveBack?: boolean;
}

/** Starts undo-run. A repeated start of the same attempt is no second one. */
export const startUndo = ({
  runId,
  error,
  cause,
  from,
  attempt = from,
  giveBack,
}: Undoing): Promise<'started' | 'exists'> =>
  startExecution(setting('UNDO_RUN_ARN'), executionName('undo', runId, attempt), {
    runId,
    error,
    cause,
    from,
    ...(giveBack && { giveBack }),
  });

/** Is the run in an undo already? One that has died is the sweep's to repeat. */
export const isBeingUndone = (run: { readonly owner: string }): boolean =>
  run.owner.startsWith(executionArn(setting('UNDO_RUN_ARN'), ''));
