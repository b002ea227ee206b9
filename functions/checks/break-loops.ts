import * as z from 'zod/mini';
import { isOfApplicationStatus } from '../core/domain/adoption.ts';
import { inclusionIn } from '../core/domain/inclusion.ts';
import { logEvents } from '../core/log-events.ts';
import { breakLoops, type LoopsBroken, measuresOf } from '../core/loops/break-loops.ts';
import { isFirstOfMany } from '../core/loops/first-of-many.ts';
import { record } from '../core/metrics.ts';
import { optInTag, setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

const text = z.optional(z.string());

/** Why to look: it is time; an alarm of a check rings; Auto Scaling has ended an instance; somebody has modified a check. */
const trigger = z.discriminatedUnion('source', [
  z.object({ source: z.literal('aws.events') }),
  z.object({ source: z.literal('aws.cloudwatch') }),
  z.object({ source: z.literal('aws.autoscaling'), detail: z.object({ Cause: z.string() }) }),
  z.object({
    source: z.literal('aws.ec2'),
    detail: z.object({
      userIdentity: z.optional(z.object({ arn: text, type: text })),
      requestParameters: z.optional(z.unknown()),
      errorCode: text,
    }),
  }),
]);
type Trigger = z.output<typeof trigger>;

const NOTHING: LoopsBroken = { demoted: [], observed: [], over: [] };

/** Looks for checks that have instances replaced one after the other, and excludes them. */
export const handler = step(trigger, async event => {
  const inclusion = event.source === 'aws.ec2' ? inclusionIn(event.detail) : undefined;
  if (!inclusion && !(await isWorthALook(event))) return NOTHING;
  const mode = setting('LOOP_BREAKER') === 'demote' ? 'demote' : 'observe';
  const broken = await breakLoops(optInTag(setting('OPT_IN_TAG_VALUE')), mode, inclusion);
  record(measuresOf(broken));
  if (Object.values(broken).some(checks => checks.length > 0)) say(logEvents.loopsBroken, { ...broken });
  return broken;
});

/** Whatever happens to any group of the account comes here: a scale-in of hundreds must not read the account hundreds of times. */
async function isWorthALook(event: Trigger): Promise<boolean> {
  switch (event.source) {
    case 'aws.events':
      return true;
    case 'aws.autoscaling':
      return isOfApplicationStatus(event.detail.Cause);
    case 'aws.cloudwatch':
      return isFirstOfMany();
    case 'aws.ec2':
      return false;
  }
}
