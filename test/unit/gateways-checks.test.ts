// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  CreateApplicationStatusCheckCommandInput,
  DescribeApplicationStatusChecksCommandInput,
  DescribeSecurityGroupsCommandInput,
} from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { activitiesSince } from '../../functions/core/aws/auto-scaling.ts';
import {
  associate,
  checkBesides,
  checksWithTag,
  createExcludedCheck,
  deleteCheck,
  disassociate,
} from '../../functions/core/aws/checks.ts';
import { cidrsOfSubnets, rulesOfGroups } from '../../functions/core/aws/security-groups.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { scripted } from './helpers/scripted-account.ts';

const notFound = () => {
  throw new ServiceError('InvalidApplicationStatusCheckId.NotFound', 'does not exist');
};

test('a check is created as excluded, with its tags, under the token of its intention', async () => {
  const account = scripted('ec2', {
    CreateApplicationStatusCheck: (input: CreateApplicationStatusCheckCommandInput) => {
      expect(input).toMatchObject({
        Aggregation: 'excluded',
        Port: 8080,
        TagSpecifications: [{ ResourceType: 'application-status-check', Tags: [{ Key: 'a', Value: 'b' }] }],
        ClientToken: 'once',
      });
      return { ApplicationStatusCheck: { ApplicationStatusCheckId: 'asc-1' } };
    },
  });
  const check = {
    protocol: 'http',
    port: 8080,
    path: '/',
    matcher: '200',
    timeoutSeconds: 6,
    failureThreshold: 2,
    successThreshold: 2,
    graceSeconds: 300,
  } as const;
  expect(await account.run(() => createExcludedCheck(check, { a: 'b' }, 'once'))).toBe('asc-1');
});

test('R-PAGE: checks are found by their tag on every page, and deleted ones are not', async () => {
  const Tags = [{ Key: 'a', Value: 'b' }];
  const account = scripted('ec2', {
    DescribeApplicationStatusChecks: ({ NextToken }: DescribeApplicationStatusChecksCommandInput) =>
      NextToken
        ? {
            ApplicationStatusChecks: [
              { ApplicationStatusCheckId: 'asc-2', Tags },
              { ApplicationStatusCheckId: 'asc-3', Tags, DeletionTime: new Date() },
            ],
          }
        : { ApplicationStatusChecks: [{ ApplicationStatusCheckId: 'asc-1' }], NextToken: 'more' },
  });
  expect(await account.run(() => checksWithTag('a', 'b'))).toEqual(['asc-2']);
  expect(await account.run(() => checkBesides('asc-9'))).toBeUndefined();
});

const PATH = {
  Source: { SubnetId: 'subnet-1', SecurityGroupId: 'sg-1' },
  Destinations: [{ SubnetId: 'subnet-2', SecurityGroupId: 'sg-2' }],
};
const path = {
  source: { subnetId: 'subnet-1', groupId: 'sg-1' },
  destinations: [{ subnetId: 'subnet-2', groupId: 'sg-2' }],
};
const nowhere = { subnetId: '', groupId: '' };

test.each([
  [{}, { deviceIndex: 0, ipVersion: 'ipv4', paths: [] }],
  [
    { DeviceIndex: 0, IpVersion: 'ipv4' },
    { deviceIndex: 0, ipVersion: 'ipv4', paths: [] },
  ],
  [{ IpVersion: 'ipv6' }, { deviceIndex: 0, ipVersion: 'ipv6', paths: [] }],
  [{ HealthCheckPaths: [PATH] }, { deviceIndex: 0, ipVersion: 'ipv4', paths: [path] }],
  [
    { HealthCheckPaths: [{}] },
    { deviceIndex: 0, ipVersion: 'ipv4', paths: [{ source: nowhere, destinations: [] }] },
  ],
  [{ DeviceIndex: 1 }, { deviceIndex: 1, ipVersion: 'ipv4', paths: [] }],
] as const)('a check with %j asks by %j', async (settings, route) => {
  const account = scripted('ec2', {
    DescribeApplicationStatusChecks: () => ({
      ApplicationStatusChecks: [{ ApplicationStatusCheckId: 'asc-1', Tags: [{ Key: 'a' }], ...settings }],
    }),
  });
  expect(await account.run(() => checkBesides('asc-1'))).toEqual({ tags: { a: '' }, route });
});

test('R-PARTIAL: what was not associated is named, with the reason that EC2 gives', async () => {
  const account = scripted('ec2', {
    AssociateApplicationStatusCheck: () => ({
      UnsuccessfulResults: [{ AssociationValue: 'i-1', Reason: 'already' }, { AssociationValue: 'i-2' }],
    }),
  });
  expect(await account.run(() => associate('asc-1', { instanceIds: ['i-1', 'i-2'] }))).toEqual([
    { value: 'i-1', reason: 'already' },
    { value: 'i-2', reason: 'EC2 gives no reason' },
  ]);
});

