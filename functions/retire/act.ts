import { logEvents } from '../core/log-events.ts';
import { actOnRetirement } from '../core/retire/act.ts';
import { actPayload } from '../core/retire/payloads.ts';
import { say, step } from '../core/step.ts';

/** Deletes the check that is retired, or security groups that nothing holds any more. */
export const handler = step(actPayload, async payload => {
  const acted = await actOnRetirement(payload);
  say(logEvents.retirementActed, { subject: payload.subject, act: payload.act, ...acted });
  return acted;
});
