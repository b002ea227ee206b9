// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  DescribeApplicationStatusChecksCommandInput,
  DescribeApplicationStatusCommandInput,
  DescribeInstancesCommandInput,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import {
  applicationStatusChecks,
  applicationStatuses,
  describeInstances,
  enableSuppression,
  instancesWithAddresses,
  instancesWithTag,
} from '../../functions/core/aws/ec2.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { names, scripted } from './helpers/scripted-account.ts';

const at = new Date('2026-11-30T09:00:00Z');
const running = (InstanceId: string) => ({
  InstanceId,
  State: { Name: 'running' },
  Placement: { AvailabilityZone: 'eu-west-1a' },
});

/** EC2's own way: an unknown id fails the whole call. */
const knowing =
  <I extends { InstanceIds?: string[] | undefined }>(
    known: (id: string) => boolean,
    answer: (ids: string[]) => object,
  ) =>
  ({ InstanceIds = [] }: I) => {
    const unknown = InstanceIds.filter(id => !known(id));
    if (unknown.length === 0) return answer(InstanceIds);
    throw new ServiceError('InvalidInstanceID.NotFound', `The instance IDs '${unknown}' do not exist`);
  };

test('D44: an address of any interface finds its instance', async () => {
  const account = scripted('ec2', {
    DescribeInstances: ({ Filters }: DescribeInstancesCommandInput) => {
      expect(Filters).toEqual([
        { Name: 'network-interface.addresses.private-ip-address', Values: ['10.0.0.5', '10.0.9.1'] },
      ]);
      return { Reservations: [{ Instances: [running('i-1')] }] };
    },
  });
  const found = await account.run(() => instancesWithAddresses(['10.0.0.5', '10.0.9.1']));
  expect(found.map(({ id }) => id)).toEqual(['i-1']);
});

test('D44: an instance has every address of every interface, the primary one first and none twice', async () => {
  const full = {
    ...running('i-full'),
    Placement: { AvailabilityZone: 'eu-west-1a', AvailabilityZoneId: 'euw1-az1' },
    VpcId: 'vpc-1',
    SubnetId: 'subnet-1',
    SecurityGroups: [{ GroupId: 'sg-1', GroupName: 'web' }],
    PrivateIpAddress: '10.0.0.5',
    LaunchTime: at,
    Tags: [{ Key: 'app', Value: 'shop' }, { Key: 'empty' }],
    NetworkInterfaces: [
      { PrivateIpAddresses: [{ PrivateIpAddress: '10.0.0.5' }, { PrivateIpAddress: '10.0.0.6' }] },
      {
        PrivateIpAddresses: [{ PrivateIpAddress: '10.0.9.1' }],
        Ipv6Addresses: [{ Ipv6Address: '2001:db8::1' }],
      },
    ],
  };
  const account = scripted('ec2', {
    DescribeInstances: () => ({ Reservations: [{ Instances: [full, running('i-bare')] }] }),
  });
  const found = await account.run(() => describeInstances(['i-full', 'i-bare']));
  expect(found.get('i-full')).toEqual({
    id: 'i-full',
    state: 'running',
    zone: 'eu-west-1a',
    zoneId: 'euw1-az1',
    vpcId: 'vpc-1',
    subnetId: 'subnet-1',
    securityGroupIds: ['sg-1'],
    privateAddresses: ['10.0.0.5', '10.0.0.6', '10.0.9.1', '2001:db8::1'],
    tags: { app: 'shop', empty: '' },
    launchedAt: at,
  });
  expect(found.get('i-bare')).toEqual({
    id: 'i-bare',
    state: 'running',
    zone: 'eu-west-1a',
    securityGroupIds: [],
    privateAddresses: [],
    tags: {},
  });
});

test('R-CHUNK, R-PAGE: 250 instances are read in three filters of at most 100, all reservations and all pages', async () => {
  const account = scripted('ec2', {
    DescribeInstances: ({ Filters, NextToken }: DescribeInstancesCommandInput) => {
      const ids = Filters?.[0]?.Values ?? [];
      const half = NextToken ? ids.slice(50) : ids.slice(0, 50);
      const Reservations = half.map(id => ({ Instances: [running(id)] }));
      return NextToken || ids.length <= 50 ? { Reservations } : { Reservations, NextToken: 'more' };
    },
  });
  const ids = names('i-', 250);
  const found = await account.run(() => describeInstances(ids));
  expect([...found.keys()].sort()).toEqual(ids);
  expect(account.asked).toHaveLength(5);
});

test('R-GONE: unknown instances have no entry and fail nothing, since a filter names them', async () => {
  const account = scripted('ec2', {
    DescribeInstances: ({ Filters }: DescribeInstancesCommandInput) => ({
      Reservations: [
        { Instances: Filters?.[0]?.Values?.filter(id => id !== 'i-gone').map(running) },
        { ReservationId: 'r-empty' },
      ],
    }),
  });
  const found = await account.run(() => describeInstances(['i-1', 'i-gone']));
  expect([...found.keys()]).toEqual(['i-1']);
  expect(account.asked[0]?.input).toEqual({
    Filters: [{ Name: 'instance-id', Values: ['i-1', 'i-gone'] }],
    IncludeManagedResources: true,
  });
});

test('no ids are no call: to EC2 they would mean every instance', async () => {
  const account = scripted('ec2', {});
  expect(await account.run(() => describeInstances([]))).toEqual(new Map());
  expect(await account.run(() => applicationStatuses([]))).toEqual(new Map());
  expect(await account.run(() => applicationStatusChecks([]))).toEqual(new Map());
  expect(await account.run(() => enableSuppression([], 60, 't'))).toEqual({
    done: [],
    failed: [],
    unnamed: [],
  });
  expect(account.asked).toEqual([]);
});

