import type { InstanceMaintenancePolicy } from '@aws-sdk/client-auto-scaling';
import * as client from '@aws-sdk/client-auto-scaling';
import { type Service, ServiceError } from '../wire/contract.ts';
import { Activities } from './auto-scaling-activities.ts';
import { autoScalingActs } from './auto-scaling-acts.ts';
import { Capacity } from './auto-scaling-capacity.ts';
import { causes } from './auto-scaling-causes.ts';
import { autoScalingDescriptions } from './auto-scaling-descriptions.ts';
import { Group, type GroupLaunchSpec, type HealthCheckType, type Member } from './auto-scaling-group.ts';
import { HealthWatch } from './auto-scaling-health.ts';
import { Lifecycle } from './auto-scaling-lifecycle.ts';
import { InstanceRefreshes } from './instance-refresh.ts';
import { LifecycleHooks, type Transition } from './lifecycle-hooks.ts';
import type { ApplicationStatuses, Instance, Instances, ServiceEvent, TargetGroups } from './neighbours.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

export interface AutoScalingContext {
  readonly world: World;
  readonly instances: Instances;
  readonly statuses: ApplicationStatuses;
  readonly targetGroups: TargetGroups;
  readonly onEvent: (event: ServiceEvent) => void;
}

export interface NewGroup {
  readonly name: string;
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredCapacity: number;
  /** One subnet a zone. */
  readonly subnetIds: readonly [string, ...string[]];
  readonly targetGroupArns?: readonly string[];
  readonly healthCheckTypes?: readonly HealthCheckType[];
  readonly healthCheckGracePeriodSeconds?: number;
  /** Tags of the group itself; those of its instances are in the launch specification. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly launchSpec: GroupLaunchSpec;
  /** Its instances are up, in service and registered already; otherwise they are launched now. */
  readonly seasoned: boolean;
  readonly maintenancePolicy?: InstanceMaintenancePolicy;
}

/** The states of a member that is not in service, for scenarios. */
export type OtherState =
  | 'Standby'
  | 'Pending:Wait'
  | 'Terminating:Wait'
  | 'Terminating:Retained'
  | 'Warmed:Running'
  | 'Warmed:Stopped';

/** EC2 Auto Scaling: its groups, what it does to their instances by itself, and what its API shows and does. */
export class AutoScaling {
  readonly world: World;
  readonly activities: Activities;
  readonly hooks: LifecycleHooks;
  readonly lifecycle: Lifecycle;
  readonly health: HealthWatch;
  readonly capacity: Capacity;
  readonly refreshes: InstanceRefreshes;
  readonly #context: AutoScalingContext;
  readonly #groups = new Map<string, Group>();
  readonly #random;

  constructor(context: AutoScalingContext) {
    const { world, onEvent } = context;
    this.#context = context;
    this.world = world;
    this.#random = world.random.fork('auto-scaling');
    this.activities = new Activities(world, onEvent);
    this.hooks = new LifecycleHooks(world, onEvent);
    this.health = new HealthWatch({
      ...context,
      memberOf: instanceId => this.memberOf(instanceId),
      onMarked: group => this.capacity.reconcile(group),
    });
    this.lifecycle = new Lifecycle({
      ...context,
      activities: this.activities,
      hooks: this.hooks,
      onChange: (group, member) => {
        this.health.consider(group, member);
        this.capacity.reconcile(group);
      },
    });
    this.capacity = new Capacity(world, this.lifecycle);
    this.refreshes = new InstanceRefreshes(world, this.lifecycle);
  }

