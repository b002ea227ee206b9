import { putBack } from '../core/bracket/put-back.ts';
import { logEvents } from '../core/log-events.ts';
import { ownership } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Registers every recorded membership again. */
export const handler = step(ownership, async ({ runId, execution }) => {
  const answer = await putBack(runId, execution);
  say(logEvents.targetsRegistered, { runId, ...answer });
  return answer;
});
