import { attendTermination, beginTermination } from '../core/instances/termination.ts';
import { logEvents } from '../core/log-events.ts';
import { terminationPayload } from '../core/payloads.ts';
import { optInTag } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The termination of an instance that waits at Quiesce's lifecycle hook: what Auto Scaling does not drain is drained. */
export const handler = step(terminationPayload, async payload => {
  const { action } = payload;
  if (payload.step === 'attend') {
    const attended = await attendTermination(action, payload.plan);
    say(logEvents.terminationObserved, { ...action, ...attended });
    return attended;
  }
  const { execution, openedAt, optInTagValue, destination } = payload;
  const opened = {
    action,
    execution,
    openedAt: Date.parse(openedAt) / 1000,
    optIn: optInTag(optInTagValue),
  };
  const begun = await beginTermination(opened, destination);
  say(logEvents.lifecycleBegun, { ...action, ...begun });
  return begun;
});
