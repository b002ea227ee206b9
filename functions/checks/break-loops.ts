import * as z from 'zod/mini';
import { logEvents } from '../core/log-events.ts';
import { breakLoops } from '../core/loops/break-loops.ts';
import { optInTag, setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The schedule says nothing but that it is time; so does Auto Scaling, when it has ended an instance. */
const trigger = z.object({ source: z.enum(['aws.events', 'aws.autoscaling']) });

/** Looks for checks that have instances replaced one after the other, and excludes them. */
export const handler = step(trigger, async () => {
  const mode = setting('LOOP_BREAKER') === 'demote' ? 'demote' : 'observe';
  const broken = await breakLoops(optInTag(setting('OPT_IN_TAG_VALUE')), mode);
  if (Object.values(broken).some(checks => checks.length > 0)) say(logEvents.loopsBroken, { ...broken });
  return broken;
});
