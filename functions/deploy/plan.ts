import { beginRun, resumeRun } from '../core/bracket/begin.ts';
import { logEvents } from '../core/log-events.ts';
import { planPayload } from '../core/payloads.ts';
import { afterRequest, readRequest, runRequest, withDefaultPolicy } from '../core/request.ts';
import { optInTag } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The first step of both machines: reads the request, decides everything, claims the fleet. */
export const handler = step(planPayload, async payload => {
  if (payload.phase === 'after') {
    const resumed = await resumeRun(readRequest(afterRequest, payload.request), payload.execution);
    say(logEvents.runResumed, { ...resumed });
    return resumed;
  }
  const request = readRequest(runRequest, withDefaultPolicy(payload.request, payload.defaultPolicy));
  const begun = await beginRun(request, {
    owner: payload.execution,
    startedAt: Date.parse(payload.startedAt) / 1000,
    enteredAt: Date.parse(payload.enteredAt),
    optIn: optInTag(payload.optInTagValue),
  });
  say(begun.verdict === 'planned' ? logEvents.runPlanned : logEvents.runQueued, { ...begun });
  return begun;
});
