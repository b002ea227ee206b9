import { setTimeout as sleep } from 'node:timers/promises';
import { eventInProgress, putHookStatus } from '../aws/code-deploy.ts';
import { executionArn, startExecution } from '../aws/step-functions.ts';
import { HookRefused } from '../errors.ts';
import { forgetHook, type OpenHook, recordHook } from '../ledger/open-hooks.ts';
import { findRefusal } from '../ledger/refusals.ts';
import { LIFECYCLE_EVENT_SECONDS } from '../limits.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { closeHooks } from './close-hooks.ts';
import { hookPolicy } from './hook-policy.ts';

export interface HookInvocation {
  readonly DeploymentId: string;
  readonly LifecycleEventHookExecutionId: string;
}

/** CodeDeploy's hour for an answer, less two turns of the schedule that gives it when nobody else does. */
const ANSWER_WITHIN_SECONDS = LIFECYCLE_EVENT_SECONDS - 600;

/** The lifecycle events of ECS and Lambda deployments that call hooks, and what of the bracket each asks for. */
const PHASES: ReadonlyMap<string | undefined, 'before' | 'after'> = new Map([
  ['BeforeInstall', 'before'],
  ['AfterInstall', 'before'],
  ['AfterAllowTestTraffic', 'before'],
  ['BeforeAllowTraffic', 'before'],
  ['AfterAllowTraffic', 'after'],
]);

export interface OpenedHook {
  readonly phase: 'before' | 'after';
  /** What decides the answer; empty when it was given at once. */
  readonly executionArn: string;
}

/**
 * Starts the machine that a lifecycle event of an ECS or Lambda deployment asks for. Its end answers CodeDeploy; if it
 * cannot be started the answer is Failed, at once (fail closed).
 *
 * @throws HookRefused when no lifecycle event of the deployment is in progress
 */
export async function openHook(invocation: HookInvocation): Promise<OpenedHook> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: hookExecutionId } = invocation;
  let hook: OpenHook | undefined;
  try {
    const phase = await currentPhase(deploymentId);
    // D1: what had nothing to do before has nothing to do after.
    if (phase === 'after' && (await findRefusal(deploymentId))?.error === 'NothingToDo') {
      await putHookStatus(deploymentId, hookExecutionId, 'Succeeded');
      return { phase, executionArn: '' };
    }
    const machine = setting(phase === 'after' ? 'AFTER_DEPLOY_ARN' : 'BEFORE_DEPLOY_ARN');
    const name = executionName(phase, deploymentId);
    const arn = executionArn(machine, name);
    const deadline = nowSeconds() + ANSWER_WITHIN_SECONDS;
    hook = { executionArn: arn, deploymentId, hookExecutionId, deadline };
    await recordHook(hook);
    const started = await startExecution(machine, name, requestOf(phase, deploymentId));
    // The event came twice, or the AppSpec names this hook at two events: its execution may be over (D12).
    if (started === 'exists') await closeHooks(arn);
    return { phase, executionArn: arn };
  } catch (error) {
    await putHookStatus(deploymentId, hookExecutionId, 'Failed');
    if (hook) await forgetHook(hook.executionArn);
    throw error;
  }
}

const requestOf = (phase: 'before' | 'after', deploymentId: string) =>
  phase === 'after'
    ? { runId: deploymentId }
    : {
        runId: deploymentId,
        fleet: JSON.parse(setting('HOOK_FLEET')),
        traffic: 'leave',
        policy: hookPolicy(),
        timeoutSeconds: ANSWER_WITHIN_SECONDS,
        afterTimeoutSeconds: ANSWER_WITHIN_SECONDS,
      };

/**
 * CodeDeploy's status is eventually consistent: right after an event has begun the one before it may still be shown. So it
 * is believed in two agreeing reads (R-AGREE), and asked for a while before the answer is no.
 */
async function currentPhase(deploymentId: string): Promise<'before' | 'after'> {
  let seen: string | undefined;
  for (let asked = 0; asked < 6; asked++) {
    if (asked > 0) await sleep(3000);
    const event = await eventInProgress(deploymentId);
    const phase = PHASES.get(event);
    if (phase && event === seen) return phase;
    seen = event;
  }
  throw new HookRefused(`No hook of CodeDeploy deployment ${deploymentId} is in progress.`);
}
