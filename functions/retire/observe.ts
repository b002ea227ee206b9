import { logEvents } from '../core/log-events.ts';
import { lookAtRetirement } from '../core/retire/look.ts';
import { observePayload } from '../core/retire/payloads.ts';
import { say, step } from '../core/step.ts';

/** One look at what is left of a check that is retired. Reads only. */
export const handler = step(observePayload, async ({ subject, execution }) => {
  const looked = await lookAtRetirement(subject, execution);
  say(logEvents.retirementObserved, { subject, ...looked });
  return looked;
});
