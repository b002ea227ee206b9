import {
  type AutoScalingGroup,
  type AutoScalingInstanceDetails,
  DescribeAutoScalingGroupsCommand,
  DescribeAutoScalingInstancesCommand,
  DescribeInstanceRefreshesCommand,
  DescribeScalingActivitiesCommand,
  EnterStandbyCommand,
  ExitStandbyCommand,
  type Instance,
  ResumeProcessesCommand,
  SetInstanceHealthCommand,
  type SetInstanceHealthCommandInput,
  SuspendProcessesCommand,
} from '@aws-sdk/client-auto-scaling';
import { AutoScalingGroupUnknown, AwsFailure, InstanceUnknown } from '../errors.ts';
import {
  AUTO_SCALING_GROUPS,
  AUTO_SCALING_INSTANCES,
  DESCRIBES_AT_ONCE,
  STANDBY_INSTANCES,
} from '../limits.ts';
import { inChunks, isolating, joined, type PerItem, pages } from './batch.ts';
import { given, send } from './call.ts';
import { autoScaling } from './clients.ts';

export interface MembershipOfGroup {
  readonly instanceId: string;
  readonly groupName: string;
  readonly lifecycleState: string;
  /** `Healthy` or `Unhealthy`. */
  readonly healthStatus: string;
  readonly zone: string;
}

/** By instance id; an instance that belongs to no group has no entry. */
export async function groupMemberships(ids: readonly string[]): Promise<Map<string, MembershipOfGroup>> {
  const action = 'autoscaling:DescribeAutoScalingInstances';
  const found = await inChunks(ids, AUTO_SCALING_INSTANCES, DESCRIBES_AT_ONCE, chunk =>
    pages(async next => {
      const command = new DescribeAutoScalingInstancesCommand({ InstanceIds: chunk, NextToken: next });
      const answer = await send(action, () => autoScaling().send(command));
      return { items: answer.AutoScalingInstances, next: answer.NextToken };
    }),
  );
  return new Map(
    found.flat().map(details => {
      const groupName = given(details.AutoScalingGroupName, action, 'AutoScalingGroupName');
      const membership = membershipOf(details, groupName, action);
      return [membership.instanceId, membership];
    }),
  );
}

function membershipOf(
  instance: Instance | AutoScalingInstanceDetails,
  groupName: string,
  action: string,
): MembershipOfGroup {
  return {
    instanceId: given(instance.InstanceId, action, 'InstanceId'),
    groupName,
    lifecycleState: given(instance.LifecycleState, action, 'LifecycleState'),
    healthStatus: capitalized(given(instance.HealthStatus, action, 'HealthStatus')),
    zone: given(instance.AvailabilityZone, action, 'AvailabilityZone'),
  };
}

/** DescribeAutoScalingInstances says `HEALTHY` where DescribeAutoScalingGroups says `Healthy`. */
const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();

export interface AutoScalingGroupFacts {
  readonly name: string;
  readonly arn: string;
  /** `EC2` and any of `ELB`, `EBS` and `VPC_LATTICE`. */
  readonly healthCheckTypes: string[];
  readonly healthCheckGraceSeconds: number;
  /** Of its instance maintenance policy, in percent; absent without one. */
  readonly minHealthyPercent?: number;
  readonly minSize: number;
  readonly maxSize: number;
  readonly desiredCapacity: number;
  readonly targetGroupArns: string[];
  readonly suspendedProcesses: string[];
  readonly tags: Record<string, string>;
  readonly instances: MembershipOfGroup[];
}

/** By name; unknown groups have no entry. */
export async function groups(names: readonly string[]): Promise<Map<string, AutoScalingGroupFacts>> {
  const action = 'autoscaling:DescribeAutoScalingGroups';
  const found = await inChunks(names, AUTO_SCALING_GROUPS, DESCRIBES_AT_ONCE, chunk =>
    pages(async next => {
      const command = new DescribeAutoScalingGroupsCommand({ AutoScalingGroupNames: chunk, NextToken: next });
      const answer = await send(action, () => autoScaling().send(command));
      return { items: answer.AutoScalingGroups, next: answer.NextToken };
    }),
  );
  return new Map(
    found.flat().map(group => {
      const facts = groupFacts(group, action);
      return [facts.name, facts];
    }),
  );
}

