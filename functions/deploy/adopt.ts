import { adoptForRun } from '../core/adopt/adopt-for-run.ts';
import { logEvents } from '../core/log-events.ts';
import { adoptPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Has promote-check adopt the checks that after-deploy was asked to promote. */
export const handler = step(adoptPayload, async ({ runId, execution, promotions, deadline }) => {
  const adopted = await adoptForRun(runId, execution, promotions, deadline);
  say(logEvents.runPromoting, { runId, ...adopted });
  return adopted;
});
