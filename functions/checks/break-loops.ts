import * as z from 'zod/mini';
import { isOfApplicationStatus } from '../core/domain/adoption.ts';
import { logEvents } from '../core/log-events.ts';
import { breakLoops, type LoopsBroken } from '../core/loops/break-loops.ts';
import { optInTag, setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The schedule says nothing but that it is time; Auto Scaling says why it has ended an instance. */
const trigger = z.discriminatedUnion('source', [
  z.object({ source: z.literal('aws.events') }),
  z.object({ source: z.literal('aws.autoscaling'), detail: z.object({ Cause: z.string() }) }),
]);

const NOTHING: LoopsBroken = { demoted: [], observed: [], over: [] };

/** Looks for checks that have instances replaced one after the other, and excludes them. */
export const handler = step(trigger, async event => {
  // Whatever any group of the account ends comes here: a scale-in of hundreds must not read the account hundreds of times.
  if (event.source === 'aws.autoscaling' && !isOfApplicationStatus(event.detail.Cause)) return NOTHING;
  const mode = setting('LOOP_BREAKER') === 'demote' ? 'demote' : 'observe';
  const broken = await breakLoops(optInTag(setting('OPT_IN_TAG_VALUE')), mode);
  if (Object.values(broken).some(checks => checks.length > 0)) say(logEvents.loopsBroken, { ...broken });
  return broken;
});