test('what is not in the answers is nothing', async () => {
  const account = scripted('ec2', {
    AssociateApplicationStatusCheck: () => ({}),
    DescribeApplicationStatusChecks: () => ({
      ApplicationStatusChecks: [{ ApplicationStatusCheckId: 'asc-1' }],
    }),
    DescribeSecurityGroups: () => ({
      SecurityGroups: [{ GroupId: 'sg-1', IpPermissions: [{ IpProtocol: 'tcp', FromPort: 80, ToPort: 80 }] }],
    }),
  });
  expect(await account.run(() => associate('asc-1', { tag: { key: 'a', value: 'b' } }))).toEqual([]);
  expect(await account.run(() => checksWithTag('a', 'b'))).toEqual([]);
  expect(await account.run(() => checkBesides('asc-1'))).toMatchObject({ tags: {} });
  expect((await account.run(() => rulesOfGroups(['sg-1']))).get('sg-1')).toEqual([]);
});

test('R-EVENTUAL: after a deletion, a check that is not there is success', async () => {
  const account = scripted('ec2', {
    DeleteApplicationStatusCheck: notFound,
    DisassociateApplicationStatusCheck: notFound,
  });
  await account.run(() => deleteCheck('asc-1'));
  await account.run(() => disassociate('asc-1', { tag: { key: 'a', value: 'b' } }));
  await account.run(() => disassociate('asc-1', { instanceIds: [] }));
  expect(account.asked.map(({ action }) => action)).toEqual([
    'DeleteApplicationStatusCheck',
    'DisassociateApplicationStatusCheck',
  ]);
});

test('any other error of a deletion is one', async () => {
  const account = scripted('ec2', {
    DeleteApplicationStatusCheck: () => {
      throw new ServiceError('UnauthorizedOperation', 'not allowed');
    },
  });
  await expect(account.run(() => deleteCheck('asc-1'))).rejects.toMatchObject({ name: 'AccessDenied' });
});

test('rules are read with each peer that they name, in both directions', async () => {
  const account = scripted('ec2', {
    DescribeSecurityGroups: ({ Filters }: DescribeSecurityGroupsCommandInput) => {
      expect(Filters).toEqual([{ Name: 'group-id', Values: ['sg-1', 'sg-2'] }]);
      return {
        SecurityGroups: [
          {
            GroupId: 'sg-1',
            IpPermissions: [
              {
                IpProtocol: 'tcp',
                FromPort: 80,
                ToPort: 81,
                IpRanges: [{ CidrIp: '10.0.0.0/8' }, {}],
                Ipv6Ranges: [{ CidrIpv6: '2001:db8::/56' }],
                PrefixListIds: [{ PrefixListId: 'pl-1' }, {}],
                UserIdGroupPairs: [{ GroupId: 'sg-2' }, {}],
              },
            ],
            IpPermissionsEgress: [{ IpRanges: [{ CidrIp: '0.0.0.0/0' }] }],
          },
          { GroupId: 'sg-2' },
        ],
      };
    },
  });
  const rules = await account.run(() => rulesOfGroups(['sg-1', 'sg-2']));
  expect(rules.get('sg-2')).toEqual([]);
  expect(
    rules
      .get('sg-1')
      ?.map(({ direction, protocol, fromPort, toPort, peer }) => [
        direction,
        protocol,
        fromPort,
        toPort,
        peer,
      ]),
  ).toEqual([
    ['inbound', 'tcp', 80, 81, { kind: 'addresses', cidr: '10.0.0.0/8' }],
    ['inbound', 'tcp', 80, 81, { kind: 'addresses', cidr: '2001:db8::/56' }],
    ['inbound', 'tcp', 80, 81, { kind: 'prefix-list', prefixListId: 'pl-1' }],
    ['inbound', 'tcp', 80, 81, { kind: 'group', groupId: 'sg-2' }],
    ['outbound', '-1', -1, -1, { kind: 'addresses', cidr: '0.0.0.0/0' }],
  ]);
});

test('a subnet has its blocks of both versions', async () => {
  const account = scripted('ec2', {
    DescribeSubnets: () => ({
      Subnets: [
        {
          SubnetId: 'subnet-1',
          CidrBlock: '10.0.0.0/24',
          Ipv6CidrBlockAssociationSet: [{ Ipv6CidrBlock: '2001:db8::/64' }, {}],
        },
        { SubnetId: 'subnet-2' },
      ],
    }),
  });
  expect([...(await account.run(() => cidrsOfSubnets(['subnet-1', 'subnet-2'])))]).toEqual([
    ['subnet-1', ['10.0.0.0/24', '2001:db8::/64']],
    ['subnet-2', []],
  ]);
});

test('the causes of what a group has done since are read, and no others', async () => {
  const account = scripted('autoscaling', {
    DescribeScalingActivities: () => ({
      Activities: [{ StartTime: new Date('2026-11-30T09:01:00Z'), Cause: 'because' }, {}],
    }),
  });
  const found = await account.run(() => activitiesSince('web', new Date('2026-11-30T09:00:00Z')));
  expect(found.map(({ cause }) => cause)).toEqual(['because']);
  expect(account.asked[0]?.input).toMatchObject({
    AutoScalingGroupName: 'web',
    Filters: [{ Name: 'StartTimeLowerBound', Values: ['2026-11-30T09:00:00.000Z'] }],
  });
});
