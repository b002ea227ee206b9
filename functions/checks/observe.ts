import { lookAtCheck } from '../core/adopt/look.ts';
import { observePayload } from '../core/adopt/payloads.ts';
import { logEvents } from '../core/log-events.ts';
import { say, step } from '../core/step.ts';

/** One look at the check that is adopted. Reads only. */
export const handler = step(observePayload, async payload => {
  const looked = await lookAtCheck(payload);
  say(logEvents.adoptionObserved, { group: payload.group, of: payload.of, ...looked });
  return looked;
});
