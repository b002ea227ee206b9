import {
  DeregisterTargetsCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupAttributesCommand,
  DescribeTargetGroupsCommand,
  type DescribeTargetGroupsCommandInput,
  DescribeTargetHealthCommand,
  type LoadBalancer,
  RegisterTargetsCommand,
  type TargetDescription,
  type TargetGroup,
  type TargetHealthDescription,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import type { ListedTarget } from '../domain/fleet.ts';
import { AwsFailure, TargetGroupUnknown } from '../errors.ts';
import { DESCRIBES_AT_ONCE, ELB_ARNS_PER_DESCRIBE, ELB_RESOURCES_PER_DESCRIBE_TAGS } from '../limits.ts';
import { inChunks, isolating, type PerItem, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { elasticLoadBalancing } from './clients.ts';

export type { ListedTarget };

export interface TargetHealthFacts {
  readonly target: ListedTarget;
  /** `initial`, `healthy`, `unhealthy`, `unhealthy.draining`, `unused`, `draining` or `unavailable`. */
  readonly state: string;
  readonly reason?: string;
  /** An active zonal shift keeps traffic away from the target, however healthy it is. */
  readonly zonalShift: boolean;
}

/**
 * Every target of the group, in one call.
 *
 * @throws TargetGroupUnknown
 */
export async function targetHealth(targetGroupArn: string): Promise<TargetHealthFacts[]> {
  const action = 'elasticloadbalancing:DescribeTargetHealth';
  const command = new DescribeTargetHealthCommand({ TargetGroupArn: targetGroupArn });
  const answer = await ofGroup(targetGroupArn, action, () => elasticLoadBalancing().send(command));
  return (answer.TargetHealthDescriptions ?? []).map(described => targetHealthFacts(described, action));
}

function targetHealthFacts(described: TargetHealthDescription, action: string): TargetHealthFacts {
  const reason = described.TargetHealth?.Reason;
  return {
    target: listedTarget(given(described.Target, action, 'Target'), action),
    state: given(described.TargetHealth?.State, action, 'State'),
    ...(reason !== undefined && { reason }),
    zonalShift: described.AdministrativeOverride?.State === 'zonal_shift_active',
  };
}

function listedTarget(target: TargetDescription, action: string): ListedTarget {
  const { Id, Port, AvailabilityZone, QuicServerId } = target;
  return {
    id: given(Id, action, 'Id'),
    ...(Port !== undefined && { port: Port }),
    ...(AvailabilityZone !== undefined && { availabilityZone: AvailabilityZone }),
    ...(QuicServerId !== undefined && { quicServerId: QuicServerId }),
  };
}

export interface TargetGroupFacts {
  readonly arn: string;
  readonly name: string;
  /** `instance`, `ip`, `lambda` or `alb`. */
  readonly targetType: string;
  readonly port?: number;
  readonly vpcId?: string;
  readonly loadBalancerArns: string[];
  readonly healthCheck: {
    readonly enabled: boolean;
    readonly path?: string;
    /** A number, or `traffic-port`. */
    readonly port?: string;
    readonly intervalSeconds: number;
    readonly timeoutSeconds: number;
    readonly healthyThreshold: number;
    readonly unhealthyThreshold: number;
    /** HTTP codes, or gRPC codes. */
    readonly matcher?: string;
  };
}

/** Facts on the groups that exist; unknown ones are left out. */
export async function targetGroups(arns: readonly string[]): Promise<TargetGroupFacts[]> {
  const found = await inChunks(arns, ELB_ARNS_PER_DESCRIBE, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, some => listTargetGroups({ TargetGroupArns: [...some] })),
  );
  return found.flatMap(({ done }) => done).map(targetGroupFacts);
}

/** Every target group of the account in this Region. */
export async function everyTargetGroup(): Promise<TargetGroupFacts[]> {
  return (await listTargetGroups({})).map(targetGroupFacts);
}

/** All target groups of the VPC. AWS cannot filter by it, so this reads every group of the account (D11). */
export async function targetGroupsOfVpc(vpcId: string): Promise<TargetGroupFacts[]> {
  const all = await listTargetGroups({});
  return all.filter(group => group.VpcId === vpcId).map(targetGroupFacts);
}

const DESCRIBE_TARGET_GROUPS = 'elasticloadbalancing:DescribeTargetGroups';

function listTargetGroups(which: DescribeTargetGroupsCommandInput): Promise<TargetGroup[]> {
  return pages(async next => {
    const command = new DescribeTargetGroupsCommand({ ...which, Marker: next });
    const answer = await send(DESCRIBE_TARGET_GROUPS, () => elasticLoadBalancing().send(command));
    return { items: answer.TargetGroups, next: answer.NextMarker };
  });
}

function targetGroupFacts(group: TargetGroup): TargetGroupFacts {
  const action = DESCRIBE_TARGET_GROUPS;
  const { Port, VpcId, HealthCheckPath, HealthCheckPort, Matcher } = group;
  const matcher = Matcher?.HttpCode ?? Matcher?.GrpcCode;
  return {
    arn: given(group.TargetGroupArn, action, 'TargetGroupArn'),
    name: given(group.TargetGroupName, action, 'TargetGroupName'),
    targetType: given(group.TargetType, action, 'TargetType'),
    ...(Port !== undefined && { port: Port }),
    ...(VpcId !== undefined && { vpcId: VpcId }),
    loadBalancerArns: group.LoadBalancerArns ?? [],
    // Read, never assumed (D34): the documents disagree about the defaults.
    healthCheck: {
      enabled: given(group.HealthCheckEnabled, action, 'HealthCheckEnabled'),
      ...(HealthCheckPath !== undefined && { path: HealthCheckPath }),
      ...(HealthCheckPort !== undefined && { port: HealthCheckPort }),
      intervalSeconds: given(group.HealthCheckIntervalSeconds, action, 'HealthCheckIntervalSeconds'),
      timeoutSeconds: given(group.HealthCheckTimeoutSeconds, action, 'HealthCheckTimeoutSeconds'),
      healthyThreshold: given(group.HealthyThresholdCount, action, 'HealthyThresholdCount'),
      unhealthyThreshold: given(group.UnhealthyThresholdCount, action, 'UnhealthyThresholdCount'),
      ...(matcher !== undefined && { matcher }),
    },
  };
}

/** @throws TargetGroupUnknown */
export async function targetGroupAttributes(arn: string): Promise<Record<string, string>> {
  const command = new DescribeTargetGroupAttributesCommand({ TargetGroupArn: arn });
  const answer = await ofGroup(arn, 'elasticloadbalancing:DescribeTargetGroupAttributes', () =>
    elasticLoadBalancing().send(command),
  );
  return asRecord(answer.Attributes);
}

/** @throws AwsFailure (`isNotFound`) when there is no such load balancer */
export async function loadBalancerAttributes(arn: string): Promise<Record<string, string>> {
  const command = new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn: arn });
  const answer = await send('elasticloadbalancing:DescribeLoadBalancerAttributes', () =>
    elasticLoadBalancing().send(command),
  );
  return asRecord(answer.Attributes);
}

