import { describe, expect, it } from 'vitest';
import { firstOf, scaled, WEB } from './helpers/auto-scaling.ts';

const LOAD_BALANCED = { healthCheckTypes: ['EC2', 'ELB'] as const };

/** Who was marked, and by what. */
const marks = ({ world }: ReturnType<typeof scaled>) =>
  world.journal.entries.flatMap(entry =>
    entry.type === 'marked-unhealthy' ? [{ by: entry.by, at: entry.at, id: entry.instanceId }] : [],
  );

describe('application status', () => {
  it('replaces an instance that has been impaired for long enough, with the cause that AWS writes', async () => {
    const fleet = scaled();
    const { statuses, pass, first, happened, world, api, group } = fleet;
    const impairedAt = world.clock.now();
    statuses.become(first.instanceId, 'impaired');
    await pass(189);
    expect(marks(fleet)).toEqual([]);
    await pass(1);
    expect(marks(fleet)).toEqual([
      { by: 'application-status', at: impairedAt + 190_000, id: first.instanceId },
    ]);
    expect(happened()).toMatchObject([
      {
        kind: 'terminate',
        cause:
          'At 2026-11-30T09:03:10Z an instance was taken out of service in response to an EC2 Application Status check failure.',
      },
      { kind: 'launch', cause: expect.stringContaining('an unhealthy instance needing to be replaced.') },
    ]);
    expect(api.DescribeScalingActivities({}).Activities?.[0]).toMatchObject({ EndTime: undefined });
    await pass(120);
    expect(group.inService).toHaveLength(4);
  });

  it.each(['suppressed', 'ok', 'insufficient-data'] as const)('starts again after %s', async between => {
    const fleet = scaled();
    const { statuses, pass, first } = fleet;
    statuses.become(first.instanceId, 'impaired');
    await pass(180);
    statuses.become(first.instanceId, between);
    await pass(600);
    expect(marks(fleet)).toEqual([]);
    statuses.become(first.instanceId, 'impaired');
    await pass(180);
    expect(marks(fleet)).toEqual([]);
    await pass(10);
    expect(marks(fleet)).toHaveLength(1);
  });

  it('waits for the end of the grace period of a new instance', async () => {
    const fleet = scaled({ group: { seasoned: false, healthCheckGracePeriodSeconds: 900 } });
    const { statuses, pass, group, world } = fleet;
    await pass(60);
    const { instanceId, graceFrom } = firstOf(group);
    statuses.become(instanceId, 'impaired');
    await pass(1000);
    expect(marks(fleet)).toMatchObject([{ at: graceFrom + 900_000 }]);
    expect(world.clock.now()).toBeGreaterThan(graceFrom + 900_000);
  });

  it.each([
    { covers: true, marked: 0 },
    { covers: false, marked: 1 },
  ])('D4: suspending HealthCheck covers it: $covers', async ({ covers, marked }) => {
    const fleet = scaled({ physics: { suspendingCoversApplicationStatus: covers } });
    const { statuses, pass, first, api } = fleet;
    const process = { AutoScalingGroupName: 'fleet', ScalingProcesses: ['HealthCheck'] };
    api.SuspendProcesses(process);
    statuses.become(first.instanceId, 'impaired');
    await pass(600);
    expect(marks(fleet)).toHaveLength(marked);
    api.ResumeProcesses(process);
    expect(marks(fleet)).toHaveLength(1);
  });

  it('is not looked at in Standby, and is again when the instance leaves it', async () => {
    const fleet = scaled({ group: { healthCheckGracePeriodSeconds: 300 } });
    const { statuses, pass, first, api, world } = fleet;
    const ids = { AutoScalingGroupName: 'fleet', InstanceIds: [first.instanceId] };
    api.EnterStandby({ ...ids, ShouldDecrementDesiredCapacity: true });
    statuses.become(first.instanceId, 'impaired');
    await pass(3600);
    expect(marks(fleet)).toEqual([]);
    const leftAt = world.clock.now();
    api.ExitStandby(ids);
    await pass(600);
    expect(marks(fleet)).toMatchObject([{ by: 'application-status', at: leftAt + 300_000 }]);
  });
});

describe('instance state', () => {
  it('replaces an instance that somebody stops, at once and whatever its grace period', async () => {
    const fleet = scaled({ group: { seasoned: false, healthCheckGracePeriodSeconds: 3600 } });
    const { instances, pass, group } = fleet;
    await pass(60);
    const { instanceId } = firstOf(group);
    instances.stop(instanceId);
    await pass(1);
    expect(marks(fleet)).toMatchObject([{ by: 'ec2', id: instanceId }]);
    await pass(200);
    expect(instances.instance(instanceId)?.state).toBe('terminated');
    expect(group.inService).toHaveLength(4);
  });
});

