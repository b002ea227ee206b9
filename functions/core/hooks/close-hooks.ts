import { putHookStatus } from '../aws/code-deploy.ts';
import { describeExecution } from '../aws/step-functions.ts';
import { forgetHook, type OpenHook, openHooks } from '../ledger/open-hooks.ts';
import { nowSeconds } from '../time.ts';

export interface ClosedHooks {
  readonly succeeded: number;
  readonly failed: number;
  readonly open: number;
}

/**
 * Answers the hooks whose executions have ended, and those whose time is up as Failed. The event of an execution's end only
 * says when to look: what is answered is what the execution says of itself (R-NEWER), so events may come twice or never.
 *
 * @param executionArn looks at this one only
 * @throws AggregateError when some could not be answered: the others are (R-PARTIAL)
 */
export async function closeHooks(executionArn?: string): Promise<ClosedHooks> {
  const closed = { succeeded: 0, failed: 0, open: 0 };
  const errors: unknown[] = [];
  for (const hook of await openHooks()) {
    if (executionArn !== undefined && hook.executionArn !== executionArn) continue;
    try {
      closed[await closeHook(hook)]++;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0)
    throw new AggregateError(errors, `Not answered: ${errors.map(error => String(error)).join('; ')}`);
  return closed;
}

async function closeHook(hook: OpenHook): Promise<keyof ClosedHooks> {
  const status = await verdictOn(hook);
  if (!status) return 'open';
  await putHookStatus(hook.deploymentId, hook.hookExecutionId, status);
  await forgetHook(hook.executionArn);
  return status === 'Succeeded' ? 'succeeded' : 'failed';
}

async function verdictOn(hook: OpenHook): Promise<'Succeeded' | 'Failed' | undefined> {
  const execution = await describeExecution(hook.executionArn);
  if (execution?.status === 'SUCCEEDED') return 'Succeeded';
  // D1: nothing to do is a go-ahead for a hook.
  if (execution?.status === 'FAILED') return execution.error === 'NothingToDo' ? 'Succeeded' : 'Failed';
  const running = execution === undefined || execution.status === 'RUNNING';
  return running && nowSeconds() < hook.deadline ? undefined : 'Failed';
}
