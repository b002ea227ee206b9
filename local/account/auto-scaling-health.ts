import type { Timer } from '../clock/virtual-clock.ts';
import type { Group, MarkedBy, Member } from './auto-scaling-group.ts';
import type { ApplicationStatuses, Instance, Instances, TargetGroups, TargetState } from './neighbours.ts';
import type { World } from './world.ts';

export interface HealthContext {
  readonly world: World;
  readonly instances: Instances;
  readonly statuses: ApplicationStatuses;
  readonly targetGroups: TargetGroups;
  readonly memberOf: (instanceId: string) => { readonly group: Group; readonly member: Member } | undefined;
  readonly onMarked: (group: Group) => void;
}

/**
 * Marks members Unhealthy. A mark never heals by itself: it is acted on, or SetInstanceHealth lifts it.
 *
 * Only members in service are checked. While HealthCheck is suspended nobody is marked by a check.
 */
export class HealthWatch {
  readonly #context: HealthContext;
  readonly #patience = new Map<Member, Timer>();
  readonly #polls = new Map<Group, Timer>();

  constructor(context: HealthContext) {
    this.#context = context;
    const look = (instanceId: string) => {
      const found = context.memberOf(instanceId);
      if (found) this.consider(found.group, found.member);
    };
    context.instances.onState(({ id }) => look(id));
    context.statuses.onOverall(look);
  }

  /** Judges a member by its instance's state and application status, now and when Auto Scaling's patience ends. */
  consider(group: Group, member: Member): void {
    this.#patience.get(member)?.cancel();
    this.#patience.delete(member);
    if (!isChecked(member)) return;
    if (!this.#running(member)) {
      // The guide: an instance that does not run is replaced at once, even in its grace period.
      if (!group.suspends('HealthCheck')) this.#mark(group, member, 'ec2');
      return;
    }
    const actsAt = this.#actsOnImpairedAt(group, member);
    if (actsAt === undefined) return;
    const { clock } = this.#context.world;
    if (actsAt <= clock.now()) this.#mark(group, member, 'application-status');
    else
      this.#patience.set(
        member,
        clock.after(actsAt - clock.now(), () => this.consider(group, member)),
      );
  }

  /** Judges every member again: a setting or a suspended process of the group has changed. */
  considerAll(group: Group): void {
    for (const member of group.members.values()) this.consider(group, member);
    const poll = this.#polls.get(group);
    if (group.checksLoadBalancers && !poll) this.#polls.set(group, this.#startPolling(group));
    else if (!group.checksLoadBalancers && poll) {
      poll.cancel();
      this.#polls.delete(group);
    }
  }

  /** Sets a member's health by hand. In its grace period a mark that respects it does nothing. */
  set(group: Group, member: Member, healthy: boolean, respectsGrace: boolean): void {
    if (healthy) {
      member.unhealthy = undefined;
      this.consider(group, member);
    } else if (!member.unhealthy && !(respectsGrace && this.#inGrace(group, member)))
      this.#mark(group, member, 'custom');
  }

  /** A target group attached to a group that exists counts once a member has been healthy in it. */
  settleAttachments(group: Group): void {
    for (const [arn, state] of group.targetGroups) {
      if (state === 'InService') continue;
      const passes = group.inService.some(member => this.#statesOf(arn, member).includes('healthy'));
      if (passes) group.targetGroups.set(arn, 'InService');
    }
  }

  /**
   * When Auto Scaling would act on the application status; undefined when it is not `impaired` or does not count.
   *
   * What was impaired for long enough while HealthCheck was suspended is acted on at the moment of resuming:
   * undocumented, and the harder reading for whoever resumes.
   */
  #actsOnImpairedAt(group: Group, member: Member): number | undefined {
    const { statuses, world } = this.#context;
    if (group.suspends('HealthCheck') && world.physics.suspendingCoversApplicationStatus) return undefined;
    const { status, since } = statuses.overall(member.instanceId);
    if (status !== 'impaired') return undefined;
    const patienceEndsAt = since + world.physics.autoScalingActsAfterImpairedSeconds * 1000;
    return Math.max(patienceEndsAt, group.graceEndsAt(member));
  }

  #startPolling(group: Group): Timer {
    const { clock, physics, random } = this.#context.world;
    const periodMs = physics.autoScalingElbPollSeconds * 1000;
    const phaseMs = random.fork(`elb-poll:${group.name}`).between(0, periodMs);
    return clock.every(periodMs, () => this.#pollLoadBalancers(group), phaseMs);
  }

  #pollLoadBalancers(group: Group): void {
    this.settleAttachments(group);
    if (group.suspends('HealthCheck')) return;
    for (const member of group.inService) {
      if (isChecked(member) && !this.#inGrace(group, member) && this.#failsLoadBalancers(group, member))
        this.#mark(group, member, 'elb');
    }
  }

  /** Any one attached target group suffices. */
  #failsLoadBalancers(group: Group, member: Member): boolean {
    return [...group.targetGroups].some(([arn, attachment]) => {
      if (attachment !== 'InService') return false;
      const states = this.#statesOf(arn, member);
      return (
        states.some(state => state === 'unhealthy' || state === 'unhealthy.draining') ||
        (member.attachedTo.has(arn) && states.every(state => this.#isOutOfUse(state)))
      );
    });
  }

  #isOutOfUse(state: TargetState): boolean {
    return (
      state === 'unused' || (state === 'draining' && this.#context.world.physics.autoScalingCountsDraining)
    );
  }

  #statesOf(targetGroupArn: string, member: Member): readonly TargetState[] {
    const instance = this.#instance(member);
    if (!instance) return [];
    return this.#context.targetGroups.statesOf(targetGroupArn, instance).map(({ state }) => state);
  }

  #inGrace(group: Group, member: Member): boolean {
    return this.#context.world.clock.now() < group.graceEndsAt(member);
  }

  #running(member: Member): boolean {
    return this.#instance(member)?.state === 'running';
  }

  #instance(member: Member): Instance | undefined {
    return this.#context.instances.instance(member.instanceId);
  }

  #mark(group: Group, member: Member, by: MarkedBy): void {
    member.unhealthy = by;
    const { instanceId } = member;
    this.#context.world.journal.record({ type: 'marked-unhealthy', group: group.name, instanceId, by });
    this.#context.onMarked(group);
  }
}

const isChecked = (member: Member): boolean => member.lifecycle === 'InService' && !member.unhealthy;
