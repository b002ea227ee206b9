import { planPayload } from '../core/adopt/payloads.ts';
import { planAdoption } from '../core/adopt/plan.ts';
import { abandonedAdoption, adoptionRequest } from '../core/adoption-request.ts';
import { takeAdoptionOver } from '../core/ledger/adoptions.ts';
import { logEvents } from '../core/log-events.ts';
import { readRequest } from '../core/request.ts';
import { optInTag } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

const NOTHING = { instances: 0, sample: [], observeSeconds: 0, watchSeconds: 0 };

/** The first step of promote-check: decides everything, or takes an abandoned adoption over to undo it. */
export const handler = step(planPayload, async ({ execution, optInTagValue, request }) => {
  if (request !== null && typeof request === 'object' && 'from' in request) {
    const { autoScalingGroupName: group, from, error, cause } = readRequest(abandonedAdoption, request);
    await takeAdoptionOver(group, from, execution);
    return { ...NOTHING, verdict: 'abandoned', group, error, cause };
  }
  const planned = await planAdoption(
    readRequest(adoptionRequest, request),
    execution,
    optInTag(optInTagValue),
  );
  say(logEvents.adoptionPlanned, { ...planned });
  return { ...planned, verdict: 'planned', error: '', cause: '' };
});
