import { takeOut } from '../core/bracket/take-out.ts';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { actPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Holds Auto Scaling's verdicts and takes the members out of traffic, as far as the floors permit. */
export const handler = step(actPayload, async ({ runId, execution, deadline }) => {
  const { measures = [], ...answer } = await takeOut(runId, execution, deadline);
  record(measures);
  say(logEvents.targetsDeregistered, { runId, ...answer });
  return answer;
});
