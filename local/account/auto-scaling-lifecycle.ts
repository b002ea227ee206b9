import type { Activities, ScalingActivity } from './auto-scaling-activities.ts';
import { causes } from './auto-scaling-causes.ts';
import { type Group, isTerminating, type Member } from './auto-scaling-group.ts';
import type { Leg, LifecycleHooks, Outcome, Transition } from './lifecycle-hooks.ts';
import type { Instance, InstanceState, Instances, TargetGroups } from './neighbours.ts';
import type { World } from './world.ts';

/** How often Auto Scaling looks whether targets still drain. AWS publishes no period. */
const DRAIN_POLL_MS = 5000;

const LAUNCHING = 'autoscaling:EC2_INSTANCE_LAUNCHING';
const FROM_POOL: Leg = { origin: 'WarmPool', destination: 'AutoScalingGroup' };
const INTO_POOL: Leg = { origin: 'EC2', destination: 'WarmPool' };

interface Waiter {
  readonly wanted: (state: InstanceState) => boolean;
  readonly resolve: (state: InstanceState) => void;
}

export interface LifecycleContext {
  readonly world: World;
  readonly instances: Instances;
  readonly targetGroups: TargetGroups;
  readonly activities: Activities;
  readonly hooks: LifecycleHooks;
  /** A member has entered or left a state: its health and the group's capacity have to be looked at. */
  readonly onChange: (group: Group, member: Member) => void;
}

/**
 * Moves members from state to state, each move an activity: launch, terminate, enter and exit Standby.
 *
 * A move begins at once and goes on by itself. It gives up when another one has taken the member over.
 */
export class Lifecycle {
  readonly #context: LifecycleContext;
  readonly #waiters = new Map<string, Waiter>();

  constructor(context: LifecycleContext) {
    this.#context = context;
    context.instances.onState(({ id, state }) => {
      const waiter = this.#waiters.get(id);
      if (!waiter?.wanted(state)) return;
      this.#waiters.delete(id);
      waiter.resolve(state);
    });
  }

  launch(group: Group, subnetId: string, cause: string, replacesUnhealthy: boolean): ScalingActivity {
    const member = group.add(this.newInstance(group, subnetId, false), 'Pending', replacesUnhealthy);
    const activity = this.#context.activities.begin(group, 'launch', member, cause);
    this.#unattended(this.#launching(group, member, activity));
    return activity;
  }

  /**
   * Takes a member out of the warm pool: it is started if it was stopped, and the launch hooks of the group run (again).
   * Source: the guide, "Warm pools for Amazon EC2 Auto Scaling" and "Warm pool instance lifecycle".
   */
  launchFromPool(group: Group, member: Member, cause: string, replacesUnhealthy: boolean): ScalingActivity {
    const { instances, activities } = this.#context;
    member.replacesUnhealthy = replacesUnhealthy;
    if (member.lifecycle === 'Warmed:Stopped')
      instances.start(member.instanceId, group.settings.launchSpec.startUpSeconds);
    group.move(member, 'Pending');
    const activity = activities.begin(group, 'launch', member, cause);
    this.#unattended(this.#launching(group, member, activity, FROM_POOL));
    return activity;
  }

  /** Launches a new member of the warm pool, through the launch hooks of the group. */
  launchIntoPool(group: Group, subnetId: string, state: 'Warmed:Running' | 'Warmed:Stopped'): void {
    const member = group.add(this.newInstance(group, subnetId, false), 'Warmed:Pending');
    this.#unattended(this.#warming(group, member, state));
  }

