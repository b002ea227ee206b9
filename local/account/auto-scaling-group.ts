import type {
  InstanceMaintenancePolicy,
  InstanceRefresh,
  LifecycleState,
} from '@aws-sdk/client-auto-scaling';
import type { Journal } from './journal.ts';
import type { Instance } from './neighbours.ts';

export const processes = [
  'Launch',
  'Terminate',
  'AddToLoadBalancer',
  'AlarmNotification',
  'AZRebalance',
  'HealthCheck',
  'InstanceRefresh',
  'ReplaceUnhealthy',
  'ScheduledActions',
] as const;
export type Process = (typeof processes)[number];

/** EBS exists too; it is not simulated. */
export type HealthCheckType = 'EC2' | 'ELB' | 'VPC_LATTICE';

/** Why a member was marked Unhealthy. */
export type MarkedBy = 'ec2' | 'application-status' | 'elb' | 'custom';

/** One instance of a group. */
export interface Member {
  readonly instanceId: string;
  readonly subnetId: string;
  readonly zone: string;
  readonly zoneId: string;
  /** Changed by `Group.move` only. */
  readonly lifecycle: LifecycleState;
  /** Undefined is Healthy. */
  unhealthy: MarkedBy | undefined;
  /** When the health check grace period last began: at InService. */
  graceFrom: number;
  /** The target groups that Auto Scaling itself registered it with. */
  readonly attachedTo: Set<string>;
  /** Launched for an instance that was marked Unhealthy. */
  replacesUnhealthy: boolean;
  /** Standby took it out of the desired capacity; leaving Standby brings it back. */
  leftDesiredCapacity: boolean;
}

/** What a new instance of the group is. */
export interface GroupLaunchSpec {
  readonly securityGroupIds: readonly string[];
  readonly startUpSeconds: number;
  readonly listensOn?: ReadonlySet<number> | undefined;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface GroupSettings {
  readonly name: string;
  readonly arn: string;
  readonly createdAt: number;
  /** One subnet a zone. */
  readonly subnetIds: readonly [string, ...string[]];
  readonly tags: Readonly<Record<string, string>>;
  readonly launchSpec: GroupLaunchSpec;
}

const PENDING: ReadonlySet<LifecycleState> = new Set(['Pending', 'Pending:Wait', 'Pending:Proceed']);
const SETTLED: ReadonlySet<LifecycleState> = new Set([
  'InService',
  'Standby',
  'Warmed:Running',
  'Warmed:Stopped',
  'Terminating:Retained',
]);

/** The state of one Auto Scaling group. It decides nothing. */
export class Group {
  readonly settings: GroupSettings;
  minSize = 0;
  maxSize = 0;
  desiredCapacity = 0;
  healthCheckTypes: readonly HealthCheckType[] = ['EC2'];
  healthCheckGracePeriodSeconds = 0;
  maintenancePolicy: InstanceMaintenancePolicy | undefined;
  /** `Added` until one member is healthy there; only then its health checks count. */
  readonly targetGroups = new Map<string, 'Added' | 'InService'>();
  readonly suspended = new Map<Process, string>();
  readonly members = new Map<string, Member>();
  readonly refreshes: InstanceRefresh[] = [];
  /** Unhealthy instances whose termination began and whose replacement was not launched yet. */
  owedReplacements = 0;
  /** What the group keeps warm; undefined without a warm pool. */
  warmPool: { readonly size: number; readonly state: 'Warmed:Running' | 'Warmed:Stopped' } | undefined;
  readonly #journal: Journal;

  constructor(settings: GroupSettings, journal: Journal) {
    this.settings = settings;
    this.#journal = journal;
  }

  get name(): string {
    return this.settings.name;
  }

  add(instance: Instance, lifecycle: LifecycleState, replacesUnhealthy = false): Member {
    const member: Member = {
      instanceId: instance.id,
      subnetId: instance.subnetId,
      zone: instance.zone,
      zoneId: instance.zoneId,
      lifecycle,
      unhealthy: undefined,
      graceFrom: Number.NEGATIVE_INFINITY,
      attachedTo: new Set(),
      replacesUnhealthy,
      leftDesiredCapacity: false,
    };
    this.members.set(instance.id, member);
    this.move(member, lifecycle);
    return member;
  }

  move(member: Member, lifecycle: LifecycleState): void {
    Object.assign(member, { lifecycle });
    if (lifecycle === 'Terminated') this.members.delete(member.instanceId);
    this.#journal.record({
      type: 'lifecycle',
      group: this.name,
      instanceId: member.instanceId,
      state: lifecycle,
    });
  }

  suspends(process: Process): boolean {
    return this.suspended.has(process);
  }

  get checksLoadBalancers(): boolean {
    return this.healthCheckTypes.some(type => type === 'ELB' || type === 'VPC_LATTICE');
  }

  get inService(): readonly Member[] {
    return [...this.members.values()].filter(member => member.lifecycle === 'InService');
  }

  get pending(): readonly Member[] {
    return [...this.members.values()].filter(isPending);
  }

  /** Nothing is being launched, moved or terminated. */
  get isSettled(): boolean {
    return [...this.members.values()].every(member => SETTLED.has(member.lifecycle));
  }

  graceEndsAt(member: Member): number {
    return member.graceFrom + this.healthCheckGracePeriodSeconds * 1000;
  }
}

export const isPending = (member: Member): boolean => PENDING.has(member.lifecycle);

export const isTerminating = (member: Member): boolean => member.lifecycle.startsWith('Terminat');

export const isWarm = (member: Member): boolean => member.lifecycle.startsWith('Warmed:');
