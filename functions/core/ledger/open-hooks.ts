import { pk as keys } from './items.ts';
import { change, get, json, parsed } from './table.ts';

/** A lifecycle event hook of a deployment to ECS or Lambda that CodeDeploy waits on, by the execution that decides it. */
export interface OpenHook {
  readonly executionArn: string;
  readonly deploymentId: string;
  readonly hookExecutionId: string;
  /** CodeDeploy takes a missing answer for a failure then, in seconds since the epoch. */
  readonly deadline: number;
}

const HOOK = 'hook#';

/** Written before the execution is started, so that no hook can be forgotten (R-UNDO, R-HOOKSTATUS). */
export async function recordHook(hook: OpenHook): Promise<void> {
  await change(keys.openHooks, {
    UpdateExpression: 'SET #hook = :hook',
    ExpressionAttributeNames: { '#hook': HOOK + hook.executionArn },
    ExpressionAttributeValues: { ':hook': json(hook) },
    ReturnValues: 'NONE',
  });
}

/** Every hook that was not answered yet. */
export async function openHooks(): Promise<OpenHook[]> {
  const item = await get(keys.openHooks);
  return Object.entries(item ?? {}).flatMap(([name, value]) => {
    const hook = name.startsWith(HOOK) ? parsed<OpenHook>(value) : undefined;
    return hook ? [hook] : [];
  });
}

/** The hook is answered. */
export async function forgetHook(executionArn: string): Promise<void> {
  await change(keys.openHooks, {
    UpdateExpression: 'REMOVE #hook',
    ConditionExpression: 'attribute_exists(#hook)',
    ExpressionAttributeNames: { '#hook': HOOK + executionArn },
    ReturnValues: 'NONE',
  });
}
