import { type AutoScalingGroupFacts, groups } from '../aws/auto-scaling.ts';
import { type LifecycleAction, lifecycleHook } from '../aws/lifecycle-actions.ts';
import type { HookTimes } from '../domain/lifecycle-action.ts';
import { takeAction } from '../ledger/lifecycle-actions.ts';
import { LIFECYCLE_HOOK_SECONDS } from '../limits.ts';
import type { OptInTag } from '../settings.ts';

/** What the event of a lifecycle action says, and which execution it has started. */
export interface OpenedAction {
  readonly action: LifecycleAction;
  readonly execution: string;
  /** When the instance began to wait, in seconds since the epoch. */
  readonly openedAt: number;
  readonly optIn: OptInTag;
}

export type BegunAction =
  | { readonly group: AutoScalingGroupFacts; readonly hook: HookTimes }
  /** Why this execution has nothing to do with the action. */
  | { readonly leftAlone: string };

/**
 * May this execution attend the action? Only one execution an action, only on a group that has opted in (D19), and only while
 * the hook exists. Whose it is comes first: a failure of the other execution must not end what the owner attends (R-HOOK).
 */
export async function beginAction({
  action,
  execution,
  openedAt,
  optIn,
}: OpenedAction): Promise<BegunAction> {
  if (!(await takeAction(action.token, execution, openedAt + LIFECYCLE_HOOK_SECONDS)))
    return { leftAlone: 'Another execution attends this action: its event came twice.' };
  const group = (await groups([action.group])).get(action.group);
  if (!group) return { leftAlone: `There is no Auto Scaling group ${action.group} any more.` };
  if (group.tags[optIn.key] !== optIn.value)
    return {
      leftAlone: `Auto Scaling group ${group.name} does not carry the tag ${optIn.key}=${optIn.value}: its hook ${action.hook} ends by its own time-out.`,
    };
  const hook = await lifecycleHook(action.group, action.hook);
  if (!hook) return { leftAlone: `Auto Scaling group ${group.name} has no hook ${action.hook} any more.` };
  return { group, hook };
}
