// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  DeregisterTargetsCommandInput,
  DescribeLoadBalancersCommandInput,
  DescribeTagsCommandInput,
  DescribeTargetGroupsCommandInput,
  RegisterTargetsCommandInput,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { expect, test } from 'vitest';
import {
  deregisterTargets,
  loadBalancerAttributes,
  loadBalancerTypes,
  registerTargets,
  tagsOf,
  targetGroupAttributes,
  targetGroups,
  targetGroupsOfVpc,
  targetHealth,
} from '../../functions/core/aws/elastic-load-balancing.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { names, scripted } from './helpers/scripted-account.ts';

const noGroup = () => {
  throw new ServiceError('TargetGroupNotFound', 'One or more target groups not found');
};
const group = (TargetGroupArn: string, more: object = {}) => ({
  TargetGroupArn,
  TargetGroupName: `name-of-${TargetGroupArn}`,
  TargetType: 'instance',
  HealthCheckEnabled: true,
  HealthCheckIntervalSeconds: 10,
  HealthCheckTimeoutSeconds: 5,
  HealthyThresholdCount: 5,
  UnhealthyThresholdCount: 2,
  ...more,
});

test('D27: a target is given back as it is listed, with its reason and an active zonal shift', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetHealth: () => ({
      TargetHealthDescriptions: [
        {
          Target: { Id: 'i-1', Port: 8080, AvailabilityZone: 'eu-west-1a', QuicServerId: '0x1a' },
          TargetHealth: { State: 'draining', Reason: 'Target.DeregistrationInProgress' },
          AdministrativeOverride: { State: 'zonal_shift_active' },
        },
        {
          Target: { Id: 'i-2' },
          TargetHealth: { State: 'healthy' },
          AdministrativeOverride: { State: 'no_override' },
        },
      ],
    }),
  });
  expect(await account.run(() => targetHealth('arn-1'))).toEqual([
    {
      target: { id: 'i-1', port: 8080, availabilityZone: 'eu-west-1a', quicServerId: '0x1a' },
      state: 'draining',
      reason: 'Target.DeregistrationInProgress',
      zonalShift: true,
    },
    { target: { id: 'i-2' }, state: 'healthy', zonalShift: false },
  ]);
  expect(account.asked).toEqual([{ action: 'DescribeTargetHealth', input: { TargetGroupArn: 'arn-1' } }]);
});

test('an empty group has no targets', async () => {
  const account = scripted('elasticloadbalancing', { DescribeTargetHealth: () => ({}) });
  expect(await account.run(() => targetHealth('arn-1'))).toEqual([]);
});

test('R-GONE: a group that does not exist is named as that by every call about it', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetHealth: noGroup,
    DescribeTargetGroupAttributes: noGroup,
    RegisterTargets: noGroup,
    DeregisterTargets: noGroup,
  });
  const unknown = { name: 'TargetGroupUnknown', message: 'There is no target group arn-9.' };
  const target = { id: 'i-1' };
  await expect(account.run(() => targetHealth('arn-9'))).rejects.toMatchObject(unknown);
  await expect(account.run(() => targetGroupAttributes('arn-9'))).rejects.toMatchObject(unknown);
  await expect(account.run(() => registerTargets('arn-9', [target], 'instance'))).rejects.toMatchObject(
    unknown,
  );
  await expect(account.run(() => deregisterTargets('arn-9', [target], 'instance'))).rejects.toMatchObject(
    unknown,
  );
});