test('a tag is matched as it is written, not as a pattern, and terminated instances do not count', async () => {
  const account = scripted('ec2', {
    DescribeInstances: () => ({ Reservations: [{ Instances: [running('i-1')] }] }),
  });
  const found = await account.run(() => instancesWithTag('team', 'a*b?c\\d'));
  expect(found.map(({ id }) => id)).toEqual(['i-1']);
  expect(account.asked[0]?.input.Filters).toEqual([
    { Name: 'tag:team', Values: ['a\\*b\\?c\\\\d'] },
    { Name: 'instance-state-name', Values: ['pending', 'running', 'shutting-down', 'stopping', 'stopped'] },
  ]);
});

const statusOf = (InstanceId: string) => ({
  InstanceId,
  ApplicationStatus: {
    Status: 'suppressed',
    StatusSince: at,
    ResumeAt: at,
    Details: [
      {
        ApplicationStatusCheckId: 'asc-1',
        Aggregation: 'included',
        Status: 'passed',
        StatusTimeStamp: at,
        StatusSince: at,
        Reason: { Code: 'ConnectionRefused', StatusCode: 0 },
      },
      { ApplicationStatusCheckId: 'asc-2', Status: 'initializing' },
    ],
  },
});

test('application status has each check beside the overall word, and says nothing that AWS leaves out', async () => {
  const account = scripted('ec2', {
    DescribeApplicationStatus: () => ({
      ApplicationStatuses: {
        Instances: [
          statusOf('i-1'),
          { InstanceId: 'i-2', ApplicationStatus: { Status: 'not-applicable' } },
          { InstanceId: 'i-3' },
        ],
      },
    }),
  });
  const found = await account.run(() => applicationStatuses(['i-1', 'i-2', 'i-3']));
  expect(found.get('i-1')).toEqual({
    instanceId: 'i-1',
    status: 'suppressed',
    since: at,
    resumesAt: at,
    checks: [
      {
        checkId: 'asc-1',
        aggregation: 'included',
        status: 'passed',
        code: 'ConnectionRefused',
        statusCode: 0,
        evaluatedAt: at,
        since: at,
      },
      { checkId: 'asc-2', aggregation: 'unknown', status: 'initializing' },
    ],
  });
  expect(found.get('i-2')).toEqual({ instanceId: 'i-2', status: 'not-applicable', checks: [] });
  expect(found.has('i-3')).toBe(false);
});

test('an answer without the list, or without what is around it, is an empty one', async () => {
  for (const empty of [{}, { ApplicationStatuses: {} }]) {
    const account = scripted('ec2', { DescribeApplicationStatus: () => empty });
    expect(await account.run(() => applicationStatuses(['i-1']))).toEqual(new Map());
  }
});

test('R-CHUNK, R-PARTIAL: statuses come by the hundred, and an unknown instance does not hide the others', async () => {
  const account = scripted('ec2', {
    DescribeApplicationStatus: knowing<DescribeApplicationStatusCommandInput>(
      id => id !== 'i-042',
      ids => ({ ApplicationStatuses: { Instances: ids.map(statusOf) } }),
    ),
  });
  const found = await account.run(() => applicationStatuses(names('i-', 210)));
  expect(found.size).toBe(209);
  expect(found.has('i-042')).toBe(false);
  const sizes = account.asked.map(
    ({ input }) => Array.isArray(input.InstanceIds) && input.InstanceIds.length,
  );
  expect(Math.max(...sizes.map(Number))).toBe(100);
});

test('a check has the documented defaults where AWS leaves a member out, and a deleted check is none', async () => {
  const account = scripted('ec2', {
    DescribeApplicationStatusChecks: ({
      ApplicationStatusCheckIds,
    }: DescribeApplicationStatusChecksCommandInput) => {
      if (ApplicationStatusCheckIds?.includes('asc-unknown')) {
        throw new ServiceError('InvalidApplicationStatusCheckId.NotFound', 'no such check');
      }
      const all = [
        { ApplicationStatusCheckId: 'asc-bare', Port: 80, Protocol: 'http' },
        {
          ApplicationStatusCheckId: 'asc-full',
          Aggregation: 'excluded',
          Port: 8443,
          Path: '/ready',
          Protocol: 'https',
          Timeout: 10,
          Interval: 60,
          FailureThreshold: 3,
          SuccessThreshold: 4,
          InitializationGracePeriodSeconds: 90,
          StatusCodeMatcher: '200-299',
        },
        { ApplicationStatusCheckId: 'asc-deleted', Port: 80, Protocol: 'http', DeletionTime: at },
      ];
      return {
        ApplicationStatusChecks: all.filter(check =>
          ApplicationStatusCheckIds?.includes(check.ApplicationStatusCheckId),
        ),
      };
    },
  });
  const ids = ['asc-bare', 'asc-unknown', 'asc-full', 'asc-deleted'];
  const found = await account.run(() => applicationStatusChecks(ids));
  expect([...found.values()]).toEqual([
    {
      id: 'asc-bare',
      aggregation: 'included',
      port: 80,
      path: '/',
      protocol: 'http',
      timeoutSeconds: 6,
      intervalSeconds: 60,
      failureThreshold: 2,
      successThreshold: 2,
      graceSeconds: 300,
      matcher: '200',
    },
    {
      id: 'asc-full',
      aggregation: 'excluded',
      port: 8443,
      path: '/ready',
      protocol: 'https',
      timeoutSeconds: 10,
      intervalSeconds: 60,
      failureThreshold: 3,
      successThreshold: 4,
      graceSeconds: 90,
      matcher: '200-299',
    },
  ]);
});
