import { describe, expect, it } from 'vitest';
import { scaled } from './helpers/auto-scaling.ts';

const LAUNCHING = 'autoscaling:EC2_INSTANCE_LAUNCHING';
const TERMINATING = 'autoscaling:EC2_INSTANCE_TERMINATING';

interface HookSettings {
  readonly LifecycleHookName?: string;
  readonly HeartbeatTimeout?: number;
  readonly DefaultResult?: string;
  readonly NotificationMetadata?: string;
}

/** A fleet with one hook, whose desired capacity has just been raised or lowered by one. */
async function hooked(LifecycleTransition: string, settings: HookSettings = {}) {
  const fleet = scaled();
  const { api, pass, group } = fleet;
  const put = (more: HookSettings) =>
    api.PutLifecycleHook({
      AutoScalingGroupName: 'fleet',
      LifecycleHookName: 'wait',
      LifecycleTransition,
      ...more,
    });
  put(settings);
  const launches = LifecycleTransition === LAUNCHING;
  const before = new Set(group.members.keys());
  api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: launches ? 5 : 3 });
  await pass(90);
  const instanceId = launches
    ? ([...group.members.keys()].find(id => !before.has(id)) ?? '')
    : ([...group.members.values()].find(({ lifecycle }) => lifecycle === 'Terminating:Wait')?.instanceId ??
      '');
  const action = { AutoScalingGroupName: 'fleet', LifecycleHookName: 'wait', InstanceId: instanceId };
  return {
    ...fleet,
    put,
    instanceId,
    state: () => group.members.get(instanceId)?.lifecycle,
    heartbeat: () => api.RecordLifecycleActionHeartbeat(action),
    complete: (LifecycleActionResult: string, more: object = {}) =>
      api.CompleteLifecycleAction({ ...action, LifecycleActionResult, ...more }),
  };
}

describe('on launch', () => {
  it('D3: the instance waits unregistered, tells the event bus, and enters service on CONTINUE', async () => {
    const fleet = await hooked(LAUNCHING, { NotificationMetadata: 'blue' });
    expect(fleet.state()).toBe('Pending:Wait');
    expect(fleet.group.members.get(fleet.instanceId)?.attachedTo.size).toBe(0);
    const [event] = fleet.events;
    expect(event).toMatchObject({
      source: 'aws.autoscaling',
      'detail-type': 'EC2 Instance-launch Lifecycle Action',
      detail: {
        AutoScalingGroupName: 'fleet',
        LifecycleHookName: 'wait',
        EC2InstanceId: fleet.instanceId,
        LifecycleTransition: LAUNCHING,
        NotificationMetadata: 'blue',
        Origin: 'EC2',
        Destination: 'AutoScalingGroup',
      },
    });
    fleet.complete('CONTINUE', {
      InstanceId: undefined,
      LifecycleActionToken: event?.detail.LifecycleActionToken,
    });
    await fleet.pass(0);
    expect(fleet.path(fleet.instanceId)).toEqual(['Pending', 'Pending:Wait', 'Pending:Proceed', 'InService']);
    expect(fleet.events.at(-1)?.['detail-type']).toBe('EC2 Instance Launch Successful');
  });

  it('D1: an abandoned launch is terminated and another one begins, without end', async () => {
    const fleet = await hooked(LAUNCHING, { HeartbeatTimeout: 60 });
    await fleet.pass(600);
    const launches = fleet.happened().filter(({ kind }) => kind === 'launch').length;
    expect(launches).toBeGreaterThan(4);
    expect(fleet.group.inService).toHaveLength(4);
    expect(
      fleet.events.find(event => event['detail-type'] === 'EC2 Instance Launch Unsuccessful'),
    ).toMatchObject({
      detail: {
        StatusCode: 'Failed',
        StatusMessage: expect.stringContaining('was abandoned: Heartbeat Timeout'),
      },
    });
  });

  it('R-HOOK: heartbeats keep it waiting, up to a hundred times the heartbeat timeout', async () => {
    const fleet = await hooked(LAUNCHING, { HeartbeatTimeout: 60, DefaultResult: 'CONTINUE' });
    while (fleet.state() === 'Pending:Wait') {
      fleet.heartbeat();
      await fleet.pass(50);
    }
    const entered = (state: string) =>
      fleet.world.journal.entries.find(
        entry => entry.type === 'lifecycle' && entry.instanceId === fleet.instanceId && entry.state === state,
      )?.at ?? Number.NaN;
    expect(entered('InService') - entered('Pending:Wait')).toBe(6_000_000);
  });
});

