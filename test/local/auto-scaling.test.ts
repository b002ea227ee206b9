import { AutoScalingClient, EnterStandbyCommand } from '@aws-sdk/client-auto-scaling';
import { describe, expect, it } from 'vitest';
import { autoScalingService } from '../../local/account/auto-scaling.ts';
import { createWire } from '../../local/wire/wire.ts';
import { firstOf, scaled, WEB } from './helpers/auto-scaling.ts';

describe('size', () => {
  it('launches a new group, tags its instances and registers them with its target groups', async () => {
    const { group, instances, targetGroups, pass, path, events } = scaled({ group: { seasoned: false } });
    await pass(1);
    expect(group.pending).toHaveLength(4);
    await pass(60);
    expect(group.inService).toHaveLength(4);
    const { instanceId } = firstOf(group);
    const launched = instances.instance(instanceId);
    expect(path(instanceId)).toEqual(['Pending', 'InService']);
    expect(Object.fromEntries(launched?.tags ?? [])).toEqual({
      Application: 'shop',
      'aws:autoscaling:groupName': 'fleet',
    });
    expect(launched && targetGroups.shown(WEB, launched)).toEqual(['80 healthy']);
    expect([...instances.live()].map(({ zone }) => zone).toSorted()).toEqual([
      'eu-west-1a',
      'eu-west-1a',
      'eu-west-1b',
      'eu-west-1b',
    ]);
    expect(events.map(event => event['detail-type'])).toEqual(
      Array(4).fill('EC2 Instance Launch Successful'),
    );
  });

  it('scales in: deregisters, waits for the drain, then terminates', async () => {
    const { api, pass, path, targetGroups, instances, group, happened, first } = scaled();
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 3 });
    await pass(30);
    const instance = instances.instance(first.instanceId);
    expect(instance && targetGroups.shown(WEB, instance)).toEqual(['80 draining']);
    expect(instance?.state).toBe('running');
    expect(api.DescribeScalingActivities({ AutoScalingGroupName: 'fleet' }).Activities).toMatchObject([
      { StatusCode: 'WaitingForELBConnectionDraining', Progress: 50, EndTime: undefined },
    ]);
    await pass(60);
    expect(path(first.instanceId)).toEqual(['Pending', 'InService', 'Terminating', 'Terminated']);
    expect(group.members.size).toBe(3);
    expect(happened()).toMatchObject([
      { kind: 'terminate', cause: expect.stringContaining('shrinking the capacity from 4 to 3.') },
    ]);
  });

  it('keeps sizes within their limits', () => {
    const { api, group } = scaled();
    const tooLarge = () => api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 9 });
    expect(tooLarge).toThrow('New SetDesiredCapacity value 9 is above max value 8');
    api.UpdateAutoScalingGroup({ AutoScalingGroupName: 'fleet', MinSize: 5 });
    expect(group.desiredCapacity).toBe(5);
    const terminate = (decrement: boolean, id = [...group.members.keys()][0]) =>
      api.TerminateInstanceInAutoScalingGroup({ InstanceId: id, ShouldDecrementDesiredCapacity: decrement });
    expect(() => terminate(true)).toThrow('desiredSize equals minSize');
    expect(terminate(false).Activity?.Description).toMatch(/^Terminating EC2 instance: i-/);
  });

  it('launches nothing while Launch is suspended, and at once when it is resumed', async () => {
    const { api, group, pass } = scaled();
    api.SuspendProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses: ['Launch'] });
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 6 });
    await pass(600);
    expect(group.members.size).toBe(4);
    api.ResumeProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses: ['Launch'] });
    await pass(1);
    expect(group.pending).toHaveLength(2);
  });

  it('launches without registering while AddToLoadBalancer is suspended, and does not catch up later', async () => {
    const { api, group, pass, instances, targetGroups } = scaled();
    const process = { AutoScalingGroupName: 'fleet', ScalingProcesses: ['AddToLoadBalancer'] };
    api.SuspendProcesses(process);
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 5 });
    await pass(60);
    api.ResumeProcesses(process);
    await pass(60);
    const newest = instances.instance([...group.members.keys()].at(-1) ?? '');
    expect(group.inService).toHaveLength(5);
    expect(newest && targetGroups.shown(WEB, newest)).toEqual([]);
  });

  it('R-LIFECYCLE: takes what is warm first, by way of its launch hooks, and fills the pool again', async () => {
    const { api, autoScaling, instances, pass, path, group, events } = scaled();
    api.PutLifecycleHook({
      AutoScalingGroupName: 'fleet',
      LifecycleHookName: 'wait',
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING',
      HeartbeatTimeout: 30,
      DefaultResult: 'CONTINUE',
    });
    const warm = autoScaling.addMember('fleet', 'Warmed:Stopped');
    await pass(60);
    expect(instances.instance(warm.instanceId)?.state).toBe('stopped');
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 5 });
    await pass(150);
    expect(path(warm.instanceId).slice(-4)).toEqual([
      'Pending',
      'Pending:Wait',
      'Pending:Proceed',
      'InService',
    ]);
    const [filling = ''] = [...group.members.keys()].slice(-1);
    expect(path(filling)).toEqual([
      'Warmed:Pending',
      'Warmed:Pending:Wait',
      'Warmed:Pending:Proceed',
      'Warmed:Stopped',
    ]);
    const legs = events
      .filter(event => event['detail-type'] === 'EC2 Instance-launch Lifecycle Action')
      .map(({ detail }) => [detail.EC2InstanceId, detail.Origin, detail.Destination]);
    expect(legs.sort()).toEqual(
      [
        [warm.instanceId, 'WarmPool', 'AutoScalingGroup'],
        [filling, 'EC2', 'WarmPool'],
      ].sort(),
    );
  });

  it('ends what is abandoned on its way into the warm pool, and begins another', async () => {
    const { api, autoScaling, pass, group } = scaled();
    api.PutLifecycleHook({
      AutoScalingGroupName: 'fleet',
      LifecycleHookName: 'wait',
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING',
      HeartbeatTimeout: 30,
    });
    const warm = autoScaling.addMember('fleet', 'Warmed:Running');
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 5 });
    await pass(300);
    expect(group.members.has(warm.instanceId)).toBe(false);
    expect([...group.members.values()].map(({ lifecycle }) => lifecycle)).not.toContain('Warmed:Running');
    expect(group.inService).toHaveLength(4);
  });
});