/** Key and value pairs as AWS lists attributes and tags. */
function asRecord(
  pairs: readonly { readonly Key?: string | undefined; readonly Value?: string | undefined }[] = [],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ Key, Value }) => [Key, Value ?? '']));
}

export interface LoadBalancerFacts {
  /** `application`, `network` or `gateway`. */
  readonly type: string;
  /** The names of the zones it is enabled in. */
  readonly zones: string[];
}

/** By ARN; unknown load balancers have no entry. */
export async function loadBalancerTypes(arns: readonly string[]): Promise<Map<string, LoadBalancerFacts>> {
  const action = 'elasticloadbalancing:DescribeLoadBalancers';
  const found = await inChunks(arns, ELB_ARNS_PER_DESCRIBE, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, async some => {
      const command = new DescribeLoadBalancersCommand({ LoadBalancerArns: [...some] });
      const answer = await send(action, () => elasticLoadBalancing().send(command));
      return answer.LoadBalancers ?? [];
    }),
  );
  return new Map(found.flatMap(({ done }) => done).map(each => loadBalancerFacts(each, action)));
}

function loadBalancerFacts(balancer: LoadBalancer, action: string): [string, LoadBalancerFacts] {
  const zones = (balancer.AvailabilityZones ?? []).map(zone => given(zone.ZoneName, action, 'ZoneName'));
  return [
    given(balancer.LoadBalancerArn, action, 'LoadBalancerArn'),
    { type: given(balancer.Type, action, 'Type'), zones },
  ];
}