test('D34: a group has its own health check settings, HTTP, gRPC or none', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetGroups: () => ({
      TargetGroups: [
        group('http', {
          Port: 80,
          VpcId: 'vpc-1',
          LoadBalancerArns: ['lb-1'],
          HealthCheckPath: '/health',
          HealthCheckPort: 'traffic-port',
          Matcher: { HttpCode: '200-299' },
        }),
        group('grpc', { Matcher: { GrpcCode: '12' } }),
        group('tcp'),
      ],
    }),
  });
  const [http, grpc, tcp] = await account.run(() => targetGroups(['http', 'grpc', 'tcp']));
  expect(http).toEqual({
    arn: 'http',
    name: 'name-of-http',
    targetType: 'instance',
    port: 80,
    vpcId: 'vpc-1',
    loadBalancerArns: ['lb-1'],
    healthCheck: {
      enabled: true,
      path: '/health',
      port: 'traffic-port',
      intervalSeconds: 10,
      timeoutSeconds: 5,
      healthyThreshold: 5,
      unhealthyThreshold: 2,
      matcher: '200-299',
    },
  });
  expect(grpc?.healthCheck.matcher).toBe('12');
  expect(tcp).toMatchObject({ loadBalancerArns: [], healthCheck: { enabled: true } });
  expect(tcp?.healthCheck).not.toHaveProperty('matcher');
});

test('D34: a health check setting that is missing is never assumed', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetGroups: () => ({
      TargetGroups: [{ ...group('g'), HealthCheckIntervalSeconds: undefined }],
    }),
  });
  await expect(account.run(() => targetGroups(['g']))).rejects.toThrow('no HealthCheckIntervalSeconds');
});

test('R-CHUNK, R-PARTIAL: groups are read by twenty, and an unknown one does not hide the others', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetGroups: ({ TargetGroupArns = [] }: DescribeTargetGroupsCommandInput) =>
      TargetGroupArns.includes('arn-007')
        ? noGroup()
        : { TargetGroups: TargetGroupArns.map(arn => group(arn)) },
  });
  const found = await account.run(() => targetGroups(names('arn-', 45)));
  expect(found.map(({ arn }) => arn)).toEqual(names('arn-', 45).filter(arn => arn !== 'arn-007'));
  const sizes = account.asked.map(
    ({ input }) => Array.isArray(input.TargetGroupArns) && input.TargetGroupArns.length,
  );
  expect(Math.max(...sizes.map(Number))).toBe(20);
});

test('R-PAGE: the groups of a VPC are sought on every page, and a strange group elsewhere does not matter', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetGroups: ({ Marker }: DescribeTargetGroupsCommandInput) =>
      Marker
        ? { TargetGroups: [group('second', { VpcId: 'vpc-1' }), { TargetGroupName: 'strange' }] }
        : {
            TargetGroups: [group('first', { VpcId: 'vpc-1' }), group('other', { VpcId: 'vpc-2' })],
            NextMarker: 'm',
          },
  });
  const found = await account.run(() => targetGroupsOfVpc('vpc-1'));
  expect(found.map(({ arn }) => arn)).toEqual(['first', 'second']);
});

test('attributes are read as a record, and of nothing as an empty one', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeTargetGroupAttributes: () => ({
      Attributes: [{ Key: 'deregistration_delay.timeout_seconds', Value: '300' }, { Key: 'stickiness.type' }],
    }),
    DescribeLoadBalancerAttributes: () => ({}),
  });
  expect(await account.run(() => targetGroupAttributes('arn-1'))).toEqual({
    'deregistration_delay.timeout_seconds': '300',
    'stickiness.type': '',
  });
  expect(await account.run(() => loadBalancerAttributes('lb-1'))).toEqual({});
});

test('R-PARTIAL: an unknown load balancer or resource does not hide the others', async () => {
  const missing = (arns: string[] | undefined = []): string[] => {
    if (arns.includes('lb-gone')) throw new ServiceError('LoadBalancerNotFound', 'not found');
    return arns;
  };
  const account = scripted('elasticloadbalancing', {
    DescribeLoadBalancers: ({ LoadBalancerArns }: DescribeLoadBalancersCommandInput) => ({
      LoadBalancers: missing(LoadBalancerArns).map(LoadBalancerArn => ({
        LoadBalancerArn,
        Type: 'network',
        ...(LoadBalancerArn === 'lb-1' && { AvailabilityZones: [{ ZoneName: 'eu-west-1a' }] }),
      })),
    }),
    DescribeTags: ({ ResourceArns }: DescribeTagsCommandInput) => ({
      TagDescriptions: missing(ResourceArns).map(ResourceArn => ({
        ResourceArn,
        Tags: [{ Key: 'a', Value: 'b' }],
      })),
    }),
  });
  const arns = ['lb-1', 'lb-gone', 'lb-2'];
  expect(await account.run(() => loadBalancerTypes(arns))).toEqual(
    new Map([
      ['lb-1', { type: 'network', zones: ['eu-west-1a'] }],
      ['lb-2', { type: 'network', zones: [] }],
    ]),
  );
  expect(await account.run(() => tagsOf(arns))).toEqual(
    new Map([
      ['lb-1', { a: 'b' }],
      ['lb-2', { a: 'b' }],
    ]),
  );
});

