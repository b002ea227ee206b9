import type { Timer } from '../clock/virtual-clock.ts';
import type { Instance, Instances, Target, TargetState } from './neighbours.ts';
import type { TargetGroupAttributes } from './target-group-attributes.ts';

/** The records that Elastic Load Balancing keeps: load balancers, target groups and their registered targets. */

export type LoadBalancerType = 'application' | 'network';
export type TargetType = 'instance' | 'ip' | 'lambda' | 'alb';
export type GroupProtocol = 'HTTP' | 'HTTPS' | 'TCP' | 'TLS' | 'QUIC' | 'TCP_QUIC';

/** An enabled Availability Zone: its name (`eu-west-1a`), its id (`euw1-az1`) and its subnet. */
export interface EnabledZone {
  readonly zone: string;
  readonly zoneId: string;
  readonly subnetId?: string;
}

/** Where the nodes of a load balancer write what their health checks found. */
export interface LogDestination {
  readonly bucket: string;
  /** Without the slash that follows it; empty for none. */
  readonly prefix: string;
}

export interface LoadBalancer {
  readonly arn: string;
  readonly name: string;
  readonly type: LoadBalancerType;
  readonly zones: readonly EnabledZone[];
  readonly vpcId: string | undefined;
  readonly securityGroupIds: readonly string[];
  readonly crossZone: boolean;
  readonly createdAt: number;
  readonly tags: ReadonlyMap<string, string>;
  /** The name of the zone that a zonal shift has moved traffic away from. */
  shiftedZone: string | undefined;
  /** Undefined while the nodes write no health check logs. */
  healthCheckLogs: LogDestination | undefined;
}

export interface HealthCheck {
  /** Undefined means a TCP check, which only a network load balancer's group can have. */
  readonly path: string | undefined;
  readonly port: number | 'traffic-port';
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** Codes and ranges, `200,204` or `200-299`. */
  readonly matcher: string;
  readonly enabled: boolean;
}

export interface TargetGroup {
  readonly arn: string;
  readonly name: string;
  readonly type: LoadBalancerType;
  readonly port: number;
  readonly targetType: TargetType;
  readonly protocol: GroupProtocol;
  readonly vpcId: string;
  readonly loadBalancer: LoadBalancer | undefined;
  readonly healthCheck: HealthCheck;
  readonly attributes: TargetGroupAttributes;
  readonly tags: ReadonlyMap<string, string>;
  readonly targets: TargetTable;
}

export type HealthReason =
  | 'Elb.RegistrationInProgress'
  | 'Elb.InitialHealthChecking'
  | 'Target.ResponseCodeMismatch'
  | 'Target.Timeout'
  | 'Target.FailedHealthChecks'
  | 'Target.NotRegistered'
  | 'Target.NotInUse'
  | 'Target.InvalidState'
  | 'Target.DeregistrationInProgress'
  | 'Target.HealthCheckDisabled';

export interface Health {
  readonly state: TargetState;
  readonly reason?: HealthReason;
  readonly description?: string;
}

/** What one load balancer node has seen of one target. */
export interface NodeView {
  verdict: 'initial' | 'healthy' | 'unhealthy';
  /** The length of the present row of like results. */
  row: number;
  lastPassed: boolean;
}

/** One registration of a target: a target that is registered again is a new one. */
export interface RegisteredTarget extends Target {
  /** The zone's name, or `all` for an address outside the VPC that every node may use. */
  readonly zone: string;
  readonly availabilityZone: string | undefined;
  readonly quicServerId: string | undefined;
  /** By the node's zone. */
  readonly views: Map<string, NodeView>;
  lastFailure: Health | undefined;
  health: Health;
  /** When the target last turned healthy, and last turned unhealthy. */
  healthySince: number;
  unhealthySince: number;
  /** Ends the deregistration delay; undefined unless the target is draining. */
  leaves: Timer | undefined;
}

/** The registered targets of one group, found by id and port, in the order of their registration. */
export class TargetTable {
  readonly #byId = new Map<string, Map<number, RegisteredTarget>>();

  get(id: string, port: number): RegisteredTarget | undefined {
    return this.#byId.get(id)?.get(port);
  }

  /** Every port of one id. */
  *of(id: string): Iterable<RegisteredTarget> {
    yield* this.#byId.get(id)?.values() ?? [];
  }

  *[Symbol.iterator](): Iterator<RegisteredTarget> {
    for (const ports of this.#byId.values()) yield* ports.values();
  }

  put(target: RegisteredTarget): void {
    const ports = this.#byId.get(target.id) ?? new Map<number, RegisteredTarget>();
    this.#byId.set(target.id, ports.set(target.port, target));
  }

  /** Is it still this registration that the group holds? */
  holds(target: RegisteredTarget): boolean {
    return this.get(target.id, target.port) === target;
  }

  remove(target: RegisteredTarget): void {
    const ports = this.#byId.get(target.id);
    ports?.delete(target.port);
    if (ports?.size === 0) this.#byId.delete(target.id);
  }
}

/** UG: the group's own attribute, else the load balancer's; an Application Load Balancer's is always on. */
export function crossesZones(group: TargetGroup): boolean {
  return group.attributes.settings.crossZone ?? group.loadBalancer?.crossZone ?? group.type === 'application';
}

/** Does the load balancer node in this zone probe the target and send it requests? */
export function isServedFrom(group: TargetGroup, zone: string, target: RegisteredTarget): boolean {
  return crossesZones(group) || target.zone === zone || target.zone === 'all';
}

/** The instance whose id or address a target is; undefined for an address that is no instance's, now. */
export function instanceBehind(
  instances: Instances,
  group: TargetGroup,
  targetId: string,
): Instance | undefined {
  return group.targetType === 'ip' ? instances.byAddress(targetId) : instances.instance(targetId);
}