describe('Standby', () => {
  it('deregisters, waits for the drain, and comes back on the default port', async () => {
    const { api, pass, path, instances, targetGroups, group, first } = scaled();
    const ids = { AutoScalingGroupName: 'fleet', InstanceIds: [first.instanceId] };
    const { Activities } = api.EnterStandby({ ...ids, ShouldDecrementDesiredCapacity: true });
    expect(Activities).toMatchObject([
      { Description: `Moving EC2 instance to Standby: ${first.instanceId}` },
    ]);
    await pass(30);
    expect(first.lifecycle).toBe('EnteringStandby');
    await pass(60);
    expect(first.lifecycle).toBe('Standby');
    expect(group.desiredCapacity).toBe(3);
    await pass(600);
    api.ExitStandby(ids);
    expect(first.lifecycle).toBe('Pending');
    await pass(1);
    const instance = instances.instance(first.instanceId);
    expect(instance && targetGroups.shown(WEB, instance)).toEqual(['80 healthy']);
    expect(path(first.instanceId).slice(-4)).toEqual(['EnteringStandby', 'Standby', 'Pending', 'InService']);
    await pass(600);
    expect([group.desiredCapacity, group.members.size]).toEqual([4, 4]);
  });

  it('without a decrement launches a replacement, and ends a surplus of its own choice afterwards', async () => {
    const { api, pass, group, first, happened } = scaled();
    const ids = { AutoScalingGroupName: 'fleet', InstanceIds: [first.instanceId] };
    api.EnterStandby({ ...ids, ShouldDecrementDesiredCapacity: false });
    await pass(120);
    expect(group.inService).toHaveLength(4);
    api.ExitStandby(ids);
    await pass(120);
    expect(happened().map(({ kind }) => kind)).toEqual(['launch', 'terminate']);
    expect([group.desiredCapacity, group.members.size]).toEqual([4, 4]);
  });

  it('fails the whole call for one member that is not in service, and below the minimum size', async () => {
    const { api, group, pass } = scaled();
    const [one = '', two = '', three = ''] = group.members.keys();
    const enter = (...InstanceIds: string[]) =>
      api.EnterStandby({ AutoScalingGroupName: 'fleet', InstanceIds, ShouldDecrementDesiredCapacity: true });
    expect(() => enter(one, two, three)).toThrow('min-size=2, max-size=8, and desired-size=4');
    enter(one);
    expect(() => enter(two, one)).toThrow(
      `The instance ${one} is not in InService: it is in EnteringStandby.`,
    );
    await pass(600);
    expect(group.inService).toHaveLength(3);
  });

  it('cannot be left while Launch is suspended', async () => {
    const { api, autoScaling } = scaled();
    const { instanceId } = autoScaling.addMember('fleet', 'Standby');
    api.SuspendProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses: ['Launch'] });
    const exit = () => api.ExitStandby({ AutoScalingGroupName: 'fleet', InstanceIds: [instanceId] });
    expect(exit).toThrow('while the Launch process is suspended');
  });

  it.each([
    { suspended: false, launches: 1 },
    { suspended: true, launches: 0 },
  ])('unbalances the zones: AZRebalance suspended is $suspended', async ({ suspended, launches }) => {
    const { api, group, pass, happened } = scaled();
    if (suspended) api.SuspendProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses: ['AZRebalance'] });
    const inZoneA = [...group.members.values()].filter(({ zone }) => zone === 'eu-west-1a');
    api.EnterStandby({
      AutoScalingGroupName: 'fleet',
      InstanceIds: inZoneA.map(({ instanceId }) => instanceId),
      ShouldDecrementDesiredCapacity: true,
    });
    await pass(30);
    expect(happened()).toEqual([]);
    await pass(600);
    const kinds = happened().map(({ kind }) => kind);
    expect(kinds.filter(kind => kind === 'launch')).toHaveLength(launches);
    expect(kinds.filter(kind => kind === 'terminate')).toHaveLength(launches);
    expect(group.inService.map(({ zone }) => zone).toSorted()).toEqual(
      suspended ? ['eu-west-1b', 'eu-west-1b'] : ['eu-west-1a', 'eu-west-1b'],
    );
  });
});

