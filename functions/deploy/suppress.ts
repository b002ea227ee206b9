import { suppress } from '../core/bracket/suppress.ts';
import { logEvents } from '../core/log-events.ts';
import { suppressPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Suppresses the application status checks of every member that needs it. */
export const handler = step(suppressPayload, async ({ runId, execution, until, round }) => {
  const suppressed = await suppress({ runId, owner: execution, until, round });
  say(logEvents.suppressionEnabled, { runId, ...suppressed });
  return suppressed;
});
