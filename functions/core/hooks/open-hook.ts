import { eventInProgress, putHookStatus } from '../aws/code-deploy.ts';
import { executionArn, startExecution } from '../aws/step-functions.ts';
import { forgetHook, type OpenHook, recordHook } from '../ledger/open-hooks.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';

export interface HookInvocation {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

/** CodeDeploy's hour for an answer, less what a sweep may be late. */
const ANSWER_WITHIN_SECONDS = 3600 - 300;

/** Lifecycle events of ECS and Lambda deployments after which the bracket is closed; before all others it is opened. */
const AFTER = new Set(['AfterAllowTraffic']);

export interface OpenedHook {
  readonly phase: 'before' | 'after';
  readonly executionArn: string;
}

/**
 * Starts the machine that a lifecycle event of an ECS or Lambda deployment asks for. Its end answers CodeDeploy; if it
 * cannot be started the answer is Failed, at once (fail closed).
 */
export async function openHook(invocation: HookInvocation): Promise<OpenedHook> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: hookExecutionId } = invocation;
  let hook: OpenHook | undefined;
  try {
    const event = await eventInProgress(deploymentId);
    const phase = event !== undefined && AFTER.has(event) ? 'after' : 'before';
    const machine = setting(phase === 'after' ? 'AFTER_DEPLOY_ARN' : 'BEFORE_DEPLOY_ARN');
    const name = executionName(phase, deploymentId);
    const arn = executionArn(machine, name);
    hook = {
      executionArn: arn,
      deploymentId,
      hookExecutionId,
      deadline: nowSeconds() + ANSWER_WITHIN_SECONDS,
    };
    await recordHook(hook);
    const request =
      phase === 'after'
        ? { runId: deploymentId }
        : {
            runId: deploymentId,
            fleet: JSON.parse(setting('HOOK_FLEET')),
            traffic: 'leave',
            policy: JSON.parse(setting('HOOK_POLICY')),
          };
    await startExecution(machine, name, request);
    return { phase, executionArn: arn };
  } catch (error) {
    await putHookStatus(deploymentId, hookExecutionId, 'Failed');
    if (hook) await forgetHook(hook.executionArn);
    throw error;
  }
}
