import type {
  ActivitiesType,
  AutoScalingGroup,
  AutoScalingGroupNamesType,
  AutoScalingGroupsType,
  AutoScalingInstancesType,
  DescribeAutoScalingInstancesType,
  DescribeInstanceRefreshesAnswer,
  DescribeInstanceRefreshesType,
  DescribeLifecycleHooksAnswer,
  DescribeLifecycleHooksType,
  DescribeLoadBalancerTargetGroupsRequest,
  DescribeLoadBalancerTargetGroupsResponse,
  DescribeScalingActivitiesType,
  DescribeTrafficSourcesRequest,
  DescribeTrafficSourcesResponse,
  Filter,
  Instance,
} from '@aws-sdk/client-auto-scaling';
import { ServiceError } from '../wire/contract.ts';
import type { AutoScaling } from './auto-scaling.ts';
import { describeActivity, type ScalingActivity } from './auto-scaling-activities.ts';
import { type Group, isWarm, type Member } from './auto-scaling-group.ts';
import { refuseOthers } from './ec2-request.ts';
import { describeHook } from './lifecycle-hooks.ts';
import { type Page, pageOf } from './paging.ts';

const SIX_WEEKS_MS = 42 * 86_400_000;
const INSTANCE_IDS_PER_CALL = 50;

/** The operations that only show. No group is managed by another service, so IncludeManagedResources changes nothing. */
export function autoScalingDescriptions(autoScaling: AutoScaling) {
  return {
    DescribeAutoScalingGroups(input: AutoScalingGroupNamesType): AutoScalingGroupsType {
      const {
        AutoScalingGroupNames: names,
        IncludeInstances: withInstances = true,
        IncludeManagedResources: _,
        NextToken,
        MaxRecords,
        Filters = [],
        ...others
      } = input;
      refuseOthers('DescribeAutoScalingGroups', others);
      const groups = autoScaling
        .groups()
        .filter(group => !names?.length || names.includes(group.name))
        .filter(group => Filters.every(filter => matchesTag(group, filter)));
      const { items, nextToken } = page(groups, NextToken, MaxRecords, 50, 100);
      return {
        AutoScalingGroups: items.map(group => describeGroup(group, withInstances)),
        NextToken: nextToken,
      };
    },

    DescribeAutoScalingInstances(input: DescribeAutoScalingInstancesType): AutoScalingInstancesType {
      const { InstanceIds: ids, IncludeManagedResources: _, MaxRecords, NextToken, ...others } = input;
      refuseOthers('DescribeAutoScalingInstances', others);
      if (ids && ids.length > INSTANCE_IDS_PER_CALL)
        throw invalid(`The number of instance ids cannot exceed ${INSTANCE_IDS_PER_CALL}.`);
      const wanted = ids?.length
        ? [...new Set(ids)].flatMap(id => autoScaling.memberOf(id) ?? [])
        : autoScaling
            .groups()
            .flatMap(group => [...group.members.values()].map(member => ({ group, member })));
      const { items, nextToken } = page(wanted, NextToken, MaxRecords, 50, 50);
      return {
        AutoScalingInstances: items.map(({ group, member }) => ({
          ...describeMember(member),
          AutoScalingGroupName: group.name,
          // This call alone writes the health in capitals.
          HealthStatus: healthOf(member).toUpperCase(),
        })),
        NextToken: nextToken,
      };
    },

    DescribeScalingActivities(input: DescribeScalingActivitiesType): ActivitiesType {
      const {
        ActivityIds: ids,
        AutoScalingGroupName: name,
        IncludeDeletedGroups: _deleted,
        IncludeManagedResources: _managed,
        MaxRecords,
        NextToken,
        Filters = [],
        ...others
      } = input;
      refuseOthers('DescribeScalingActivities', others);
      if (name !== undefined) autoScaling.group(name);
      const oldest = autoScaling.world.clock.now() - SIX_WEEKS_MS;
      const activities = autoScaling.activities
        .all()
        .filter(activity => activity.startedAt >= oldest)
        .filter(activity => name === undefined || activity.group.name === name)
        .filter(activity => !ids?.length || ids.includes(activity.id))
        .filter(activity => Filters.every(filter => matchesActivity(activity, filter)));
      const { items, nextToken } = page(activities, NextToken, MaxRecords, 100, 100);
      return { Activities: items.map(describeActivity), NextToken: nextToken };
    },

    DescribeTrafficSources(input: DescribeTrafficSourcesRequest): DescribeTrafficSourcesResponse {
      const { AutoScalingGroupName: name, TrafficSourceType: type, NextToken, MaxRecords, ...others } = input;
      refuseOthers('DescribeTrafficSources', others);
      const sources = type === undefined || type === 'elbv2' ? attachmentsOf(autoScaling, name) : [];
      const { items, nextToken } = page(sources, NextToken, MaxRecords, 50, 50);
      return {
        TrafficSources: items.map(([arn, state]) => ({
          TrafficSource: arn,
          Identifier: arn,
          Type: 'elbv2',
          State: state,
        })),
        NextToken: nextToken,
      };
    },

    DescribeLoadBalancerTargetGroups(
      input: DescribeLoadBalancerTargetGroupsRequest,
    ): DescribeLoadBalancerTargetGroupsResponse {
      const { AutoScalingGroupName: name, NextToken, MaxRecords, ...others } = input;
      refuseOthers('DescribeLoadBalancerTargetGroups', others);
      const { items, nextToken } = page(attachmentsOf(autoScaling, name), NextToken, MaxRecords, 100, 100);
      return {
        LoadBalancerTargetGroups: items.map(([arn, state]) => ({
          LoadBalancerTargetGroupARN: arn,
          State: state,
        })),
        NextToken: nextToken,
      };
    },

    DescribeInstanceRefreshes(input: DescribeInstanceRefreshesType): DescribeInstanceRefreshesAnswer {
      const { AutoScalingGroupName: name, InstanceRefreshIds: ids, NextToken, MaxRecords, ...others } = input;
      refuseOthers('DescribeInstanceRefreshes', others);
      const refreshes = autoScaling
        .group(name)
        .refreshes.filter(({ InstanceRefreshId: id }) => !ids?.length || (id && ids.includes(id)));
      const { items, nextToken } = page(refreshes.toReversed(), NextToken, MaxRecords, 50, 100);
      return { InstanceRefreshes: items, NextToken: nextToken };
    },

    DescribeLifecycleHooks(input: DescribeLifecycleHooksType): DescribeLifecycleHooksAnswer {
      const { AutoScalingGroupName: name, LifecycleHookNames: names, ...others } = input;
      refuseOthers('DescribeLifecycleHooks', others);
      const group = autoScaling.group(name);
      const hooks = autoScaling.hooks
        .hooksOf(group)
        .filter(hook => !names?.length || names.includes(hook.name));
      return { LifecycleHooks: hooks.map(hook => describeHook(group, hook)) };
    },
  };
}