describe('load balancer health', () => {
  it('D4: replaces an instance that is unhealthy in any attached group', async () => {
    const fleet = scaled({ group: { ...LOAD_BALANCED, targetGroupArns: [WEB, 'arn:other'] } });
    fleet.targetGroups.become('arn:other', fleet.first.instanceId, 'unhealthy');
    await fleet.pass(30);
    expect(marks(fleet)).toMatchObject([{ by: 'elb', id: fleet.first.instanceId }]);
  });

  it('does not ask the load balancer when only EC2 health checks are on', async () => {
    const fleet = scaled();
    fleet.targetGroups.become(WEB, fleet.first.instanceId, 'unhealthy');
    await fleet.pass(600);
    expect(marks(fleet)).toEqual([]);
    fleet.api.UpdateAutoScalingGroup({ AutoScalingGroupName: 'fleet', HealthCheckType: 'ELB' });
    await fleet.pass(30);
    expect(marks(fleet)).toHaveLength(1);
  });

  it.each([
    { countsDraining: false, from: 120, until: 150 },
    { countsDraining: true, from: 0, until: 30 },
  ])(
    'D4: replaces one that was deregistered; draining counts: $countsDraining',
    async ({ countsDraining, from, until }) => {
      const fleet = scaled({
        group: LOAD_BALANCED,
        delaySeconds: 120,
        physics: { autoScalingCountsDraining: countsDraining },
      });
      const start = fleet.world.clock.now();
      fleet.targetGroups.deregister(WEB, [{ id: fleet.first.instanceId }]);
      await fleet.pass(150);
      const [mark] = marks(fleet);
      expect(mark?.by).toBe('elb');
      expect((mark?.at ?? 0) - start).toBeGreaterThanOrEqual(from * 1000);
      expect((mark?.at ?? 0) - start).toBeLessThanOrEqual(until * 1000);
    },
  );

  it('leaves an instance alone that Auto Scaling never registered', async () => {
    const fleet = scaled({ group: { ...LOAD_BALANCED, seasoned: false } });
    const { api, pass, group } = fleet;
    api.SuspendProcesses({ AutoScalingGroupName: 'fleet', ScalingProcesses: ['AddToLoadBalancer'] });
    await pass(600);
    expect(marks(fleet)).toEqual([]);
    expect(group.inService).toHaveLength(4);
  });
});

describe('marks', () => {
  it.each(['ReplaceUnhealthy', 'Terminate'])(
    'D4: stay while %s is suspended, never heal, and are acted on at once on resume',
    async name => {
      const fleet = scaled();
      const { statuses, pass, api, first, happened } = fleet;
      const process = { AutoScalingGroupName: 'fleet', ScalingProcesses: [name] };
      api.SuspendProcesses(process);
      statuses.become(first.instanceId, 'impaired');
      await pass(200);
      statuses.become(first.instanceId, 'ok');
      await pass(3600);
      expect(api.DescribeAutoScalingGroups({}).AutoScalingGroups?.[0]?.Instances?.[0]).toMatchObject({
        HealthStatus: 'Unhealthy',
        LifecycleState: 'InService',
      });
      expect(happened()).toEqual([]);
      api.ResumeProcesses(process);
      await pass(0);
      expect(happened()).toMatchObject([{ kind: 'terminate', id: first.instanceId }, { kind: 'launch' }]);
    },
  );

  it('are lifted by SetInstanceHealth before that', async () => {
    const { api, first, pass, happened } = scaled();
    const process = { AutoScalingGroupName: 'fleet', ScalingProcesses: ['HealthCheck', 'ReplaceUnhealthy'] };
    const set = (HealthStatus: string) =>
      api.SetInstanceHealth({ InstanceId: first.instanceId, HealthStatus });
    api.SuspendProcesses(process);
    set('Unhealthy');
    expect(first.unhealthy).toBe('custom');
    set('Healthy');
    api.ResumeProcesses(process);
    await pass(600);
    expect(happened()).toEqual([]);
  });

  it('set by hand respect the grace period unless told otherwise', async () => {
    const { api, group, pass } = scaled({ group: { seasoned: false, healthCheckGracePeriodSeconds: 600 } });
    await pass(60);
    const { instanceId } = firstOf(group);
    const set = (ShouldRespectGracePeriod?: boolean) =>
      api.SetInstanceHealth({ InstanceId: instanceId, HealthStatus: 'Unhealthy', ShouldRespectGracePeriod });
    set();
    expect(firstOf(group).unhealthy).toBeUndefined();
    set(false);
    expect(firstOf(group).unhealthy).toBe('custom');
    expect(() => api.SetInstanceHealth({ InstanceId: 'i-none', HealthStatus: 'Healthy' })).toThrow(
      'No managed instance found for instance ID: i-none',
    );
  });
});

describe('replacing', () => {
  /** Marks all and tells how many instances were in service at the worst moment, and the most there ever were. */
  async function replaceAll(fleet: ReturnType<typeof scaled>) {
    const { group, statuses, pass, world } = fleet;
    for (const { instanceId } of group.inService) statuses.become(instanceId, 'impaired');
    let [fewest, most] = [group.inService.length, 0];
    const stop = world.clock.observe(() => {
      fewest = Math.min(fewest, group.inService.length);
      most = Math.max(most, group.inService.length + group.pending.length);
    });
    await pass(3600);
    stop();
    return { fewest, most, replaced: fleet.happened().filter(({ kind }) => kind === 'launch').length };
  }

  it('takes about a tenth of the desired capacity at a time', async () => {
    const group = { desiredCapacity: 20, maxSize: 20 };
    expect(await replaceAll(scaled({ group }))).toEqual({ fewest: 18, most: 20, replaced: 20 });
  });

  it('takes one at a time from a small group', async () => {
    expect(await replaceAll(scaled())).toEqual({ fewest: 3, most: 4, replaced: 4 });
  });

  it('launches before it terminates where an instance maintenance policy says so', async () => {
    const maintenancePolicy = { MinHealthyPercentage: 100, MaxHealthyPercentage: 150 };
    expect(await replaceAll(scaled({ group: { maintenancePolicy } }))).toEqual({
      fewest: 4,
      most: 6,
      replaced: 4,
    });
  });
});
