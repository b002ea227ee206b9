import { beginAdoption } from '../core/adopt/begin.ts';
import { planPayload } from '../core/adopt/payloads.ts';
import { logEvents } from '../core/log-events.ts';
import { say, step } from '../core/step.ts';

/** The first step of promote-check: decides everything, or takes an abandoned adoption over to undo it. */
export const handler = step(planPayload, async ({ execution, optInTagValue, request }) => {
  const begun = await beginAdoption(request, execution, optInTagValue);
  say(logEvents.adoptionPlanned, { ...begun });
  return begun;
});