describe('on termination', () => {
  it('D3: comes after the drain; both answers let the instance be terminated', async () => {
    const fleet = await hooked(TERMINATING);
    expect(fleet.path(fleet.instanceId).slice(-2)).toEqual(['Terminating', 'Terminating:Wait']);
    expect(fleet.api.DescribeScalingActivities({}).Activities).toMatchObject([
      { StatusCode: 'MidLifecycleAction' },
    ]);
    fleet.complete('ABANDON');
    await fleet.pass(60);
    expect(fleet.instances.instance(fleet.instanceId)?.state).toBe('terminated');
    expect(fleet.events.at(-1)).toMatchObject({
      'detail-type': 'EC2 Instance Terminate Successful',
      resources: [
        fleet.group.settings.arn,
        `arn:aws:ec2:eu-west-1:111122223333:instance/${fleet.instanceId}`,
      ],
      detail: { EC2InstanceId: fleet.instanceId, AutoScalingGroupName: 'fleet' },
    });
  });

  it('R-HOOK: an action that is over is not active', async () => {
    const fleet = await hooked(TERMINATING);
    fleet.complete('CONTINUE');
    const again = () => fleet.complete('CONTINUE');
    expect(again).toThrow(`No active Lifecycle Action found with instance ID ${fleet.instanceId}`);
    expect(fleet.heartbeat).toThrow('No active Lifecycle Action found');
  });
});

it('waits for every hook at the same time', async () => {
  const fleet = await hooked(TERMINATING);
  fleet.put({ LifecycleHookName: 'other' });
  fleet.api.TerminateInstanceInAutoScalingGroup({
    InstanceId: fleet.group.inService[0]?.instanceId,
    ShouldDecrementDesiredCapacity: true,
  });
  await fleet.pass(90);
  const names = fleet.events.map(({ detail }) => detail.LifecycleHookName);
  expect(names).toEqual(['wait', 'wait', 'other']);
});

it('terminating an instance that waits in its launch ends the wait', async () => {
  const fleet = await hooked(LAUNCHING);
  fleet.api.TerminateInstanceInAutoScalingGroup({
    InstanceId: fleet.instanceId,
    ShouldDecrementDesiredCapacity: false,
  });
  expect(() => fleet.complete('CONTINUE')).toThrow('No active Lifecycle Action found');
  await fleet.pass(60);
  expect(fleet.state()).toBeUndefined();
});

it('keeps hooks within their documented limits, and refuses a notification target', async () => {
  const { put, api } = await hooked(LAUNCHING);
  expect(() => put({ HeartbeatTimeout: 29 })).toThrow('between 30 and 7200');
  expect(() => put({ DefaultResult: 'RETRY' })).toThrow('CONTINUE, ABANDON');
  expect(() =>
    api.PutLifecycleHook({
      AutoScalingGroupName: 'fleet',
      LifecycleHookName: 'wait',
      NotificationTargetARN: 'arn:q',
    }),
  ).toThrow('NotificationTargetARN');
  put({ HeartbeatTimeout: 7200 });
  expect(api.DescribeLifecycleHooks({ AutoScalingGroupName: 'fleet' }).LifecycleHooks).toEqual([
    {
      LifecycleHookName: 'wait',
      AutoScalingGroupName: 'fleet',
      LifecycleTransition: LAUNCHING,
      HeartbeatTimeout: 7200,
      GlobalTimeout: 172_800,
      DefaultResult: 'ABANDON',
      NotificationMetadata: undefined,
    },
  ]);
});
