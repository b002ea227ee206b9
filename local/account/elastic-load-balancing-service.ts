import type {
  AdministrativeOverride,
  DeregisterTargetsInput,
  LoadBalancer as DescribedLoadBalancer,
  TargetGroup as DescribedTargetGroup,
  DescribeLoadBalancerAttributesInput,
  DescribeLoadBalancerAttributesOutput,
  DescribeLoadBalancersInput,
  DescribeLoadBalancersOutput,
  DescribeTagsInput,
  DescribeTagsOutput,
  DescribeTargetGroupAttributesInput,
  DescribeTargetGroupAttributesOutput,
  DescribeTargetGroupsInput,
  DescribeTargetGroupsOutput,
  DescribeTargetHealthInput,
  DescribeTargetHealthOutput,
  ModifyLoadBalancerAttributesInput,
  ModifyLoadBalancerAttributesOutput,
  ModifyTargetGroupAttributesInput,
  ModifyTargetGroupAttributesOutput,
  RegisterTargetsInput,
  TargetDescription,
  TargetHealthDescription,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import * as client from '@aws-sdk/client-elastic-load-balancing-v2';
import { type Service, ServiceError } from '../wire/contract.ts';
import type { ElasticLoadBalancing } from './elastic-load-balancing.ts';
import { attributesOf } from './load-balancer-attributes.ts';
import type { LoadBalancer, RegisteredTarget, TargetGroup } from './target-groups.ts';
import { NOT_REGISTERED } from './target-health.ts';
import { checkId, type NamedTarget } from './target-placement.ts';
import { isShiftedAway } from './target-routing.ts';

/** AWS documents no limit; its own Kubernetes controller keeps to batches of this size (kubernetes #101592). */
const TARGETS_A_CALL = 100;

/** UG: ARNs that DescribeLoadBalancers, DescribeTargetGroups and DescribeTags take in a call. */
const ARNS_A_CALL = 20;

/** UG: the greatest PageSize, which is also what a call without one gets. */
const LARGEST_PAGE = 400;

/** The API of the simulated Elastic Load Balancing v2. */
export function elasticLoadBalancingService(elb: ElasticLoadBalancing): Service {
  return {
    name: 'elasticloadbalancing',
    client,
    protocol: { kind: 'query', version: '2015-12-01' },
    operations: {
      RegisterTargets(input: RegisterTargetsInput) {
        elb.register(required('TargetGroupArn', input.TargetGroupArn), namedTargets(input.Targets));
        return {};
      },

      DeregisterTargets(input: DeregisterTargetsInput) {
        const group = elb.group(required('TargetGroupArn', input.TargetGroupArn));
        const targets = namedTargets(input.Targets);
        for (const { id } of targets) checkId(group, id);
        elb.deregister(group.arn, targets);
        return {};
      },

      DescribeTargetHealth(input: DescribeTargetHealthInput): DescribeTargetHealthOutput {
        const group = elb.group(required('TargetGroupArn', input.TargetGroupArn));
        if (input.Include?.length)
          throw new ServiceError('UnsupportedOperation', `Include ${input.Include} is not simulated`);
        const descriptions = input.Targets?.length
          ? input.Targets.map(toNamed).map(named => namedTargetHealth(group, named))
          : [...group.targets].map(target => targetHealth(group, target));
        return { TargetHealthDescriptions: descriptions };
      },

      DescribeTargetGroups(input: DescribeTargetGroupsInput): DescribeTargetGroupsOutput {
        const { LoadBalancerArn, TargetGroupArns, Names } = input;
        atMostOne({ LoadBalancerArn, TargetGroupArns, Names });
        const loadBalancer = LoadBalancerArn === undefined ? undefined : elb.loadBalancer(LoadBalancerArn);
        const groups =
          arns('TargetGroupArns', TargetGroupArns)?.map(arn => elb.group(arn)) ??
          Names?.map(name => byName(elb.groups(), name, 'TargetGroupNotFound')) ??
          elb.groups().filter(group => !loadBalancer || group.loadBalancer === loadBalancer);
        const { page, next } = paged(groups, input);
        return { TargetGroups: page.map(describedGroup), ...(next && { NextMarker: next }) };
      },

      DescribeTargetGroupAttributes(
        input: DescribeTargetGroupAttributesInput,
      ): DescribeTargetGroupAttributesOutput {
        return { Attributes: elb.group(required('TargetGroupArn', input.TargetGroupArn)).attributes.list() };
      },

      ModifyTargetGroupAttributes(
        input: ModifyTargetGroupAttributesInput,
      ): ModifyTargetGroupAttributesOutput {
        const group = elb.group(required('TargetGroupArn', input.TargetGroupArn));
        elb.changeAttributes(group, attributePairs(input.Attributes));
        return { Attributes: group.attributes.list() };
      },

      DescribeLoadBalancers(input: DescribeLoadBalancersInput): DescribeLoadBalancersOutput {
        const { LoadBalancerArns, Names } = input;
        atMostOne({ LoadBalancerArns, Names });
        const loadBalancers =
          arns('LoadBalancerArns', LoadBalancerArns)?.map(arn => elb.loadBalancer(arn)) ??
          Names?.map(name => byName(elb.loadBalancers(), name, 'LoadBalancerNotFound')) ??
          elb.loadBalancers();
        const { page, next } = paged(loadBalancers, input);
        return { LoadBalancers: page.map(describedLoadBalancer), ...(next && { NextMarker: next }) };
      },

      DescribeLoadBalancerAttributes(
        input: DescribeLoadBalancerAttributesInput,
      ): DescribeLoadBalancerAttributesOutput {
        return {
          Attributes: attributesOf(elb.loadBalancer(required('LoadBalancerArn', input.LoadBalancerArn))),
        };
      },

      ModifyLoadBalancerAttributes(
        input: ModifyLoadBalancerAttributesInput,
      ): ModifyLoadBalancerAttributesOutput {
        const loadBalancer = elb.loadBalancer(required('LoadBalancerArn', input.LoadBalancerArn));
        elb.changeLoadBalancer(loadBalancer, attributePairs(input.Attributes));
        return { Attributes: attributesOf(loadBalancer) };
      },

      DescribeTags(input: DescribeTagsInput): DescribeTagsOutput {
        const asked = arns('ResourceArns', required('ResourceArns', input.ResourceArns)) ?? [];
        return {
          TagDescriptions: asked.map(ResourceArn => ({
            ResourceArn,
            Tags: [...tagsOf(elb, ResourceArn)].map(([Key, Value]) => ({ Key, Value })),
          })),
        };
      },
    },
  };
}

const attributePairs = (
  attributes:
    | readonly { readonly Key?: string | undefined; readonly Value?: string | undefined }[]
    | undefined,
) =>
  required('Attributes', attributes).map(
    ({ Key, Value }) => [required('Key', Key), required('Value', Value)] as const,
  );

function required<T>(member: string, value: T | undefined): T {
  if (value === undefined) throw new ServiceError('ValidationError', `'${member}' is required`);
  return value;
}

function atMostOne(members: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(members).filter(member => members[member] !== undefined);
  if (given.length > 1)
    throw new ServiceError('ValidationError', `Only one of ${given.join(', ')} can be specified`);
}

function arns(member: string, given: string[] | undefined): string[] | undefined {
  if (given && given.length > ARNS_A_CALL)
    throw new ServiceError(
      'ValidationError',
      `${member} has ${given.length} members, more than ${ARNS_A_CALL}`,
    );
  return given;
}

function byName<T extends { readonly name: string }>(all: readonly T[], name: string, code: string): T {
  const found = all.find(one => one.name === name);
  if (!found) throw new ServiceError(code, `'${name}' not found`);
  return found;
}

/** A marker is the number of results before the page. */
function paged<T>(
  all: readonly T[],
  { PageSize = LARGEST_PAGE, Marker = '0' }: { PageSize?: number | undefined; Marker?: string | undefined },
): { readonly page: readonly T[]; readonly next: string | undefined } {
  if (PageSize < 1 || PageSize > LARGEST_PAGE)
    throw new ServiceError('ValidationError', `PageSize ${PageSize} is not in 1-${LARGEST_PAGE}`);
  if (!/^\d+$/.test(Marker)) throw new ServiceError('ValidationError', `Marker '${Marker}' is not valid`);
  const end = Number(Marker) + PageSize;
  return { page: all.slice(Number(Marker), end), next: end < all.length ? String(end) : undefined };
}

function namedTargets(targets: TargetDescription[] | undefined): NamedTarget[] {
  const given = required('Targets', targets);
  if (given.length === 0) throw new ServiceError('ValidationError', "'Targets' must not be empty");
  if (given.length > TARGETS_A_CALL)
    throw new ServiceError(
      'ValidationError',
      `${given.length} targets are more than ${TARGETS_A_CALL} a call`,
    );
  return given.map(toNamed);
}

const toNamed = ({ Id, Port, AvailabilityZone, QuicServerId }: TargetDescription): NamedTarget => ({
  id: required('Id', Id),
  port: Port,
  availabilityZone: AvailabilityZone,
  quicServerId: QuicServerId,
});

function namedTargetHealth(
  group: TargetGroup,
  { id, port = group.port }: NamedTarget,
): TargetHealthDescription {
  checkId(group, id);
  const target = group.targets.get(id, port);
  if (target) return targetHealth(group, target);
  const { state, reason, description } = NOT_REGISTERED;
  return {
    Target: { Id: id, Port: port },
    TargetHealth: { State: state, Reason: reason, Description: description },
  };
}

function targetHealth(group: TargetGroup, target: RegisteredTarget): TargetHealthDescription {
  const { state, reason, description } = target.health;
  const { port } = group.healthCheck;
  return {
    Target: {
      Id: target.id,
      Port: target.port,
      ...(target.availabilityZone !== undefined && { AvailabilityZone: target.availabilityZone }),
      ...(target.quicServerId !== undefined && { QuicServerId: target.quicServerId }),
    },
    HealthCheckPort: String(port === 'traffic-port' ? target.port : port),
    TargetHealth: {
      State: state,
      ...(reason && { Reason: reason }),
      ...(description && { Description: description }),
    },
    ...(group.loadBalancer && { AdministrativeOverride: override(group, target) }),
  };
}

const override = (group: TargetGroup, target: RegisteredTarget): AdministrativeOverride =>
  isShiftedAway(group, target)
    ? {
        State: 'zonal_shift_active',
        Reason: 'AdministrativeOverride.ZonalShiftActive',
        Description: 'Zonal shift is active on target',
      }
    : {
        State: 'no_override',
        Reason: 'AdministrativeOverride.NoOverride',
        Description: 'No override is currently active on target',
      };

function describedGroup(group: TargetGroup): DescribedTargetGroup {
  const { healthCheck } = group;
  const isHttp = healthCheck.path !== undefined;
  return {
    TargetGroupArn: group.arn,
    TargetGroupName: group.name,
    Protocol: group.protocol,
    Port: group.port,
    VpcId: group.vpcId,
    HealthCheckProtocol: isHttp ? 'HTTP' : 'TCP',
    HealthCheckPort: String(healthCheck.port),
    HealthCheckEnabled: healthCheck.enabled,
    HealthCheckIntervalSeconds: healthCheck.intervalSeconds,
    HealthCheckTimeoutSeconds: healthCheck.timeoutSeconds,
    HealthyThresholdCount: healthCheck.healthyThreshold,
    UnhealthyThresholdCount: healthCheck.unhealthyThreshold,
    ...(isHttp && { HealthCheckPath: healthCheck.path, Matcher: { HttpCode: healthCheck.matcher } }),
    LoadBalancerArns: group.loadBalancer ? [group.loadBalancer.arn] : [],
    TargetType: group.targetType,
    IpAddressType: 'ipv4',
  };
}

function describedLoadBalancer(loadBalancer: LoadBalancer): DescribedLoadBalancer {
  return {
    LoadBalancerArn: loadBalancer.arn,
    LoadBalancerName: loadBalancer.name,
    CreatedTime: new Date(loadBalancer.createdAt),
    ...(loadBalancer.vpcId !== undefined && { VpcId: loadBalancer.vpcId }),
    State: { Code: 'active' },
    Type: loadBalancer.type,
    AvailabilityZones: loadBalancer.zones.map(({ zone, subnetId }) => ({
      ZoneName: zone,
      ...(subnetId !== undefined && { SubnetId: subnetId }),
    })),
    SecurityGroups: [...loadBalancer.securityGroupIds],
  };
}

const tagsOf = (elb: ElasticLoadBalancing, arn: string): ReadonlyMap<string, string> =>
  arn.includes(':loadbalancer/') ? elb.loadBalancer(arn).tags : elb.group(arn).tags;
