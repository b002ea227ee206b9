import { look } from '../core/bracket/look.ts';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { observePayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** One fresh look at the fleet, for whatever goal a loop waits for. Reads only. */
export const handler = step(observePayload, async ({ execution, enteredAt, ...request }) => {
  const { measures, ...looked } = await look({
    ...request,
    owner: execution,
    enteredAt: Date.parse(enteredAt),
  });
  record(measures);
  say(logEvents.goalObserved, { runId: request.runId, goals: request.goals, ...looked });
  return looked;
});
