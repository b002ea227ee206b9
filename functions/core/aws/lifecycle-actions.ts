import {
  CompleteLifecycleActionCommand,
  DescribeLifecycleHooksCommand,
  RecordLifecycleActionHeartbeatCommand,
} from '@aws-sdk/client-auto-scaling';
import type { HookTimes } from '../domain/lifecycle-action.ts';
import { AwsFailure } from '../errors.ts';
import { given, send } from './call.ts';
import { autoScaling } from './clients.ts';

/** One instance's wait at one lifecycle hook of an Auto Scaling group, as its event names it. */
export interface LifecycleAction {
  readonly token: string;
  readonly group: string;
  readonly hook: string;
  readonly instanceId: string;
}

/** `CONTINUE` lets the transition go on; `ABANDON` terminates what is being launched. */
export type ActionResult = 'CONTINUE' | 'ABANDON';

/** The times of a hook; undefined when it, or its group, does not exist any more. */
export async function lifecycleHook(group: string, name: string): Promise<HookTimes | undefined> {
  const action = 'autoscaling:DescribeLifecycleHooks';
  const command = new DescribeLifecycleHooksCommand({
    AutoScalingGroupName: group,
    LifecycleHookNames: [name],
  });
  const answer = await unlessOver(() => send(action, () => autoScaling().send(command)));
  const hook = answer?.LifecycleHooks?.[0];
  return (
    hook && {
      heartbeatSeconds: given(hook.HeartbeatTimeout, action, 'HeartbeatTimeout'),
      globalSeconds: given(hook.GlobalTimeout, action, 'GlobalTimeout'),
    }
  );
}

/** Restarts the hook's time-out. False when the action is over already (R-HOOK). */
export async function recordHeartbeat(action: LifecycleAction): Promise<boolean> {
  const command = new RecordLifecycleActionHeartbeatCommand(named(action));
  return isActive(() =>
    send('autoscaling:RecordLifecycleActionHeartbeat', () => autoScaling().send(command)),
  );
}

/** Ends the action. False when it was over already: somebody else, or its time-out, has ended it (R-HOOK). */
export async function completeAction(action: LifecycleAction, result: ActionResult): Promise<boolean> {
  const command = new CompleteLifecycleActionCommand({ ...named(action), LifecycleActionResult: result });
  return isActive(() => send('autoscaling:CompleteLifecycleAction', () => autoScaling().send(command)));
}

/** By its token: the same instance may wait at the same hook again, coming out of a warm pool. */
const named = ({ token, group, hook }: LifecycleAction) => ({
  AutoScalingGroupName: group,
  LifecycleHookName: hook,
  LifecycleActionToken: token,
});

const isActive = async (call: () => Promise<unknown>): Promise<boolean> =>
  (await unlessOver(async () => ({ answered: await call() }))) !== undefined;

/** Auto Scaling has one code for whatever it refuses: no such action, hook or group is said in the text only. */
async function unlessOver<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    const over = /no active lifecycle action|no lifecycle hook found|group.*not found/i;
    if (error instanceof AwsFailure && error.code === 'ValidationError' && over.test(error.message))
      return undefined;
    throw error;
  }
}