  addGroup(spec: NewGroup): Group {
    if (this.#groups.has(spec.name)) throw new Error(`there is an Auto Scaling group ${spec.name} already`);
    const { partition, region, accountId, clock, journal } = this.world;
    const group = new Group(
      {
        name: spec.name,
        arn: `arn:${partition}:autoscaling:${region}:${accountId}:autoScalingGroup:${uuid(this.#random)}:autoScalingGroupName/${spec.name}`,
        createdAt: clock.now(),
        subnetIds: spec.subnetIds,
        tags: spec.tags ?? {},
        launchSpec: spec.launchSpec,
      },
      journal,
    );
    group.minSize = spec.minSize;
    group.maxSize = spec.maxSize;
    group.desiredCapacity = spec.desiredCapacity;
    group.healthCheckTypes = spec.healthCheckTypes ?? ['EC2'];
    group.healthCheckGracePeriodSeconds = spec.healthCheckGracePeriodSeconds ?? 0;
    group.maintenancePolicy = spec.maintenancePolicy;
    // The SDK's documentation: a target group attached at creation enters InService at once.
    for (const arn of spec.targetGroupArns ?? []) group.targetGroups.set(arn, 'InService');
    this.#groups.set(group.name, group);
    if (spec.seasoned) for (let n = 0; n < spec.desiredCapacity; n++) this.#addSeasoned(group, n);
    this.health.considerAll(group);
    this.capacity.reconcile(group);
    return group;
  }

  /**
   * Adds one instance that is in another state than InService. Those that wait for a hook need one in the group, and
   * get its lifecycle action; one in Pending:Wait raises the desired capacity, as a scale-out does.
   */
  addMember(groupName: string, state: OtherState): Member {
    const group = this.group(groupName);
    switch (state) {
      case 'Pending:Wait':
        return this.#addLaunching(group);
      case 'Terminating:Wait':
        return this.#addTerminating(group);
      case 'Standby':
      case 'Terminating:Retained':
      case 'Warmed:Running':
      case 'Warmed:Stopped': {
        const instance = this.#seasonedInstance(group, group.members.size);
        if (state === 'Warmed:Stopped') this.#context.instances.stop(instance.id);
        if (state === 'Warmed:Stopped' || state === 'Warmed:Running')
          group.warmPool = { size: (group.warmPool?.size ?? 0) + 1, state };
        return group.add(instance, state);
      }
    }
  }

  /** Attaches a target group to a group that exists: registers its instances; its health checks count from the first pass. */
  attachTargetGroup(groupName: string, targetGroupArn: string): void {
    const group = this.group(groupName);
    group.targetGroups.set(targetGroupArn, 'Added');
    for (const member of group.inService) this.lifecycle.attach(targetGroupArn, member);
  }

  /** A group with the settings of another one, which launches as many instances; in no target group yet. */
  copyGroup(original: Group, name: string): Group {
    const { subnetIds, tags, launchSpec } = original.settings;
    const { minSize, maxSize, desiredCapacity, healthCheckTypes, healthCheckGracePeriodSeconds } = original;
    const sizes = { minSize, maxSize, desiredCapacity };
    const healthChecks = { healthCheckTypes, healthCheckGracePeriodSeconds };
    return this.addGroup({ name, ...sizes, ...healthChecks, subnetIds, tags, launchSpec, seasoned: false });
  }

  /** Deletes a group and terminates its instances with it. */
  deleteGroup(name: string): void {
    const group = this.group(name);
    Object.assign(group, { minSize: 0, desiredCapacity: 0 });
    const ids = [...group.members.keys()];
    group.members.clear();
    this.#groups.delete(name);
    for (const id of ids) this.#context.instances.terminate(id);
  }

  groups(): readonly Group[] {
    return [...this.#groups.values()];
  }

  /** @throws ServiceError ValidationError */
  group(name: string | undefined): Group {
    const group = this.#groups.get(name ?? '');
    if (!group)
      throw new ServiceError(
        'ValidationError',
        `AutoScalingGroup name not found - AutoScalingGroup '${name}' not found`,
      );
    return group;
  }

  memberOf(instanceId: string): { readonly group: Group; readonly member: Member } | undefined {
    for (const group of this.#groups.values()) {
      const member = group.members.get(instanceId);
      if (member) return { group, member };
    }
    return undefined;
  }

  #addSeasoned(group: Group, number: number): void {
    const member = group.add(this.#seasonedInstance(group, number), 'Pending');
    this.lifecycle.enterService(group, member, Number.NEGATIVE_INFINITY);
  }

  #addLaunching(group: Group): Member {
    this.#requireHook(group, 'autoscaling:EC2_INSTANCE_LAUNCHING');
    const member = group.add(this.#seasonedInstance(group, group.members.size), 'Pending');
    const cause = causes.grow(this.world.clock.now(), group.desiredCapacity, ++group.desiredCapacity);
    this.lifecycle.finishLaunch(group, member, this.activities.begin(group, 'launch', member, cause));
    return member;
  }

  #addTerminating(group: Group): Member {
    this.#requireHook(group, 'autoscaling:EC2_INSTANCE_TERMINATING');
    const member = group.add(this.#seasonedInstance(group, group.members.size), 'Terminating');
    const cause = causes.userTermination(this.world.clock.now(), member.instanceId);
    const activity = this.activities.begin(group, 'terminate', member, cause);
    this.lifecycle.finishTermination(group, member, activity);
    return member;
  }

  #seasonedInstance(group: Group, number: number): Instance {
    const { subnetIds } = group.settings;
    return this.lifecycle.newInstance(group, subnetIds[number % subnetIds.length] ?? subnetIds[0], true);
  }

  #requireHook(group: Group, transition: Transition): void {
    if (this.hooks.hooksFor(group, transition).length === 0)
      throw new Error(`${group.name} has no lifecycle hook for ${transition}`);
  }
}

/** The API of EC2 Auto Scaling. */
export const autoScalingService = (autoScaling: AutoScaling): Service => ({
  name: 'autoscaling',
  client,
  protocol: { kind: 'query', version: '2011-01-01' },
  operations: { ...autoScalingDescriptions(autoScaling), ...autoScalingActs(autoScaling) },
});
