import { logEvents } from '../core/log-events.ts';
import { planPayload } from '../core/retire/payloads.ts';
import { planRetirement } from '../core/retire/plan.ts';
import { say, step } from '../core/step.ts';

/** The first step of retire-check: decides everything, or goes on with what another execution has left. */
export const handler = step(planPayload, async ({ request, execution, optInTagValue }) => {
  const planned = await planRetirement(request, execution, optInTagValue);
  say(logEvents.retirementPlanned, { ...planned });
  return planned;
});
