// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  DescribeAutoScalingGroupsCommandInput,
  DescribeAutoScalingInstancesCommandInput,
  DescribeInstanceRefreshesCommandInput,
  EnterStandbyCommandInput,
} from '@aws-sdk/client-auto-scaling';
import { expect, test } from 'vitest';
import {
  enterStandby,
  exitStandby,
  groupMemberships,
  groups,
  refreshInProgress,
  resumeProcesses,
  setHealthy,
  suspendProcesses,
} from '../../functions/core/aws/auto-scaling.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { names, scripted } from './helpers/scripted-account.ts';

const refuse =
  (message: string, code = 'ValidationError') =>
  () => {
    throw new ServiceError(code, message);
  };
const member = (InstanceId: string) => ({
  InstanceId,
  AutoScalingGroupName: 'web',
  AvailabilityZone: 'eu-west-1a',
  LifecycleState: 'InService',
  HealthStatus: 'HEALTHY',
  ProtectedFromScaleIn: false,
});

test('R-CHUNK: memberships are read by fifty, instances of no group have none, and health is spelt one way', async () => {
  const account = scripted('autoscaling', {
    DescribeAutoScalingInstances: ({
      InstanceIds = [],
      NextToken,
    }: DescribeAutoScalingInstancesCommandInput) => {
      const known = InstanceIds.filter(id => id !== 'i-003').map(member);
      return NextToken
        ? { AutoScalingInstances: known.slice(30) }
        : { AutoScalingInstances: known.slice(0, 30), NextToken: known.length > 30 ? 'more' : undefined };
    },
  });
  const found = await account.run(() => groupMemberships(names('i-', 60)));
  expect(found.size).toBe(59);
  expect(found.get('i-059')).toEqual({
    instanceId: 'i-059',
    groupName: 'web',
    lifecycleState: 'InService',
    healthStatus: 'Healthy',
    zone: 'eu-west-1a',
  });
  expect(
    account.asked.map(({ input }) => Array.isArray(input.InstanceIds) && input.InstanceIds.length),
  ).toEqual(expect.arrayContaining([50, 10]));
});

const bare = (AutoScalingGroupName: string) => ({
  AutoScalingGroupName,
  AutoScalingGroupARN: `arn-of-${AutoScalingGroupName}`,
  MinSize: 1,
  MaxSize: 4,
  DesiredCapacity: 2,
  HealthCheckType: 'EC2',
});

test('D4: a group tells its health checks, suspended processes and target groups, however they are attached', async () => {
  const account = scripted('autoscaling', {
    DescribeAutoScalingGroups: () => ({
      AutoScalingGroups: [
        {
          ...bare('web'),
          HealthCheckType: 'EC2, ELB',
          HealthCheckGracePeriod: 90,
          InstanceMaintenancePolicy: { MinHealthyPercentage: 100, MaxHealthyPercentage: 110 },
          TargetGroupARNs: ['tg-1'],
          TrafficSources: [
            { Identifier: 'tg-1', Type: 'elbv2' },
            { Identifier: 'tg-2', Type: 'elbv2' },
            { Identifier: 'lattice-1', Type: 'vpc-lattice' },
          ],
          SuspendedProcesses: [{ ProcessName: 'AZRebalance', SuspensionReason: 'User suspended' }],
          Tags: [{ Key: 'app', Value: 'shop' }, { Key: 'empty' }],
          Instances: [{ ...member('i-1'), AutoScalingGroupName: undefined, HealthStatus: 'Unhealthy' }],
        },
        {
          ...bare('plain'),
          InstanceMaintenancePolicy: { MinHealthyPercentage: -1, MaxHealthyPercentage: -1 },
        },
      ],
    }),
  });
  const found = await account.run(() => groups(['web', 'plain', 'unknown']));
  expect(found.get('web')).toEqual({
    name: 'web',
    arn: 'arn-of-web',
    healthCheckTypes: ['EC2', 'ELB'],
    healthCheckGraceSeconds: 90,
    minHealthyPercent: 100,
    minSize: 1,
    maxSize: 4,
    desiredCapacity: 2,
    targetGroupArns: ['tg-1', 'tg-2'],
    suspendedProcesses: ['AZRebalance'],
    tags: { app: 'shop', empty: '' },
    instances: [
      {
        instanceId: 'i-1',
        groupName: 'web',
        lifecycleState: 'InService',
        healthStatus: 'Unhealthy',
        zone: 'eu-west-1a',
      },
    ],
  });
  expect(found.get('plain')).toMatchObject({
    healthCheckGraceSeconds: 0,
    targetGroupArns: [],
    suspendedProcesses: [],
    instances: [],
  });
  expect(found.get('plain')).not.toHaveProperty('minHealthyPercent');
  expect(found.has('unknown')).toBe(false);
});

test('R-CHUNK, R-PAGE: groups are read by fifty names, on every page', async () => {
  const account = scripted('autoscaling', {
    DescribeAutoScalingGroups: ({
      AutoScalingGroupNames = [],
      NextToken,
    }: DescribeAutoScalingGroupsCommandInput) => ({
      AutoScalingGroups: (NextToken ? AutoScalingGroupNames.slice(1) : AutoScalingGroupNames.slice(0, 1)).map(
        bare,
      ),
      NextToken: NextToken ? undefined : 'more',
    }),
  });
  expect((await account.run(() => groups(names('g-', 70)))).size).toBe(70);
  expect(account.asked).toHaveLength(4);
});