function groupFacts(group: AutoScalingGroup, action: string): AutoScalingGroupFacts {
  const name = given(group.AutoScalingGroupName, action, 'AutoScalingGroupName');
  // A policy that was taken away has -1.
  const minHealthy = group.InstanceMaintenancePolicy?.MinHealthyPercentage;
  return {
    name,
    arn: given(group.AutoScalingGroupARN, action, 'AutoScalingGroupARN'),
    healthCheckTypes: given(group.HealthCheckType, action, 'HealthCheckType')
      .split(',')
      .map(type => type.trim()),
    healthCheckGraceSeconds: group.HealthCheckGracePeriod ?? 0,
    ...(minHealthy !== undefined && minHealthy >= 0 && { minHealthyPercent: minHealthy }),
    minSize: given(group.MinSize, action, 'MinSize'),
    maxSize: given(group.MaxSize, action, 'MaxSize'),
    desiredCapacity: given(group.DesiredCapacity, action, 'DesiredCapacity'),
    targetGroupArns: attachedTargetGroups(group),
    suspendedProcesses: (group.SuspendedProcesses ?? []).map(one =>
      given(one.ProcessName, action, 'ProcessName'),
    ),
    tags: Object.fromEntries((group.Tags ?? []).map(tag => [tag.Key, tag.Value ?? ''])),
    instances: (group.Instances ?? []).map(instance => membershipOf(instance, name, action)),
  };
}

/** A group may be attached in the older way, the newer way, or both. */
function attachedTargetGroups({ TargetGroupARNs, TrafficSources }: AutoScalingGroup): string[] {
  const sources = (TrafficSources ?? []).filter(source => source.Type === 'elbv2');
  const all = [...(TargetGroupARNs ?? []), ...sources.map(source => source.Identifier)];
  return [...new Set(all.filter(arn => arn !== undefined))];
}

/** An activity of a group, as Auto Scaling tells it. */
export interface ScalingActivity {
  readonly cause: string;
  readonly startedAt: Date;
}

/** The activities of a group that have begun since then, those in progress too. */
export async function activitiesSince(groupName: string, since: Date): Promise<ScalingActivity[]> {
  const activities = await pages(async next => {
    const command = new DescribeScalingActivitiesCommand({
      AutoScalingGroupName: groupName,
      Filters: [{ Name: 'StartTimeLowerBound', Values: [since.toISOString()] }],
      NextToken: next,
    });
    const answer = await send('autoscaling:DescribeScalingActivities', () => autoScaling().send(command));
    return { items: answer.Activities, next: answer.NextToken };
  });
  return activities.flatMap(({ Cause, StartTime }) =>
    Cause && StartTime ? [{ cause: Cause, startedAt: StartTime }] : [],
  );
}

const REFRESHING = new Set(['Pending', 'InProgress', 'Cancelling', 'RollbackInProgress', 'Baking']);

/**
 * Is an instance refresh replacing the group's instances, or about to?
 *
 * @throws AutoScalingGroupUnknown
 */
export async function refreshInProgress(groupName: string): Promise<boolean> {
  const refreshes = await pages(async next => {
    const command = new DescribeInstanceRefreshesCommand({
      AutoScalingGroupName: groupName,
      NextToken: next,
    });
    const answer = await ofGroup(groupName, 'autoscaling:DescribeInstanceRefreshes', () =>
      autoScaling().send(command),
    );
    return { items: answer.InstanceRefreshes, next: answer.NextToken };
  });
  return refreshes.some(refresh => refresh.Status !== undefined && REFRESHING.has(refresh.Status));
}

