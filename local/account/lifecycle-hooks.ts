import type { LifecycleHook } from '@aws-sdk/client-auto-scaling';
import type { Timer } from '../clock/virtual-clock.ts';
import { ServiceError } from '../wire/contract.ts';
import type { Group, Member } from './auto-scaling-group.ts';
import type { ServiceEvent } from './neighbours.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

export type Transition = 'autoscaling:EC2_INSTANCE_LAUNCHING' | 'autoscaling:EC2_INSTANCE_TERMINATING';
export type ActionResult = 'CONTINUE' | 'ABANDON';

export interface Hook {
  readonly name: string;
  readonly transition: Transition;
  readonly heartbeatTimeoutSeconds: number;
  readonly defaultResult: ActionResult;
  readonly metadata: string | undefined;
}

/** What a hook is made of, or what changes of an existing one. */
export interface HookSettings {
  readonly transition?: Transition | undefined;
  readonly heartbeatTimeoutSeconds?: number | undefined;
  readonly defaultResult?: ActionResult | undefined;
  readonly metadata?: string | undefined;
}

/** Between which two places an instance moves. */
export interface Leg {
  readonly origin: 'EC2' | 'AutoScalingGroup' | 'WarmPool';
  readonly destination: 'EC2' | 'AutoScalingGroup' | 'WarmPool';
}

const USUAL_LEGS: Readonly<Record<Transition, Leg>> = {
  'autoscaling:EC2_INSTANCE_LAUNCHING': { origin: 'EC2', destination: 'AutoScalingGroup' },
  'autoscaling:EC2_INSTANCE_TERMINATING': { origin: 'AutoScalingGroup', destination: 'EC2' },
};

/** How all actions of one transition of one instance ended. */
export type Outcome =
  | { readonly result: 'CONTINUE' }
  | { readonly result: 'ABANDON'; readonly message: string };

/** Names one action as the API does: by its token, or by its instance. */
export interface ActionRef {
  readonly hookName: string | undefined;
  readonly token: string | undefined;
  readonly instanceId: string | undefined;
}

interface Action {
  readonly token: string;
  readonly group: Group;
  readonly hook: Hook;
  readonly member: Member;
  readonly leg: Leg;
  readonly end: (result: ActionResult, why: string) => void;
  heartbeat: Timer;
  readonly lastMoment: Timer;
}

const DEFAULT_HEARTBEAT_SECONDS = 3600;
const HEARTBEAT_RANGE_SECONDS = [30, 7200] as const;
const LONGEST_WAIT_SECONDS = 172_800;
const LONGEST_WAIT_HEARTBEATS = 100;
const HOOKS_PER_GROUP = 50;

const isLaunching = (hook: Hook): boolean => hook.transition === 'autoscaling:EC2_INSTANCE_LAUNCHING';

const globalTimeoutSeconds = (hook: Hook): number =>
  Math.min(LONGEST_WAIT_SECONDS, LONGEST_WAIT_HEARTBEATS * hook.heartbeatTimeoutSeconds);

/** The hooks of every group, and the actions that instances wait for. All hooks of a transition wait at the same time. */
export class LifecycleHooks {
  readonly #world: World;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #random;
  readonly #hooks = new Map<Group, Map<string, Hook>>();
  readonly #actions = new Set<Action>();

  constructor(world: World, onEvent: (event: ServiceEvent) => void) {
    this.#world = world;
    this.#onEvent = onEvent;
    this.#random = world.random.fork('lifecycle-actions');
  }

