import * as z from 'zod/mini';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { type Heard, hearTrail, trailEvent } from '../core/retire/hear.ts';
import { type Watched, watchInterfaces } from '../core/retire/watch.ts';
import { optInTag, setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The schedule says nothing but that it is time; CloudTrail says what has happened to a check, or of an interface. */
const trigger = z.union([z.object({ source: z.literal('aws.events') }), trailEvent]);

/** Retires what checks have left behind: when it is heard of, and what was not heard of besides. */
export const handler = step<typeof trigger, Heard | Omit<Watched, 'measures'>>(trigger, async event => {
  if (event.source === 'aws.ec2') {
    const heard = await hearTrail(event);
    say(logEvents.interfacesWatched, { ...heard });
    return heard;
  }
  const { measures, ...watched } = await watchInterfaces(optInTag(setting('OPT_IN_TAG_VALUE')));
  record(measures);
  say(logEvents.interfacesWatched, { ...watched });
  return watched;
});