describe('the API', () => {
  it('R-LIFECYCLE: shows members in every state of a scenario', () => {
    const { api, autoScaling } = scaled();
    api.PutLifecycleHook({
      AutoScalingGroupName: 'fleet',
      LifecycleHookName: 'stop',
      LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING',
    });
    for (const state of ['Standby', 'Terminating:Wait', 'Terminating:Retained', 'Warmed:Running'] as const)
      autoScaling.addMember('fleet', state);
    const { AutoScalingInstances = [] } = api.DescribeAutoScalingInstances({});
    expect(AutoScalingInstances.map(({ LifecycleState }) => LifecycleState)).toEqual([
      ...Array(4).fill('InService'),
      'Standby',
      'Terminating:Wait',
      'Terminating:Retained',
      'Warmed:Running',
    ]);
    expect(() => autoScaling.addMember('fleet', 'Pending:Wait')).toThrow('no lifecycle hook');
  });

  it('describes a group with its processes, traffic sources and tags, and finds it by tag', () => {
    const { api } = scaled({ group: { tags: { Team: 'shop' }, healthCheckTypes: ['EC2', 'ELB'] } });
    api.SuspendProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses: ['AZRebalance'] });
    const find = (value: string) =>
      api.DescribeAutoScalingGroups({ Filters: [{ Name: 'tag:Team', Values: [value] }] }).AutoScalingGroups;
    expect(find('search')).toEqual([]);
    expect(find('shop')).toMatchObject([
      {
        AutoScalingGroupName: 'fleet',
        HealthCheckType: 'EC2,ELB',
        SuspendedProcesses: [
          { ProcessName: 'AZRebalance', SuspensionReason: expect.stringMatching(/^User suspended at 2026/) },
        ],
        TrafficSources: [{ Identifier: WEB, Type: 'elbv2' }],
        AvailabilityZones: ['eu-west-1a', 'eu-west-1b'],
      },
    ]);
  });

  it('R-PAGE: answers in pages, and refuses a token that it never gave', () => {
    const { api } = scaled();
    const first = api.DescribeAutoScalingInstances({ MaxRecords: 3 });
    const rest = api.DescribeAutoScalingInstances({ MaxRecords: 3, NextToken: first.NextToken });
    expect([first.AutoScalingInstances?.length, rest.AutoScalingInstances?.length, rest.NextToken]).toEqual([
      3,
      1,
      undefined,
    ]);
    expect(() => api.DescribeAutoScalingInstances({ NextToken: 'mine' })).toThrow('NextToken');
  });

  it('R-CHUNK: takes 50 instance ids, and ignores unknown ones', () => {
    const { api, first } = scaled();
    const ids = (count: number) => Array.from({ length: count }, (_, n) => `i-${n}`);
    const describeIds = (InstanceIds: string[]) => api.DescribeAutoScalingInstances({ InstanceIds });
    expect(describeIds([...ids(49), first.instanceId]).AutoScalingInstances).toHaveLength(1);
    expect(() => describeIds(ids(51))).toThrow('cannot exceed 50');
  });

  it('D20: shows scaling activities since an instant, those in progress too', async () => {
    const { api, pass, world } = scaled();
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 5 });
    await pass(300);
    const Values = [world.clock.date().toISOString()];
    api.SetDesiredCapacity({ AutoScalingGroupName: 'fleet', DesiredCapacity: 6 });
    await pass(1);
    const { Activities } = api.DescribeScalingActivities({
      AutoScalingGroupName: 'fleet',
      Filters: [{ Name: 'StartTimeLowerBound', Values }],
    });
    expect(Activities).toMatchObject([{ StatusCode: 'InProgress', Progress: 0 }]);
    expect(api.DescribeScalingActivities({}).Activities).toHaveLength(2);
  });

  it('shows an attached target group as Added until an instance is healthy in it', async () => {
    const { api, autoScaling, targetGroups, group } = scaled();
    autoScaling.attachTargetGroup('fleet', 'arn:late');
    for (const { instanceId } of group.inService) targetGroups.become('arn:late', instanceId, 'initial');
    const states = () =>
      api.DescribeTrafficSources({ AutoScalingGroupName: 'fleet' }).TrafficSources?.map(({ State }) => State);
    expect(states()).toEqual(['InService', 'Added']);
    targetGroups.become('arn:late', group.inService[0]?.instanceId ?? '', 'healthy');
    expect(states()).toEqual(['InService', 'InService']);
  });

  it('an instance refresh replaces what was in service, a few at a time, and shows how far it is', async () => {
    const { api, autoScaling, group, pass, happened } = scaled();
    const shown = () =>
      api
        .DescribeInstanceRefreshes({ AutoScalingGroupName: 'fleet' })
        .InstanceRefreshes?.map(({ Status, PercentageComplete }) => [Status, PercentageComplete]);
    expect(shown()).toEqual([]);
    const before = [...group.members.keys()];
    autoScaling.refreshes.start(group);
    await pass(10);
    expect(shown()).toEqual([['InProgress', 25]]);
    let least = group.inService.length;
    for (let turn = 0; turn < 100; turn++) {
      await pass(15);
      least = Math.min(least, group.inService.length);
    }
    // Nine tenths of four are four: one at a time goes all the same.
    expect(least).toBe(3);
    expect(shown()).toEqual([['Successful', 100]]);
    expect(group.inService.filter(({ instanceId }) => before.includes(instanceId))).toEqual([]);
    expect(happened().filter(({ cause }) => cause.endsWith('an instance refresh.'))).toHaveLength(4);
  });

  it('a cancelled instance refresh begins nothing more', async () => {
    const { api, autoScaling, group, pass } = scaled();
    const before = [...group.members.keys()];
    autoScaling.refreshes.end(group, autoScaling.refreshes.start(group), 'Cancelled');
    await pass(600);
    const [refresh] =
      api.DescribeInstanceRefreshes({ AutoScalingGroupName: 'fleet' }).InstanceRefreshes ?? [];
    expect(refresh?.Status).toBe('Cancelled');
    expect(group.inService.filter(({ instanceId }) => before.includes(instanceId))).toHaveLength(3);
  });

  it('R-PROCESS: suspends every process when none is named, and knows no others', () => {
    const { api, group } = scaled();
    const suspend = (...ScalingProcesses: string[]) =>
      api.SuspendProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses });
    expect(() => suspend('HealthChecks')).toThrow('HealthChecks is not a valid scaling process.');
    suspend();
    expect(group.suspended.size).toBe(9);
  });

  it('answers the SDK over its own protocol', async () => {
    const { autoScaling, world, first } = scaled();
    const wire = createWire({ gates: [], clock: world.clock, services: [autoScalingService(autoScaling)] });
    const client = new AutoScalingClient({
      region: world.region,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      requestHandler: wire.transport(),
    });
    const enter = (InstanceIds: string[]) =>
      client.send(
        new EnterStandbyCommand({
          AutoScalingGroupName: 'fleet',
          InstanceIds,
          ShouldDecrementDesiredCapacity: true,
        }),
      );
    const { Activities } = await world.clock.hold(enter([first.instanceId]));
    expect(Activities?.[0]?.StartTime).toEqual(world.clock.date());
    await expect(world.clock.hold(enter(['i-other']))).rejects.toMatchObject({ name: 'ValidationError' });
  });
});
