import type { HistoryEvent } from '@aws-sdk/client-sfn';
import type { Entry } from '../account/journal.ts';
import { endOf } from './execution-history.ts';
import { type Phase, runOf, Timeline } from './phases.ts';

/** The phases of the executions of one run, told by their histories. */
export class ExecutionPhases {
  readonly #timeline = new Timeline();

  constructor() {
    this.#timeline.begin(RUN);
  }

  get all(): readonly Phase[] {
    return this.#timeline.run(RUN)?.phases ?? [];
  }

  get open(): readonly Phase[] {
    return this.all.filter(phase => phase.ended === undefined);
  }

  /** @returns the phases that this event ends */
  hear(event: HistoryEvent): readonly Phase[] {
    const entry = entryOf(event);
    return (entry && this.#timeline.hear(entry)?.phases) ?? [];
  }
}

/** All executions that are heard are of one run, whatever they are called. */
const EXECUTION = 'before-run';
const RUN = runOf(`:${EXECUTION}`);

function entryOf(event: HistoryEvent): Entry | undefined {
  const at = event.timestamp?.getTime() ?? 0;
  const where = { executionArn: `:${EXECUTION}`, machine: '', at };
  const state = event.stateEnteredEventDetails?.name;
  if (state !== undefined) return { type: 'state-entered', state, ...where };
  const end = endOf(event);
  return end && { type: 'execution', status: end.status, error: end.error, ...where };
}