  hooksOf(group: Group): readonly Hook[] {
    return [...(this.#hooks.get(group)?.values() ?? [])];
  }

  hooksFor(group: Group, transition: Transition): readonly Hook[] {
    return this.hooksOf(group).filter(hook => hook.transition === transition);
  }

  /** Creates the hook, or changes it. Actions that have begun keep the hook as it was. @throws ServiceError ValidationError */
  put(group: Group, name: string, settings: HookSettings): void {
    const earlier = this.#hooks.get(group)?.get(name);
    const transition = settings.transition ?? earlier?.transition;
    if (!transition) throw invalid('LifecycleTransition is required for a new lifecycle hook.');
    const hook: Hook = {
      name,
      transition,
      heartbeatTimeoutSeconds:
        settings.heartbeatTimeoutSeconds ?? earlier?.heartbeatTimeoutSeconds ?? DEFAULT_HEARTBEAT_SECONDS,
      defaultResult: settings.defaultResult ?? earlier?.defaultResult ?? 'ABANDON',
      metadata: settings.metadata ?? earlier?.metadata,
    };
    const [least, most] = HEARTBEAT_RANGE_SECONDS;
    if (hook.heartbeatTimeoutSeconds < least || hook.heartbeatTimeoutSeconds > most)
      throw invalid(`HeartbeatTimeout must be between ${least} and ${most} seconds.`);
    const hooks = this.#hooks.get(group) ?? new Map<string, Hook>();
    if (!earlier && hooks.size >= HOOKS_PER_GROUP)
      throw new ServiceError('LimitExceeded', `An Auto Scaling group has at most ${HOOKS_PER_GROUP} hooks.`);
    hooks.set(name, hook);
    this.#hooks.set(group, hooks);
  }

  /** Deletes the hook; its open actions are abandoned for launches, continued for terminations. @throws ServiceError ValidationError */
  delete(group: Group, name: string): void {
    if (!this.#hooks.get(group)?.delete(name)) throw noSuchHook(group, name);
    for (const action of this.#actions) {
      if (action.group !== group || action.hook.name !== name) continue;
      action.end(isLaunching(action.hook) ? 'ABANDON' : 'CONTINUE', 'Lifecycle Hook Deleted');
    }
  }

  /** Opens one action a hook of this transition and waits for all of them, or for the first that is abandoned. */
  wait(group: Group, member: Member, transition: Transition, leg = USUAL_LEGS[transition]): Promise<Outcome> {
    const hooks = this.hooksFor(group, transition);
    return new Promise(resolve => {
      let open = hooks.length;
      if (open === 0) resolve({ result: 'CONTINUE' });
      for (const hook of hooks) {
        this.#open(group, hook, { member, leg }, (action, result, why) => {
          open--;
          if (result === 'ABANDON') {
            this.cancel(member);
            const message = `Instance failed to complete user's Lifecycle Action: Lifecycle Action with token ${action.token} was abandoned: ${why}`;
            resolve({ result, message });
          } else if (open === 0) resolve({ result });
        });
      }
    });
  }

  /** Drops the actions of a member whose transition ends otherwise; nobody hears of them again. */
  cancel(member: Member): void {
    for (const action of this.#actions) if (action.member === member) this.#close(action);
  }

  /** @throws ServiceError ValidationError when no such action is active */
  complete(group: Group, ref: ActionRef, result: ActionResult): void {
    this.#active(group, ref).end(result, `Lifecycle Action Completed with ${result} Result`);
  }

  /** Restarts the heartbeat timeout. @throws ServiceError ValidationError when no such action is active */
  heartbeat(group: Group, ref: ActionRef): void {
    const action = this.#active(group, ref);
    action.heartbeat.cancel();
    action.heartbeat = this.#timeOut(action.hook.heartbeatTimeoutSeconds, action.hook, action.end);
  }

  #open(
    group: Group,
    hook: Hook,
    moving: Pick<Action, 'member' | 'leg'>,
    onEnd: (action: Action, result: ActionResult, why: string) => void,
  ): void {
    const end = (result: ActionResult, why: string) => {
      if (!this.#actions.has(action)) return;
      this.#close(action);
      onEnd(action, result, why);
    };
    const action: Action = {
      token: uuid(this.#random),
      group,
      hook,
      ...moving,
      end,
      heartbeat: this.#timeOut(hook.heartbeatTimeoutSeconds, hook, end),
      lastMoment: this.#timeOut(globalTimeoutSeconds(hook), hook, end),
    };
    this.#actions.add(action);
    this.#announce(action);
  }

  #timeOut(seconds: number, hook: Hook, end: Action['end']): Timer {
    return this.#world.clock.after(seconds * 1000, () => end(hook.defaultResult, 'Heartbeat Timeout'));
  }

  #close(action: Action): void {
    action.heartbeat.cancel();
    action.lastMoment.cancel();
    this.#actions.delete(action);
  }

  #active(group: Group, { hookName, token, instanceId }: ActionRef): Action {
    if (!this.#hooks.get(group)?.has(hookName ?? '')) throw noSuchHook(group, hookName);
    if (token === undefined && instanceId === undefined)
      throw invalid('Either LifecycleActionToken or InstanceId is required.');
    for (const action of this.#actions) {
      if (action.group !== group || action.hook.name !== hookName) continue;
      if (token === undefined ? action.member.instanceId === instanceId : action.token === token)
        return action;
    }
    throw invalid(
      `No active Lifecycle Action found with ${token === undefined ? `instance ID ${instanceId}` : `token ${token}`}`,
    );
  }

  #announce({ token, group, hook, member, leg }: Action): void {
    const launching = isLaunching(hook);
    this.#onEvent({
      source: 'aws.autoscaling',
      'detail-type': `EC2 Instance-${launching ? 'launch' : 'terminate'} Lifecycle Action`,
      resources: [group.settings.arn],
      detail: {
        LifecycleActionToken: token,
        AutoScalingGroupName: group.name,
        LifecycleHookName: hook.name,
        EC2InstanceId: member.instanceId,
        LifecycleTransition: hook.transition,
        ...(hook.metadata === undefined ? {} : { NotificationMetadata: hook.metadata }),
        Origin: leg.origin,
        Destination: leg.destination,
      },
    });
  }
}

/** A hook as the API shows it. */
export const describeHook = (group: Group, hook: Hook): LifecycleHook => ({
  LifecycleHookName: hook.name,
  AutoScalingGroupName: group.name,
  LifecycleTransition: hook.transition,
  HeartbeatTimeout: hook.heartbeatTimeoutSeconds,
  GlobalTimeout: globalTimeoutSeconds(hook),
  DefaultResult: hook.defaultResult,
  NotificationMetadata: hook.metadata,
});

const invalid = (message: string): ServiceError => new ServiceError('ValidationError', message);

const noSuchHook = (group: Group, name: string | undefined): ServiceError =>
  invalid(`No Lifecycle Hook found with name ${name} for Auto Scaling group ${group.name}`);
