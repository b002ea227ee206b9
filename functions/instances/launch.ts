import { attendLaunch } from '../core/instances/attend-launch.ts';
import { beginLaunch } from '../core/instances/launch.ts';
import { watchLaunch } from '../core/instances/watch-launch.ts';
import { logEvents } from '../core/log-events.ts';
import { launchPayload } from '../core/payloads.ts';
import { stackPolicy } from '../core/request.ts';
import { optInTag } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The launch of an instance that waits at Quiesce's lifecycle hook of its Auto Scaling group: ready before it is in service. */
export const handler = step(launchPayload, async payload => {
  const { action } = payload;
  switch (payload.step) {
    case 'begin': {
      const { execution, openedAt, optInTagValue, destination, defaultPolicy } = payload;
      const opened = {
        action,
        execution,
        openedAt: Date.parse(openedAt) / 1000,
        optIn: optInTag(optInTagValue),
      };
      const begun = await beginLaunch(opened, destination, stackPolicy(defaultPolicy));
      say(logEvents.lifecycleBegun, { ...action, ...begun });
      return begun;
    }
    case 'attend': {
      const { plan, evidence, optInTagValue } = payload;
      const attended = await attendLaunch(action, plan, evidence, optInTag(optInTagValue));
      say(logEvents.launchObserved, { ...action, ...attended });
      return attended;
    }
    case 'watch': {
      const watched = await watchLaunch(action, payload.deadline, payload.budgetSeconds);
      say(logEvents.launchWatched, { ...action, ...watched });
      return watched;
    }
  }
});
