import { handOver } from '../core/bracket/hand-over.ts';
import { release } from '../core/bracket/release.ts';
import { logEvents } from '../core/log-events.ts';
import { releasePayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Resumes what was held and disables the suppression that no other run claims, or leaves it to the run that covers this one. */
export const handler = step(releasePayload, async ({ runId, execution, deadline, to }) => {
  const answer =
    to === 'cover' ? await handOver(runId, execution, deadline) : await release(runId, execution, deadline);
  say(to === 'cover' ? logEvents.handedOver : logEvents.released, { runId, ...answer });
  return answer;
});
