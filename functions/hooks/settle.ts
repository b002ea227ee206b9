import * as z from 'zod/mini';
import { executionArn as arnOf } from '../core/aws/step-functions.ts';
import { closeHooks } from '../core/hooks/close-hooks.ts';
import { endCutOffRun, endRunsOfDeployment } from '../core/hooks/unended-runs.ts';
import { logEvents } from '../core/log-events.ts';
import { setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';
import { endCutOffAdoption } from '../core/sweep/abandoned-adoptions.ts';

/** An execution of ours has ended, or a deployment or one instance of it has. */
const trigger = z.object({
  detail: z.union([
    z.object({ deploymentId: z.string(), instanceId: z.optional(z.string()), state: z.string() }),
    z.object({ executionArn: z.string() }),
  ]),
});

/** Answers the hooks of ECS and Lambda deployments whose executions have ended, and ends runs and adoptions that nobody ends. */
export const handler = step(trigger, async ({ detail }) => {
  if ('deploymentId' in detail) {
    const runIds = await endRunsOfDeployment(detail);
    say(logEvents.runsUnended, { ...detail, runIds });
    return { undoing: runIds };
  }
  const { executionArn } = detail;
  if (executionArn.startsWith(arnOf(setting('PROMOTE_CHECK_ARN'), ''))) {
    const group = await endCutOffAdoption(executionArn);
    if (group !== undefined) say(logEvents.adoptionUnended, { executionArn, group });
    return { undoing: group === undefined ? [] : [group] };
  }
  const runId = await endCutOffRun(executionArn);
  if (runId !== undefined) say(logEvents.runsUnended, { executionArn, runIds: [runId] });
  const closed = await closeHooks(executionArn);
  say(logEvents.hookClosed, { ...closed });
  return { ...closed, undoing: runId === undefined ? [] : [runId] };
});
