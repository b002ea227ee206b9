// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type { DescribeInstancesCommandInput } from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { applicationStatusChecks, applicationStatuses } from '../../functions/core/aws/application-status.ts';
import {
  describeInstances,
  instancesWithAddresses,
  instancesWithTag,
} from '../../functions/core/aws/instances.ts';
import { enableSuppression } from '../../functions/core/aws/suppression.ts';
import { names, scripted } from './helpers/scripted-account.ts';

const at = new Date('2026-11-30T09:00:00Z');
const running = (InstanceId: string) => ({
  InstanceId,
  State: { Name: 'running' },
  Placement: { AvailabilityZone: 'eu-west-1a' },
});

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
