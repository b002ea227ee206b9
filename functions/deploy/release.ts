import { release } from '../core/bracket/release.ts';
import { logEvents } from '../core/log-events.ts';
import { actPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Resumes what was held and disables the suppression that no other run claims. */
export const handler = step(actPayload, async ({ runId, execution, deadline }) => {
  const answer = await release(runId, execution, deadline);
  say(logEvents.released, { runId, ...answer });
  return answer;
});
