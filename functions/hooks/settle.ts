import * as z from 'zod';
import { closeHooks } from '../core/hooks/close-hooks.ts';
import { logEvents } from '../core/log-events.ts';
import { say, step } from '../core/step.ts';

/** An execution of ours has ended, or the schedule asks for what events have missed. */
const trigger = z.object({ detail: z.object({ executionArn: z.string().optional() }).optional() });

/** Answers the hooks of ECS and Lambda deployments whose executions have ended. */
export const handler = step(trigger, async event => {
  const closed = await closeHooks(event.detail?.executionArn);
  say(logEvents.hookClosed, { ...closed });
  return closed;
});
