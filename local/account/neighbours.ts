import type { Application } from './application.ts';

/** What one simulated service asks of another, without going through an API. */

export type InstanceState = 'pending' | 'running' | 'shutting-down' | 'terminated' | 'stopping' | 'stopped';

export interface Instance {
  readonly id: string;
  readonly state: InstanceState;
  /** `eu-west-1a`, and `euw1-az1`. */
  readonly zone: string;
  readonly zoneId: string;
  readonly vpcId: string;
  readonly subnetId: string;
  /** The first is the primary address. */
  readonly privateAddresses: readonly [string, ...string[]];
  readonly securityGroupIds: readonly string[];
  readonly launchedAt: number;
  readonly tags: ReadonlyMap<string, string>;
  readonly application: Application;
}

export interface LaunchSpec {
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** How long the application needs after boot. */
  readonly startUpSeconds: number;
  /** Already running and up, as a fleet that exists before the simulation begins. */
  readonly seasoned?: boolean;
  readonly extraAddresses?: number;
  /** The ports on which the application answers: every one unless given. */
  readonly listensOn?: ReadonlySet<number> | undefined;
}

export interface Instances {
  instance(id: string): Instance | undefined;
  byAddress(address: string): Instance | undefined;
  /** All that are not terminated. */
  live(): Iterable<Instance>;
  launch(spec: LaunchSpec): Instance;
  terminate(id: string): void;
  /** Stops a running instance; its application stops with it. */
  stop(id: string): void;
  /** Starts a stopped instance, and its application with it. */
  start(id: string, startUpSeconds: number): void;
  onState(hear: (instance: Instance) => void): void;
  /** May a connection from inside the VPC (from these security groups) reach the instance's port? */
  reachable(instance: Instance, port: number, fromSecurityGroupIds: readonly string[]): boolean;
}

export type OverallStatus =
  | 'ok'
  | 'impaired'
  | 'initializing'
  | 'insufficient-data'
  | 'not-applicable'
  | 'suppressed';

export interface ApplicationStatuses {
  /** What the service itself knows now, without the lag of the Describe calls. */
  overall(instanceId: string): { readonly status: OverallStatus; readonly since: number };
  /** Is at least one included check associated with the instance? */
  hasIncludedCheck(instanceId: string): boolean;
  onOverall(hear: (instanceId: string, status: OverallStatus) => void): void;
}

export type TargetState =
  | 'initial'
  | 'healthy'
  | 'unhealthy'
  | 'unhealthy.draining'
  | 'unused'
  | 'draining'
  | 'unavailable';

export interface Target {
  readonly id: string;
  readonly port: number;
}

export interface TargetGroups {
  register(targetGroupArn: string, targets: readonly { readonly id: string; readonly port?: number }[]): void;
  deregister(
    targetGroupArn: string,
    targets: readonly { readonly id: string; readonly port?: number }[],
  ): void;
  /** The true states of every target of the instance (by id or by address) in this group; empty when it has none. */
  statesOf(
    targetGroupArn: string,
    instance: Instance,
  ): readonly { readonly target: Target; readonly state: TargetState }[];
  deregistrationDelaySeconds(targetGroupArn: string): number;
}

export interface Metrics {
  /** Keeps one data point, at the current instant unless `at` says another. */
  put(metric: {
    readonly namespace: string;
    readonly name: string;
    readonly dimensions: Readonly<Record<string, string>>;
    readonly value: number;
    readonly at?: number;
  }): void;
}

/** Where a service has interfaces of its own. */
export interface ServiceInterfaces {
  /** Makes one in its customer's name. @returns its private address */
  addRequested(spec: {
    readonly subnetId: string;
    readonly groupIds: readonly string[];
    readonly description: string;
    readonly requesterId: string;
  }): string;
}

/** Where a load balancer keeps its logs. */
export interface LogBuckets {
  /**
   * Writes an object as one of AWS's own services, by the bucket's policy.
   *
   * @throws ServiceError NoSuchBucket, AccessDenied
   */
  deliver(object: {
    readonly bucket: string;
    readonly key: string;
    readonly bytes: Uint8Array;
    readonly principal: string;
  }): void;
}

/** An event as a service puts it on the default event bus, which adds id, version, account, time and region. */
export interface ServiceEvent {
  readonly source: string;
  readonly 'detail-type': string;
  readonly resources: readonly string[];
  readonly detail: EventDetail;
}

export interface EventDetail {
  readonly [member: string]: EventValue;
}

type EventValue = string | number | boolean | null | EventDetail | readonly EventValue[];
