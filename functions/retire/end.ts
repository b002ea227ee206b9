import { logEvents } from '../core/log-events.ts';
import { concludeRetirement, fenceRetirement } from '../core/retire/end.ts';
import { endPayload } from '../core/retire/payloads.ts';
import { say, step } from '../core/step.ts';

/** Ends a retirement: as succeeded, or as failed with what is left named. */
export const handler = step(endPayload, async payload => {
  const ended =
    payload.step === 'succeeded'
      ? await concludeRetirement(payload.subject, payload.execution)
      : await fenceRetirement(payload.request, payload.execution, payload);
  say(logEvents.retirementEnded, { ending: payload.step, ...ended });
  return ended;
});