  /** Starts an instance with the group's launch specification and its tag. */
  newInstance(group: Group, subnetId: string, seasoned: boolean): Instance {
    const { securityGroupIds, startUpSeconds, listensOn, tags } = group.settings.launchSpec;
    return this.#context.instances.launch({
      subnetId,
      securityGroupIds,
      startUpSeconds,
      listensOn,
      seasoned,
      tags: { ...tags, 'aws:autoscaling:groupName': group.name },
    });
  }

  /** Puts a member in service: registers it, unless AddToLoadBalancer is suspended, and starts its grace period. */
  enterService(group: Group, member: Member, graceFrom: number): void {
    if (!group.suspends('AddToLoadBalancer'))
      for (const arn of group.targetGroups.keys()) this.attach(arn, member);
    member.graceFrom = graceFrom;
    group.move(member, 'InService');
    this.#context.onChange(group, member);
  }

  /** Registers the member on the target group's default port. An instance that does not run cannot be registered. */
  attach(targetGroupArn: string, member: Member): void {
    if (this.#context.instances.instance(member.instanceId)?.state !== 'running') return;
    this.#context.targetGroups.register(targetGroupArn, [{ id: member.instanceId }]);
    member.attachedTo.add(targetGroupArn);
  }

  terminate(group: Group, member: Member, cause: string): ScalingActivity {
    const activity = this.#takeOver(group, member, 'terminate', cause, 'Terminating');
    this.#unattended(this.#terminating(group, member, activity));
    return activity;
  }

  enterStandby(group: Group, member: Member, cause: string): ScalingActivity {
    const activity = this.#takeOver(group, member, 'enter-standby', cause, 'EnteringStandby');
    this.#unattended(this.#enteringStandby(group, member, activity));
    return activity;
  }

  exitStandby(group: Group, member: Member): ScalingActivity {
    const { clock } = this.#context.world;
    const cause = causes.exitStandby(clock.now(), member.instanceId);
    const activity = this.#takeOver(group, member, 'exit-standby', cause, 'Pending');
    clock.after(0, () => {
      if (member.lifecycle !== 'Pending') return;
      this.enterService(group, member, clock.now());
      this.#context.activities.succeed(activity);
    });
    return activity;
  }

  /** A member that runs waits for the hooks of its launch, then enters service. */
  finishLaunch(group: Group, member: Member, activity: ScalingActivity): void {
    this.#unattended(this.#finishLaunch(group, member, activity));
  }

  /** A member that has drained waits for the hooks of its termination; then it is terminated, whatever they answer. */
  finishTermination(group: Group, member: Member, activity: ScalingActivity): void {
    this.#unattended(this.#finishTermination(group, member, activity));
  }

  async #finishLaunch(group: Group, member: Member, activity: ScalingActivity, leg?: Leg): Promise<void> {
    const outcome = await this.#hooksOf(group, member, activity, LAUNCHING, 'Pending', leg);
    if (isTerminating(member)) return;
    if (outcome.result === 'ABANDON') return this.#abandonLaunch(group, member, activity, outcome.message);
    this.enterService(group, member, this.#context.world.clock.now());
    this.#context.activities.succeed(activity);
  }

  async #warming(group: Group, member: Member, settled: 'Warmed:Running' | 'Warmed:Stopped'): Promise<void> {
    const { hooks, instances } = this.#context;
    await this.#reaches(member.instanceId, reached => reached !== 'pending');
    if (hooks.hooksFor(group, LAUNCHING).length > 0) {
      group.move(member, 'Warmed:Pending:Wait');
      const outcome = await hooks.wait(group, member, LAUNCHING, INTO_POOL);
      if (outcome.result === 'ABANDON') return this.#endInstance(group, member);
      group.move(member, 'Warmed:Pending:Proceed');
    }
    if (settled === 'Warmed:Stopped') {
      instances.stop(member.instanceId);
      await this.#reaches(member.instanceId, reached => reached === 'stopped');
    }
    group.move(member, settled);
    this.#context.onChange(group, member);
  }

  async #launching(group: Group, member: Member, activity: ScalingActivity, leg?: Leg): Promise<void> {
    const state = await this.#reaches(member.instanceId, reached => reached !== 'pending');
    if (isTerminating(member)) return;
    if (state === 'running') return this.#finishLaunch(group, member, activity, leg);
    return this.#abandonLaunch(group, member, activity, `The instance is ${state} instead of running.`);
  }

  async #abandonLaunch(
    group: Group,
    member: Member,
    activity: ScalingActivity,
    message: string,
  ): Promise<void> {
    this.#context.activities.fail(activity, message);
    if (member.replacesUnhealthy) group.owedReplacements++;
    group.move(member, 'Terminating');
    await this.#endInstance(group, member);
  }

  async #terminating(group: Group, member: Member, activity: ScalingActivity): Promise<void> {
    await this.#drain(group, member, activity);
    await this.#finishTermination(group, member, activity);
  }

  async #finishTermination(group: Group, member: Member, activity: ScalingActivity): Promise<void> {
    await this.#hooksOf(group, member, activity, 'autoscaling:EC2_INSTANCE_TERMINATING', 'Terminating');
    await this.#endInstance(group, member);
    this.#context.activities.succeed(activity);
  }

  async #enteringStandby(group: Group, member: Member, activity: ScalingActivity): Promise<void> {
    await this.#drain(group, member, activity);
    if (member.lifecycle !== 'EnteringStandby') return;
    group.move(member, 'Standby');
    this.#context.activities.succeed(activity);
    this.#context.onChange(group, member);
  }

  #takeOver(
    group: Group,
    member: Member,
    kind: ScalingActivity['kind'],
    cause: string,
    lifecycle: 'Terminating' | 'EnteringStandby' | 'Pending',
  ): ScalingActivity {
    this.#context.hooks.cancel(member);
    this.#context.activities.cancelOf(member);
    group.move(member, lifecycle);
    const activity = this.#context.activities.begin(group, kind, member, cause);
    this.#context.onChange(group, member);
    return activity;
  }

  async #hooksOf(
    group: Group,
    member: Member,
    activity: ScalingActivity,
    transition: Transition,
    state: 'Pending' | 'Terminating',
    leg?: Leg,
  ): Promise<Outcome> {
    const { hooks } = this.#context;
    if (hooks.hooksFor(group, transition).length === 0) return { result: 'CONTINUE' };
    group.move(member, `${state}:Wait`);
    activity.statusCode = 'MidLifecycleAction';
    const outcome = await hooks.wait(group, member, transition, leg);
    activity.statusCode = 'InProgress';
    group.move(member, `${state}:Proceed`);
    return outcome;
  }

  async #endInstance(group: Group, member: Member): Promise<void> {
    const { instances } = this.#context;
    if (instances.instance(member.instanceId)) {
      instances.terminate(member.instanceId);
      await this.#reaches(member.instanceId, state => state === 'terminated');
    }
    group.move(member, 'Terminated');
    this.#context.onChange(group, member);
  }

  /** Deregisters the member from the group's target groups, on their default ports, and waits while it drains. */
  async #drain(group: Group, member: Member, activity: ScalingActivity): Promise<void> {
    const { world, instances, targetGroups } = this.#context;
    const arns = [...group.targetGroups.keys()];
    for (const arn of arns) targetGroups.deregister(arn, [{ id: member.instanceId }]);
    member.attachedTo.clear();
    const isDraining = () => {
      const instance = instances.instance(member.instanceId);
      return (
        instance !== undefined &&
        arns.some(arn => targetGroups.statesOf(arn, instance).some(({ state }) => state === 'draining'))
      );
    };
    while (isDraining()) {
      activity.statusCode = 'WaitingForELBConnectionDraining';
      await world.clock.sleep(DRAIN_POLL_MS);
    }
    activity.statusCode = 'InProgress';
  }

  async #reaches(instanceId: string, wanted: Waiter['wanted']): Promise<InstanceState> {
    const state = this.#context.instances.instance(instanceId)?.state ?? 'terminated';
    if (wanted(state)) return state;
    return new Promise(resolve => this.#waiters.set(instanceId, { wanted, resolve }));
  }

  /** Goes on without anybody waiting for it: an error in it ends the simulation. */
  #unattended(move: Promise<void>): void {
    move.catch(error => this.#context.world.clock.fail(error));
  }
}
