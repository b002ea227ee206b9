import * as z from 'zod/mini';
import { openHook } from '../core/hooks/open-hook.ts';
import { logEvents } from '../core/log-events.ts';
import { say, step } from '../core/step.ts';

const invocation = z.object({
  DeploymentId: z.string().check(z.minLength(1)),
  LifecycleEventHookExecutionId: z.string().check(z.minLength(1)),
});

/** The lifecycle event hook of CodeDeploy deployments to ECS and Lambda. */
export const handler = step(invocation, async event => {
  const opened = await openHook(event);
  say(logEvents.hookOpened, { deploymentId: event.DeploymentId, ...opened });
  return opened;
});