test.each([
  [['Successful', 'Cancelled', 'Failed', 'RollbackFailed', 'RollbackSuccessful'], false],
  [['Successful', 'Baking'], true],
  [['RollbackInProgress'], true],
  [['Pending'], true],
  [[], false],
])('a group with the refreshes %j is being refreshed: %s', async (statuses, expected) => {
  const account = scripted('autoscaling', {
    DescribeInstanceRefreshes: ({ NextToken }: DescribeInstanceRefreshesCommandInput) =>
      NextToken
        ? { InstanceRefreshes: statuses.map(Status => ({ Status })) }
        : { InstanceRefreshes: [{}], NextToken: 'n' },
  });
  expect(await account.run(() => refreshInProgress('web'))).toBe(expected);
});

test('R-PROCESS: exactly the named processes are suspended and resumed, and none are no call', async () => {
  const account = scripted('autoscaling', { SuspendProcesses: () => ({}), ResumeProcesses: () => ({}) });
  await account.run(() => suspendProcesses('web', ['HealthCheck', 'ReplaceUnhealthy']));
  await account.run(() => resumeProcesses('web', ['HealthCheck']));
  await account.run(() => suspendProcesses('web', []));
  await account.run(() => resumeProcesses('web', []));
  expect(account.asked).toEqual([
    {
      action: 'SuspendProcesses',
      input: { AutoScalingGroupName: 'web', ScalingProcesses: ['HealthCheck', 'ReplaceUnhealthy'] },
    },
    { action: 'ResumeProcesses', input: { AutoScalingGroupName: 'web', ScalingProcesses: ['HealthCheck'] } },
  ]);
});

test('R-GONE: a group that does not exist is named as that', async () => {
  const gone = refuse("AutoScalingGroup name not found - AutoScalingGroup 'web' not found");
  const account = scripted('autoscaling', {
    SuspendProcesses: gone,
    ResumeProcesses: gone,
    EnterStandby: gone,
    DescribeInstanceRefreshes: gone,
  });
  const unknown = { name: 'AutoScalingGroupUnknown', message: 'There is no Auto Scaling group web.' };
  await expect(account.run(() => suspendProcesses('web', ['Launch']))).rejects.toMatchObject(unknown);
  await expect(account.run(() => resumeProcesses('web', ['Launch']))).rejects.toMatchObject(unknown);
  await expect(account.run(() => refreshInProgress('web'))).rejects.toMatchObject(unknown);
  await expect(account.run(() => enterStandby('web', ['i-1']))).rejects.toMatchObject(unknown);
});

test('another refusal of a group keeps its reason', async () => {
  const account = scripted('autoscaling', { SuspendProcesses: refuse('1 validation error detected') });
  await expect(account.run(() => suspendProcesses('web', ['Lunch']))).rejects.toMatchObject({
    name: 'AwsFailure',
    code: 'ValidationError',
  });
});

test('R-CHUNK, R-PARTIAL: Standby takes nineteen at a time, one call at a time, and names who is refused', async () => {
  let running = 0;
  const move = async ({ InstanceIds = [] }: Partial<EnterStandbyCommandInput>) => {
    expect(++running).toBe(1);
    await Promise.resolve();
    running--;
    if (InstanceIds.includes('i-021')) refuse('The instance i-021 is not in InService')();
    return {};
  };
  const account = scripted('autoscaling', { EnterStandby: move, ExitStandby: move });
  const ids = names('i-', 40);
  for (const act of [enterStandby, exitStandby]) {
    const outcome = await account.run(() => act('web', ids));
    expect(outcome.failed).toEqual([{ item: 'i-021', reason: expect.stringContaining('not in InService') }]);
    expect(outcome.done).toEqual(ids.filter(id => id !== 'i-021'));
  }
  const sizes = account.asked.map(
    ({ input }) => Array.isArray(input.InstanceIds) && input.InstanceIds.length,
  );
  expect(Math.max(...sizes.map(Number))).toBe(19);
  expect(account.asked[0]?.input).toMatchObject({
    AutoScalingGroupName: 'web',
    ShouldDecrementDesiredCapacity: true,
  });
});

test('contention is worth another try', async () => {
  const account = scripted('autoscaling', { ExitStandby: refuse('pending activity', 'ResourceContention') });
  await expect(account.run(() => exitStandby('web', ['i-1']))).rejects.toMatchObject({ name: 'Unavailable' });
});

test('an instance is set healthy, is in no group, or cannot be', async () => {
  const healthy = scripted('autoscaling', { SetInstanceHealth: () => ({}) });
  await healthy.run(() => setHealthy('i-1'));
  expect(healthy.asked[0]?.input).toEqual({ InstanceId: 'i-1', HealthStatus: 'Healthy' });

  const gone = scripted('autoscaling', {
    SetInstanceHealth: refuse('No managed instance found for instance ID i-1'),
  });
  await expect(gone.run(() => setHealthy('i-1'))).rejects.toMatchObject({ name: 'InstanceUnknown' });

  const refused = scripted('autoscaling', { SetInstanceHealth: refuse('Instance is being terminated') });
  await expect(refused.run(() => setHealthy('i-1'))).rejects.toMatchObject({ name: 'AwsFailure' });
});
