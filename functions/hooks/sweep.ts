import * as z from 'zod/mini';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { say, step } from '../core/step.ts';
import { sweep } from '../core/sweep/sweep.ts';

/** The schedule says nothing but that it is time. */
const trigger = z.object({ source: z.literal('aws.events') });

/** Finds what nothing looks after any more, and has it undone. */
export const handler = step(trigger, async () => {
  const { measures, failures, ...swept } = await sweep();
  record(measures);
  say(logEvents.ledgerSwept, { ...swept, failures: failures.length });
  if (failures.length > 0)
    throw new AggregateError(failures, `Not swept: ${failures.map(error => String(error)).join('; ')}`);
  return swept;
});
