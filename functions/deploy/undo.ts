import { undo } from '../core/bracket/undo.ts';
import { logEvents } from '../core/log-events.ts';
import { actPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Undoes what a fenced run has done. */
export const handler = step(actPayload, async ({ runId, execution, deadline }) => {
  const answer = await undo(runId, execution, deadline);
  say(logEvents.runUndoing, { runId, ...answer });
  return answer;
});
