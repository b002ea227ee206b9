import { fence } from '../core/bracket/conclude.ts';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { fencePayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Ends a failed run before its undo, so that no act of it starts any more. */
export const handler = step(fencePayload, async ({ runId, execution, error, cause, from, giveBack }) => {
  const { measures, ...fenced } = await fence(runId, execution, { error, cause }, from, giveBack);
  record(measures);
  say(logEvents.runFenced, { ...fenced });
  return fenced;
});