/** @throws AutoScalingGroupUnknown */
export async function suspendProcesses(groupName: string, processes: readonly string[]): Promise<void> {
  if (processes.length === 0) return;
  const command = new SuspendProcessesCommand(ofProcesses(groupName, processes));
  await ofGroup(groupName, 'autoscaling:SuspendProcesses', () => autoScaling().send(command));
}

/** @throws AutoScalingGroupUnknown */
export async function resumeProcesses(groupName: string, processes: readonly string[]): Promise<void> {
  if (processes.length === 0) return;
  const command = new ResumeProcessesCommand(ofProcesses(groupName, processes));
  await ofGroup(groupName, 'autoscaling:ResumeProcesses', () => autoScaling().send(command));
}

/** Never empty: to Auto Scaling no process means every process. */
const ofProcesses = (groupName: string, processes: readonly string[]) => ({
  AutoScalingGroupName: groupName,
  ScalingProcesses: [...processes],
});

/**
 * Moves instances into Standby and lowers the desired capacity by as many.
 *
 * @returns accepted, or refused with Auto Scaling's reason, for each instance
 * @throws AutoScalingGroupUnknown
 */
export function enterStandby(groupName: string, ids: readonly string[]): Promise<PerItem<string>> {
  return standby(ids, some => {
    const command = new EnterStandbyCommand({
      AutoScalingGroupName: groupName,
      InstanceIds: [...some],
      ShouldDecrementDesiredCapacity: true,
    });
    return ofGroup(groupName, 'autoscaling:EnterStandby', () => autoScaling().send(command));
  });
}

/** Moves instances out of Standby, and raises the desired capacity by as many; in all else as `enterStandby`. */
export function exitStandby(groupName: string, ids: readonly string[]): Promise<PerItem<string>> {
  return standby(ids, some => {
    const command = new ExitStandbyCommand({ AutoScalingGroupName: groupName, InstanceIds: [...some] });
    return ofGroup(groupName, 'autoscaling:ExitStandby', () => autoScaling().send(command));
  });
}

async function standby(
  ids: readonly string[],
  act: (ids: readonly string[]) => Promise<unknown>,
): Promise<PerItem<string>> {
  // One call at a time: Auto Scaling answers concurrent moves within a group with ResourceContention.
  const results = await inChunks(ids, STANDBY_INSTANCES, 1, chunk =>
    isolating(chunk, isValidationError, async some => {
      await act(some);
      return some;
    }),
  );
  return joined(results);
}

/**
 * Takes back the mark Unhealthy, which never heals by itself.
 *
 * @throws InstanceUnknown when it belongs to no group
 */
export const setHealthy = (instanceId: string): Promise<void> =>
  setHealth({ InstanceId: instanceId, HealthStatus: 'Healthy' });

/**
 * Marks an instance Unhealthy, whatever its group's grace period: Auto Scaling replaces it.
 *
 * @throws InstanceUnknown when it belongs to no group
 */
export const setUnhealthy = (instanceId: string): Promise<void> =>
  setHealth({ InstanceId: instanceId, HealthStatus: 'Unhealthy', ShouldRespectGracePeriod: false });

async function setHealth(health: SetInstanceHealthCommandInput & { InstanceId: string }): Promise<void> {
  const command = new SetInstanceHealthCommand(health);
  try {
    await send('autoscaling:SetInstanceHealth', () => autoScaling().send(command));
  } catch (error) {
    if (isValidationError(error) && /not found|no managed instance/i.test(error.message)) {
      throw new InstanceUnknown(`${health.InstanceId} is in no Auto Scaling group.`);
    }
    throw error;
  }
}

/** Auto Scaling's one code for whatever it refuses: only the text says why. */
const isValidationError = (error: unknown): error is AwsFailure =>
  error instanceof AwsFailure && error.code === 'ValidationError';

async function ofGroup<T>(groupName: string, action: string, call: () => Promise<T>): Promise<T> {
  try {
    return await send(action, call);
  } catch (error) {
    if (isValidationError(error) && /group.*not found/i.test(error.message)) {
      throw new AutoScalingGroupUnknown(`There is no Auto Scaling group ${groupName}.`);
    }
    throw error;
  }
}