/** The tags of target groups and load balancers, by ARN; unknown ones have no entry. */
export async function tagsOf(arns: readonly string[]): Promise<Map<string, Record<string, string>>> {
  const action = 'elasticloadbalancing:DescribeTags';
  const found = await inChunks(arns, ELB_RESOURCES_PER_DESCRIBE_TAGS, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, async some => {
      const command = new DescribeTagsCommand({ ResourceArns: [...some] });
      const answer = await send(action, () => elasticLoadBalancing().send(command));
      return answer.TagDescriptions ?? [];
    }),
  );
  return new Map(
    found
      .flatMap(({ done }) => done)
      .map(({ ResourceArn, Tags }) => [given(ResourceArn, action, 'ResourceArn'), asRecord(Tags)]),
  );
}

/**
 * Registers at most TARGETS_PER_CALL targets, each exactly as it was listed.
 *
 * @param targetType of the group
 * @throws TargetGroupUnknown
 */
export function registerTargets(
  arn: string,
  targets: readonly ListedTarget[],
  targetType: string,
): Promise<PerItem<ListedTarget>> {
  return onTargets(targets, some => {
    const command = new RegisterTargetsCommand({
      TargetGroupArn: arn,
      Targets: some.map(target => described(target, targetType)),
    });
    return ofGroup(arn, 'elasticloadbalancing:RegisterTargets', () => elasticLoadBalancing().send(command));
  });
}

/**
 * Deregisters at most TARGETS_PER_CALL targets, each exactly as it is listed: without its port a call succeeds and does
 * nothing (R-EXACT).
 *
 * @param targetType of the group
 * @throws TargetGroupUnknown
 */
export function deregisterTargets(
  arn: string,
  targets: readonly ListedTarget[],
  targetType: string,
): Promise<PerItem<ListedTarget>> {
  return onTargets(targets, some => {
    const command = new DeregisterTargetsCommand({
      TargetGroupArn: arn,
      Targets: some.map(target => described(target, targetType)),
    });
    return ofGroup(arn, 'elasticloadbalancing:DeregisterTargets', () => elasticLoadBalancing().send(command));
  });
}

function onTargets(
  targets: readonly ListedTarget[],
  act: (targets: readonly ListedTarget[]) => Promise<unknown>,
): Promise<PerItem<ListedTarget>> {
  return isolating(targets, blamesTarget, async some => {
    await act(some);
    return some;
  });
}

/** A member that is not in the VPC, not running, still draining (D44), or in too many groups fails the whole call. */
const blamesTarget = (error: unknown): boolean =>
  error instanceof AwsFailure && /^(InvalidTarget|TooManyRegistrationsForTargetId)$/.test(error.code);

/** The zone is listed for instances as well, but not accepted for them (D27). */
const described = (target: ListedTarget, targetType: string): TargetDescription => ({
  Id: target.id,
  Port: target.port,
  AvailabilityZone: targetType === 'ip' ? target.availabilityZone : undefined,
  QuicServerId: target.quicServerId,
});

async function ofGroup<T>(arn: string, action: string, call: () => Promise<T>): Promise<T> {
  try {
    return await send(action, call);
  } catch (error) {
    if (isNotFound(error)) throw new TargetGroupUnknown(`There is no target group ${arn}.`);
    throw error;
  }
}