function page<T>(
  items: readonly T[],
  token: string | undefined,
  wanted: number | undefined,
  size: number,
  most: number,
): Page<T> {
  if (wanted !== undefined && (wanted < 1 || wanted > most))
    throw invalid(`MaxRecords must be between 1 and ${most}.`);
  return pageOf(items, token, wanted ?? size, 'InvalidNextToken');
}

function attachmentsOf(autoScaling: AutoScaling, groupName: string | undefined) {
  const group = autoScaling.group(groupName);
  autoScaling.health.settleAttachments(group);
  return [...group.targetGroups];
}

function matchesTag(group: Group, { Name: name = '', Values: values = [] }: Filter): boolean {
  const { tags } = group.settings;
  if (name === 'tag-key') return values.some(key => key in tags);
  if (name === 'tag-value') return values.some(value => Object.values(tags).includes(value));
  if (!name.startsWith('tag:')) throw invalid(`Filter type ${name} is not correct.`);
  const value = tags[name.slice('tag:'.length)];
  return value !== undefined && values.includes(value);
}

function matchesActivity(activity: ScalingActivity, { Name: name, Values: values = [] }: Filter): boolean {
  switch (name) {
    case 'StartTimeLowerBound':
      return values.some(value => activity.startedAt >= instant(value));
    case 'StartTimeUpperBound':
      return values.some(value => activity.startedAt <= instant(value));
    case 'Status':
      return values.includes(activity.statusCode);
    default:
      throw invalid(`Filter type ${name} is not correct.`);
  }
}

function instant(text: string): number {
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
  const parsed = Date.parse(zoned);
  if (Number.isNaN(parsed)) throw invalid(`${text} is not an ISO 8601 timestamp.`);
  return parsed;
}

const healthOf = (member: Member): 'Healthy' | 'Unhealthy' => (member.unhealthy ? 'Unhealthy' : 'Healthy');

const describeMember = (member: Member): Instance => ({
  InstanceId: member.instanceId,
  AvailabilityZone: member.zone,
  AvailabilityZoneId: member.zoneId,
  LifecycleState: member.lifecycle,
  HealthStatus: healthOf(member),
  ProtectedFromScaleIn: false,
});

function describeGroup(group: Group, withInstances: boolean): AutoScalingGroup {
  const members = [...group.members.values()];
  const targetGroupArns = [...group.targetGroups.keys()];
  return {
    AutoScalingGroupName: group.name,
    AutoScalingGroupARN: group.settings.arn,
    MinSize: group.minSize,
    MaxSize: group.maxSize,
    DesiredCapacity: group.desiredCapacity,
    DefaultCooldown: 300,
    AvailabilityZones: [...new Set(members.map(member => member.zone))].toSorted(),
    TargetGroupARNs: targetGroupArns,
    TrafficSources: targetGroupArns.map(arn => ({ Identifier: arn, Type: 'elbv2' })),
    HealthCheckType: group.healthCheckTypes.join(','),
    HealthCheckGracePeriod: group.healthCheckGracePeriodSeconds,
    // Warm pool instances are shown by DescribeWarmPool, and by DescribeAutoScalingInstances.
    Instances: withInstances ? members.filter(member => !isWarm(member)).map(describeMember) : [],
    WarmPoolSize: members.filter(isWarm).length,
    CreatedTime: new Date(group.settings.createdAt),
    SuspendedProcesses: Array.from(group.suspended, ([ProcessName, SuspensionReason]) => ({
      ProcessName,
      SuspensionReason,
    })),
    VPCZoneIdentifier: group.settings.subnetIds.join(','),
    Tags: Object.entries(group.settings.tags).map(([Key, Value]) => ({
      ResourceId: group.name,
      ResourceType: 'auto-scaling-group',
      Key,
      Value,
      PropagateAtLaunch: false,
    })),
    TerminationPolicies: ['Default'],
    InstanceMaintenancePolicy: group.maintenancePolicy,
  };
}

const invalid = (message: string): ServiceError => new ServiceError('ValidationError', message);
