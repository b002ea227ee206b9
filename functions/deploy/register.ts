import { putBack } from '../core/bracket/put-back.ts';
import { logEvents } from '../core/log-events.ts';
import { actPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Registers every recorded membership again. */
export const handler = step(actPayload, async ({ runId, execution, deadline }) => {
  const answer = await putBack(runId, execution, deadline);
  say(logEvents.targetsRegistered, { runId, ...answer });
  return answer;
});
