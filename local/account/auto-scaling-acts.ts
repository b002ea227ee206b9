import type {
  ActivitiesType,
  ActivityType,
  CompleteLifecycleActionType,
  DeleteLifecycleHookType,
  EnterStandbyAnswer,
  EnterStandbyQuery,
  ExitStandbyAnswer,
  ExitStandbyQuery,
  PutLifecycleHookType,
  RecordLifecycleActionHeartbeatType,
  ScalingProcessQuery,
  SetDesiredCapacityType,
  SetInstanceHealthQuery,
  TerminateInstanceInAutoScalingGroupType,
  UpdateAutoScalingGroupType,
} from '@aws-sdk/client-auto-scaling';
import { ServiceError } from '../wire/contract.ts';
import type { AutoScaling } from './auto-scaling.ts';
import { describeActivity } from './auto-scaling-activities.ts';
import { causes } from './auto-scaling-causes.ts';
import { type Group, isTerminating, type Member, type Process, processes } from './auto-scaling-group.ts';
import { changeSettings, changeSizes } from './auto-scaling-settings.ts';
import { refuseOthers } from './ec2-request.ts';
import type { ActionResult, Transition } from './lifecycle-hooks.ts';

const STANDBY_IDS_PER_CALL = 20;

/** The operations that change something. What follows from them begins at the same instant. */
export function autoScalingActs(autoScaling: AutoScaling) {
  const { world, capacity, health, hooks, lifecycle } = autoScaling;

  const memberOf = (instanceId: string | undefined): { readonly group: Group; readonly member: Member } => {
    const found = autoScaling.memberOf(instanceId ?? '');
    if (found) return found;
    throw invalid(`Instance Id not found - No managed instance found for instance ID: ${instanceId}`);
  };

  const changed = (group: Group): void => {
    health.considerAll(group);
    capacity.reconcile(group);
  };

  const standbyMembers = (
    groupName: string | undefined,
    ids: readonly string[] | undefined,
    from: 'InService' | 'Standby',
  ) => {
    const group = autoScaling.group(groupName);
    if (!ids?.length || ids.length > STANDBY_IDS_PER_CALL)
      throw invalid(`Between 1 and ${STANDBY_IDS_PER_CALL} instance ids are required.`);
    const members = [...new Set(ids)].map(id => {
      const member = group.members.get(id);
      if (!member) throw invalid(`The instance ${id} is not part of Auto Scaling group ${group.name}.`);
      if (member.lifecycle !== from)
        throw invalid(`The instance ${id} is not in ${from}: it is in ${member.lifecycle}.`);
      return member;
    });
    return { group, members };
  };

  return {
    UpdateAutoScalingGroup(input: UpdateAutoScalingGroupType): object {
      const { AutoScalingGroupName: name, MinSize, MaxSize, DesiredCapacity, ...settings } = input;
      const group = autoScaling.group(name);
      changeSettings(group, settings);
      changeSizes(group, { minSize: MinSize, maxSize: MaxSize, desiredCapacity: DesiredCapacity });
      changed(group);
      return {};
    },

    SetDesiredCapacity(input: SetDesiredCapacityType): object {
      // Cooldowns belong to simple scaling policies, which do not exist here: there is never one to honour.
      const { AutoScalingGroupName: name, DesiredCapacity, HonorCooldown: _, ...others } = input;
      refuseOthers('SetDesiredCapacity', others);
      const group = autoScaling.group(name);
      if (DesiredCapacity === undefined) throw invalid('DesiredCapacity is required.');
      changeSizes(group, { desiredCapacity: DesiredCapacity });
      changed(group);
      return {};
    },

    TerminateInstanceInAutoScalingGroup(input: TerminateInstanceInAutoScalingGroupType): ActivityType {
      const { InstanceId, ShouldDecrementDesiredCapacity: decrements, ...others } = input;
      refuseOthers('TerminateInstanceInAutoScalingGroup', others);
      const { group, member } = memberOf(InstanceId);
      if (isTerminating(member)) throw invalid(`The instance ${InstanceId} is ${member.lifecycle} already.`);
      if (decrements) {
        if (member.lifecycle !== 'InService')
          throw invalid(
            `${InstanceId} is in ${member.lifecycle}: it does not count for the desired capacity.`,
          );
        if (group.desiredCapacity <= group.minSize)
          throw invalid(
            `Currently, desiredSize equals minSize (${group.minSize}). Terminating without replacement would violate the group's min size constraint.`,
          );
        group.desiredCapacity--;
      }
      const cause = causes.userTermination(world.clock.now(), member.instanceId);
      return { Activity: describeActivity(lifecycle.terminate(group, member, cause)) };
    },

    SuspendProcesses(input: ScalingProcessQuery): object {
      const group = autoScaling.group(input.AutoScalingGroupName);
      const at = world.clock.date().toISOString();
      for (const process of namedProcesses(input)) {
        if (group.suspends(process)) continue;
        group.suspended.set(process, `User suspended at ${at}`);
        world.journal.record({ type: 'process', group: group.name, process, suspended: true });
      }
      return {};
    },

    ResumeProcesses(input: ScalingProcessQuery): object {
      const group = autoScaling.group(input.AutoScalingGroupName);
      for (const process of namedProcesses(input)) {
        if (!group.suspended.delete(process)) continue;
        world.journal.record({ type: 'process', group: group.name, process, suspended: false });
      }
      changed(group);
      return {};
    },

    EnterStandby(input: EnterStandbyQuery): EnterStandbyAnswer {
      const {
        InstanceIds,
        AutoScalingGroupName,
        ShouldDecrementDesiredCapacity: decrements,
        ...others
      } = input;
      refuseOthers('EnterStandby', others);
      const { group, members } = standbyMembers(AutoScalingGroupName, InstanceIds, 'InService');
      const from = group.desiredCapacity;
      const to = decrements ? from - members.length : from;
      if (to < group.minSize)
        throw invalid(`${sizesOf(group)} To place into standby ${members.length} instance, ${UPDATE_SIZES}`);
      group.desiredCapacity = to;
      const shrinking = decrements ? `, shrinking the capacity from ${from} to ${to}` : '';
      const activities: ActivitiesType['Activities'] = members.map(member => {
        member.leftDesiredCapacity = decrements === true;
        const cause = causes.enterStandby(world.clock.now(), member.instanceId, shrinking);
        return describeActivity(lifecycle.enterStandby(group, member, cause));
      });
      return { Activities: activities };
    },

    ExitStandby(input: ExitStandbyQuery): ExitStandbyAnswer {
      const { InstanceIds, AutoScalingGroupName, ...others } = input;
      refuseOthers('ExitStandby', others);
      const { group, members } = standbyMembers(AutoScalingGroupName, InstanceIds, 'Standby');
      if (group.suspends('Launch'))
        throw invalid('Standby cannot be left while the Launch process is suspended.');
      // The guide: an instance that entered without a decrement comes back as a surplus.
      const returning = members.filter(member => member.leftDesiredCapacity).length;
      if (group.desiredCapacity + returning > group.maxSize)
        throw invalid(`${sizesOf(group)} To remove from standby ${members.length} instance, ${UPDATE_SIZES}`);
      group.desiredCapacity += returning;
      return {
        Activities: members.map(member => {
          member.leftDesiredCapacity = false;
          return describeActivity(lifecycle.exitStandby(group, member));
        }),
      };
    },

    SetInstanceHealth(input: SetInstanceHealthQuery): object {
      const { InstanceId, HealthStatus, ShouldRespectGracePeriod = true, ...others } = input;
      refuseOthers('SetInstanceHealth', others);
      if (HealthStatus !== 'Healthy' && HealthStatus !== 'Unhealthy')
        throw invalid('Valid instance health states are: [Healthy, Unhealthy].');
      const { group, member } = memberOf(InstanceId);
      health.set(group, member, HealthStatus === 'Healthy', ShouldRespectGracePeriod);
      return {};
    },

    PutLifecycleHook(input: PutLifecycleHookType): object {
      const {
        AutoScalingGroupName,
        LifecycleHookName: name,
        LifecycleTransition,
        HeartbeatTimeout,
        DefaultResult,
        NotificationMetadata,
        ...others
      } = input;
      refuseOthers('PutLifecycleHook', others);
      if (!/^[A-Za-z0-9\-_/]{1,255}$/.test(name ?? ''))
        throw invalid(`'${name}' is not a lifecycle hook name.`);
      hooks.put(autoScaling.group(AutoScalingGroupName), name ?? '', {
        transition: LifecycleTransition === undefined ? undefined : transitionOf(LifecycleTransition),
        heartbeatTimeoutSeconds: HeartbeatTimeout,
        defaultResult: DefaultResult === undefined ? undefined : resultOf(DefaultResult),
        metadata: NotificationMetadata,
      });
      return {};
    },

    DeleteLifecycleHook(input: DeleteLifecycleHookType): object {
      hooks.delete(autoScaling.group(input.AutoScalingGroupName), input.LifecycleHookName ?? '');
      return {};
    },

    CompleteLifecycleAction(input: CompleteLifecycleActionType): object {
      const { AutoScalingGroupName, LifecycleHookName, LifecycleActionToken, InstanceId } = input;
      const ref = { hookName: LifecycleHookName, token: LifecycleActionToken, instanceId: InstanceId };
      hooks.complete(autoScaling.group(AutoScalingGroupName), ref, resultOf(input.LifecycleActionResult));
      return {};
    },

    RecordLifecycleActionHeartbeat(input: RecordLifecycleActionHeartbeatType): object {
      const { AutoScalingGroupName, LifecycleHookName, LifecycleActionToken, InstanceId } = input;
      const ref = { hookName: LifecycleHookName, token: LifecycleActionToken, instanceId: InstanceId };
      hooks.heartbeat(autoScaling.group(AutoScalingGroupName), ref);
      return {};
    },
  };
}

const invalid = (message: string): ServiceError => new ServiceError('ValidationError', message);

const UPDATE_SIZES = 'please update the AutoScalingGroup sizes appropriately.';

const sizesOf = ({ name, minSize, maxSize, desiredCapacity }: Group): string =>
  `AutoScalingGroup ${name} has min-size=${minSize}, max-size=${maxSize}, and desired-size=${desiredCapacity}.`;

function namedProcesses({ ScalingProcesses: names }: ScalingProcessQuery): readonly Process[] {
  if (!names?.length) return processes;
  return names.map(name => {
    const process = processes.find(known => known === name);
    if (!process) throw invalid(`${name} is not a valid scaling process.`);
    return process;
  });
}

function resultOf(text: string | undefined): ActionResult {
  if (text === 'CONTINUE' || text === 'ABANDON') return text;
  throw invalid(`Valid lifecycle action results are: [CONTINUE, ABANDON], not ${text}.`);
}

function transitionOf(text: string): Transition {
  if (text === 'autoscaling:EC2_INSTANCE_LAUNCHING' || text === 'autoscaling:EC2_INSTANCE_TERMINATING')
    return text;
  throw invalid(`${text} is not a lifecycle transition.`);
}
