import { completeAction } from '../core/aws/lifecycle-actions.ts';
import { logEvents } from '../core/log-events.ts';
import { completePayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Ends the wait of an instance at Quiesce's lifecycle hook. One that is over already has been ended as well as it can be. */
export const handler = step(completePayload, async ({ action, result, reason }) => {
  const completed = { result, reason, wasOver: !(await completeAction(action, result)) };
  say(logEvents.lifecycleCompleted, { ...action, ...completed });
  return completed;
});
