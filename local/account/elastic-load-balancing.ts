import { type Service, ServiceError } from '../wire/contract.ts';
import { elasticLoadBalancingService } from './elastic-load-balancing-service.ts';
import { HealthCheckLogs } from './health-check-logs.ts';
import { changedDestination } from './load-balancer-attributes.ts';
import type {
  Instance,
  Instances,
  LogBuckets,
  ServiceInterfaces,
  Target,
  TargetGroups,
  TargetState,
} from './neighbours.ts';
import { TargetGroupAttributes } from './target-group-attributes.ts';
import {
  type EnabledZone,
  type GroupProtocol,
  type HealthCheck,
  instanceBehind,
  type LoadBalancer,
  type LoadBalancerType,
  type RegisteredTarget,
  type TargetGroup,
  TargetTable,
  type TargetType,
} from './target-groups.ts';
import { isUnhealthy, NOT_REGISTERED, TargetHealth } from './target-health.ts';
import { type NamedTarget, type Placement, placementOf } from './target-placement.ts';
import { countsAsHealthy, receivers, registeredTargets } from './target-routing.ts';
import type { World } from './world.ts';

export interface LoadBalancerSpec {
  readonly name: string;
  readonly type: LoadBalancerType;
  readonly zones: readonly EnabledZone[];
  /** Only a Network Load Balancer has the choice (default off); an Application Load Balancer's is always on. */
  readonly crossZone?: boolean;
  readonly vpcId?: string;
  readonly securityGroupIds?: readonly string[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface TargetGroupSpec {
  readonly name: string;
  readonly port: number;
  readonly targetType: TargetType;
  readonly protocol: GroupProtocol;
  readonly vpcId: string;
  /** The ARN of the load balancer that uses the group. */
  readonly loadBalancer?: string;
  readonly healthCheck: Omit<HealthCheck, 'path' | 'enabled'> &
    Partial<Pick<HealthCheck, 'path' | 'enabled'>>;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
}

type HearDisconnect = (group: TargetGroup, target: Target) => void;

const NETWORK_PROTOCOLS: ReadonlySet<GroupProtocol> = new Set(['TCP', 'TLS', 'QUIC', 'TCP_QUIC']);

/** The simulated Elastic Load Balancing v2: load balancers, target groups, their targets and where traffic goes. */
export class ElasticLoadBalancing implements TargetGroups {
  /** The API, for the wire. */
  readonly service: Service = elasticLoadBalancingService(this);
  readonly #world: World;
  readonly #instances: Instances;
  readonly #health: TargetHealth;
  readonly #logs: HealthCheckLogs;
  readonly #loadBalancers = new Map<string, LoadBalancer>();
  readonly #groups = new Map<string, TargetGroup>();
  readonly #disconnectListeners: HearDisconnect[] = [];

  constructor(world: World, instances: Instances, buckets?: LogBuckets, interfaces?: ServiceInterfaces) {
    this.#world = world;
    this.#instances = instances;
    this.#logs = new HealthCheckLogs(world, instances, buckets, interfaces);
    this.#health = new TargetHealth(world, instances);
    this.#health.onProbe(probed => this.#logs.note(probed));
    instances.onState(instance => this.#follow(instance));
    this.#health.onChange((group, target, before) => {
      if (!group.attributes.settings.closesWhenUnhealthy) return;
      if (isUnhealthy(target.health) && !isUnhealthy(before)) this.#disconnect(group, target);
    });
  }

  addLoadBalancer(spec: LoadBalancerSpec): LoadBalancer {
    if (spec.type === 'application' && spec.crossZone === false)
      throw new Error('cross-zone load balancing cannot be turned off at an Application Load Balancer');
    const kind = spec.type === 'application' ? 'app' : 'net';
    const loadBalancer: LoadBalancer = {
      arn: this.#arn(`loadbalancer/${kind}/${spec.name}`),
      name: spec.name,
      type: spec.type,
      zones: spec.zones,
      vpcId: spec.vpcId,
      securityGroupIds: spec.securityGroupIds ?? [],
      crossZone: spec.crossZone ?? spec.type === 'application',
      createdAt: this.#world.clock.now(),
      tags: new Map(Object.entries(spec.tags ?? {})),
      shiftedZone: undefined,
      healthCheckLogs: undefined,
    };
    addOnce(this.#loadBalancers, loadBalancer);
    this.changeLoadBalancer(loadBalancer, Object.entries(spec.attributes ?? {}));
    return loadBalancer;
  }

  /** @throws Error when the group and its load balancer do not fit, ServiceError when an attribute is refused */
  addTargetGroup(spec: TargetGroupSpec): TargetGroup {
    const type = NETWORK_PROTOCOLS.has(spec.protocol) ? 'network' : 'application';
    const loadBalancer = spec.loadBalancer === undefined ? undefined : this.loadBalancer(spec.loadBalancer);
    if (loadBalancer && loadBalancer.type !== type)
      throw new Error(`a ${spec.protocol} target group does not fit the ${loadBalancer.type} load balancer`);
    const path = spec.healthCheck.path ?? (type === 'application' ? '/' : undefined);
    const group: TargetGroup = {
      arn: this.#arn(`targetgroup/${spec.name}`),
      name: spec.name,
      type,
      port: spec.port,
      targetType: spec.targetType,
      protocol: spec.protocol,
      vpcId: spec.vpcId,
      loadBalancer,
      // UG: health checks of lambda groups are off by default, all others cannot be without.
      healthCheck: {
        ...spec.healthCheck,
        path,
        enabled: spec.healthCheck.enabled ?? spec.targetType !== 'lambda',
      },
      attributes: new TargetGroupAttributes(type, spec.targetType, spec.attributes ?? {}),
      tags: new Map(Object.entries(spec.tags ?? {})),
      targets: new TargetTable(),
    };
    addOnce(this.#groups, group);
    this.#health.watch(group);
    return group;
  }

  /** Moves traffic away from a zone, as a zonal shift does. UG: a load balancer has at most one. */
  shiftZone(loadBalancerArn: string, zoneId: string): void {
    const loadBalancer = this.loadBalancer(loadBalancerArn);
    if (loadBalancer.shiftedZone !== undefined)
      throw new Error(`${loadBalancer.name} has a zonal shift already`);
    const enabled = loadBalancer.zones.find(zone => zone.zoneId === zoneId);
    if (!enabled) throw new Error(`zone ${zoneId} is not enabled for ${loadBalancer.name}`);
    loadBalancer.shiftedZone = enabled.zone;
  }

  endShift(loadBalancerArn: string): void {
    this.loadBalancer(loadBalancerArn).shiftedZone = undefined;
  }

  /** @throws ServiceError LoadBalancerNotFound */
  loadBalancer(arn: string): LoadBalancer {
    const loadBalancer = this.#loadBalancers.get(arn);
    if (!loadBalancer) throw new ServiceError('LoadBalancerNotFound', `Load balancer '${arn}' not found`);
    return loadBalancer;
  }

  /** @throws ServiceError TargetGroupNotFound */
  group(arn: string): TargetGroup {
    const group = this.#groups.get(arn);
    if (!group) throw new ServiceError('TargetGroupNotFound', `Target group '${arn}' not found`);
    return group;
  }

  loadBalancers(): readonly LoadBalancer[] {
    return [...this.#loadBalancers.values()];
  }

  groups(): readonly TargetGroup[] {
    return [...this.#groups.values()];
  }

  /**
   * Registers all of the targets or, when one of them is bad, none.
   *
   * A target that is registered stays as it is; one that is draining begins again as `initial`.
   *
   * @throws ServiceError TargetGroupNotFound, InvalidTarget, ValidationError
   */
  register(targetGroupArn: string, targets: readonly NamedTarget[]): void {
    const group = this.group(targetGroupArn);
    const placed = targets.map(named => ({
      ...placementOf(group, named, instanceBehind(this.#instances, group, named.id)),
      quicServerId: named.quicServerId,
    }));
    for (const placement of placed) this.#enter(group, placement);
  }

  /**
   * Deregisters targets, each exactly by its id and port. A target that is not registered is passed over.
   *
   * @throws ServiceError TargetGroupNotFound
   */
  deregister(targetGroupArn: string, targets: readonly NamedTarget[]): void {
    const group = this.group(targetGroupArn);
    for (const { id, port = group.port } of targets) {
      const target = group.targets.get(id, port);
      if (target && !target.leaves) this.#drain(group, target);
    }
  }

  statesOf(
    targetGroupArn: string,
    instance: Instance,
  ): readonly { readonly target: Target; readonly state: TargetState }[] {
    const { targets } = this.group(targetGroupArn);
    return [instance.id, ...instance.privateAddresses]
      .flatMap(id => [...targets.of(id)])
      .map(target => ({ target: { id: target.id, port: target.port }, state: target.health.state }));
  }

  deregistrationDelaySeconds(targetGroupArn: string): number {
    return this.group(targetGroupArn).attributes.settings.deregistrationDelaySeconds;
  }

  /** The targets that receive new requests now, fail-open included. */
  receiving(targetGroupArn: string): readonly Target[] {
    return receivers(this.group(targetGroupArn));
  }

  /** The targets of the whole group, or of one zone by its name, that are healthy and not shifted away. */
  healthyIn(targetGroupArn: string, zone?: string): readonly Target[] {
    const group = this.group(targetGroupArn);
    return registeredTargets(group).filter(
      target => countsAsHealthy(group, target) && (zone === undefined || target.zone === zone),
    );
  }

  /** The targets that are registered and in use: not those that drain. */
  registered(targetGroupArn: string): readonly Target[] {
    return registeredTargets(this.group(targetGroupArn));
  }

  /** Changes attributes of a group; see TargetGroupAttributes.change for the errors. */
  changeAttributes(group: TargetGroup, changes: Iterable<readonly [key: string, value: string]>): void {
    group.attributes.change(changes);
    for (const target of group.targets) this.#health.refresh(group, target);
  }

  /**
   * Changes attributes of a load balancer: those of health check logs, which are tried with a test file as AWS tries them.
   *
   * @throws ServiceError ValidationError, InvalidConfigurationRequest
   */
  changeLoadBalancer(
    loadBalancer: LoadBalancer,
    changes: readonly (readonly [key: string, value: string])[],
  ): void {
    const destination = changedDestination(loadBalancer, changes);
    if (destination) this.#logs.begin(loadBalancer, destination);
    else loadBalancer.healthCheckLogs = undefined;
  }

  /** Calls `hear` when the load balancer itself closes the open connections of a target. */
  onDisconnect(hear: HearDisconnect): void {
    this.#disconnectListeners.push(hear);
  }

  #enter(group: TargetGroup, placement: Placement & { readonly quicServerId: string | undefined }): void {
    const before = group.targets.get(placement.id, placement.port);
    if (before && !before.leaves) return;
    before?.leaves?.cancel();
    const target: RegisteredTarget = {
      ...placement,
      views: new Map(),
      lastFailure: undefined,
      health: NOT_REGISTERED,
      healthySince: Number.NEGATIVE_INFINITY,
      unhealthySince: Number.NEGATIVE_INFINITY,
      leaves: undefined,
    };
    group.targets.put(target);
    this.#health.refresh(group, target);
  }

  /** UG: `draining` is shown for the whole delay. INF: a target that was not in use has nothing to drain. */
  #drain(group: TargetGroup, target: RegisteredTarget): void {
    const { deregistrationDelaySeconds } = group.attributes.settings;
    if (target.health.state === 'unused' || deregistrationDelaySeconds === 0) {
      this.#remove(group, target);
      return;
    }
    const leave = () => this.#remove(group, target);
    target.leaves = this.#world.clock.after(deregistrationDelaySeconds * 1000, leave);
    this.#health.refresh(group, target);
  }

  #remove(group: TargetGroup, target: RegisteredTarget): void {
    group.targets.remove(target);
    this.#health.record(group, target, NOT_REGISTERED);
    if (group.attributes.settings.closesAfterDelay) this.#disconnect(group, target);
  }

  #disconnect(group: TargetGroup, target: Target): void {
    for (const hear of this.#disconnectListeners) hear(group, target);
  }

  #follow(instance: Instance): void {
    for (const group of this.#groups.values()) {
      if (group.targetType !== 'instance') continue;
      for (const target of group.targets.of(instance.id)) {
        this.#health.refresh(group, target);
        if (instance.state === 'terminated') this.#forget(group, target);
      }
    }
  }

  #forget(group: TargetGroup, target: RegisteredTarget): void {
    this.#world.clock.after(this.#world.physics.terminatedTargetLingersSeconds * 1000, () => {
      if (group.targets.holds(target) && !target.leaves) this.#remove(group, target);
    });
  }

  #arn(resource: string): string {
    const { partition, region, accountId, random } = this.#world;
    const own = random.fork(resource);
    const id = Array.from({ length: 16 }, () => own.whole(0, 15).toString(16)).join('');
    return `arn:${partition}:elasticloadbalancing:${region}:${accountId}:${resource}/${id}`;
  }
}

function addOnce<T extends { readonly arn: string; readonly name: string }>(
  all: Map<string, T>,
  one: T,
): void {
  if (all.has(one.arn)) throw new Error(`the name ${one.name} is taken`);
  all.set(one.arn, one);
}