test('answers without their lists are empty ones', async () => {
  const account = scripted('elasticloadbalancing', {
    DescribeLoadBalancers: () => ({}),
    DescribeTags: () => ({}),
  });
  expect(await account.run(() => loadBalancerTypes(['lb-1']))).toEqual(new Map());
  expect(await account.run(() => tagsOf(['lb-1']))).toEqual(new Map());
});

const listed = [
  { id: 'i-1', port: 8080, availabilityZone: 'eu-west-1a', quicServerId: '0x1a' },
  { id: 'i-1', port: 8081, availabilityZone: 'eu-west-1a' },
];

test('R-EXACT, D27: id, port and QUIC server id are sent as listed, the zone only for ip targets', async () => {
  const account = scripted('elasticloadbalancing', {
    RegisterTargets: () => ({}),
    DeregisterTargets: () => ({}),
  });
  await account.run(() => deregisterTargets('arn-1', listed, 'instance'));
  await account.run(() => registerTargets('arn-1', listed, 'instance'));
  await account.run(() =>
    registerTargets('arn-1', [{ id: '10.0.0.5', port: 80, availabilityZone: 'all' }], 'ip'),
  );
  const withoutZones = [
    { Id: 'i-1', Port: 8080, QuicServerId: '0x1a' },
    { Id: 'i-1', Port: 8081 },
  ];
  expect(account.asked).toEqual([
    { action: 'DeregisterTargets', input: { TargetGroupArn: 'arn-1', Targets: withoutZones } },
    { action: 'RegisterTargets', input: { TargetGroupArn: 'arn-1', Targets: withoutZones } },
    {
      action: 'RegisterTargets',
      input: { TargetGroupArn: 'arn-1', Targets: [{ Id: '10.0.0.5', Port: 80, AvailabilityZone: 'all' }] },
    },
  ]);
});

test.each(['InvalidTarget', 'TooManyRegistrationsForTargetId'])(
  'R-PARTIAL, D34: a target that is refused by %s is named, and the others are acted on',
  async code => {
    const act = ({ Targets = [] }: RegisterTargetsCommandInput | DeregisterTargetsCommandInput) => {
      if (Targets.some(target => target.Id === 'i-013'))
        throw new ServiceError(code, "'i-013' is not running");
      return {};
    };
    const account = scripted('elasticloadbalancing', { RegisterTargets: act, DeregisterTargets: act });
    const targets = names('i-', 100).map(id => ({ id, port: 80 }));
    for (const acting of [registerTargets, deregisterTargets]) {
      const outcome = await account.run(() => acting('arn-1', targets, 'instance'));
      expect(outcome.failed).toEqual([
        { item: { id: 'i-013', port: 80 }, reason: expect.stringContaining('is not running') },
      ]);
      expect(outcome.done).toEqual(targets.filter(({ id }) => id !== 'i-013'));
    }
    expect(account.asked.length).toBeLessThanOrEqual(2 * 15);
  },
);

test('no targets are no call', async () => {
  const account = scripted('elasticloadbalancing', {});
  expect(await account.run(() => registerTargets('arn-1', [], 'instance'))).toEqual({ done: [], failed: [] });
  expect(account.asked).toEqual([]);
});
