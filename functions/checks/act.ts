import { actOnCheck } from '../core/adopt/act.ts';
import { actPayload } from '../core/adopt/payloads.ts';
import { logEvents } from '../core/log-events.ts';
import { say, step } from '../core/step.ts';

/** One act on the check that is adopted. */
export const handler = step(actPayload, async payload => {
  const acted = await actOnCheck(payload);
  say(logEvents.adoptionActed, { group: payload.group, act: payload.act, ...acted });
  return acted;
});
