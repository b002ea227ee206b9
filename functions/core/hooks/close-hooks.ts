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
 */
export async function closeHooks(executionArn?: string): Promise<ClosedHooks> {
  const closed = { succeeded: 0, failed: 0, open: 0 };
  for (const hook of await openHooks()) {
    if (executionArn !== undefined && hook.executionArn !== executionArn) continue;
    const status = await verdictOn(hook);
    if (!status) {
      closed.open++;
      continue;
    }
    await putHookStatus(hook.deploymentId, hook.hookExecutionId, status);
    await forgetHook(hook.executionArn);
    closed[status === 'Succeeded' ? 'succeeded' : 'failed']++;
  }
  return closed;
}

async function verdictOn(hook: OpenHook): Promise<'Succeeded' | 'Failed' | undefined> {
  const execution = await describeExecution(hook.executionArn);
  if (execution?.status === 'SUCCEEDED') return 'Succeeded';
  // D1: nothing to do is a go-ahead for a hook.
  if (execution?.status === 'FAILED') return execution.error === 'NothingToDo' ? 'Succeeded' : 'Failed';
  const running = execution === undefined || execution.status === 'RUNNING';
  return running && nowSeconds() < hook.deadline ? undefined : 'Failed';
}
