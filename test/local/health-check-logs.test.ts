import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Account, createAccount } from '../../local/account/account.ts';
import { createWorld } from '../../local/account/world.ts';
import { ServiceError } from '../../local/wire/contract.ts';

const KEYS = {
  enabled: 'health_check_logs.s3.enabled',
  bucket: 'health_check_logs.s3.bucket',
  prefix: 'health_check_logs.s3.prefix',
};

const delivery = (resource: string, more: object = {}) => ({
  Effect: 'Allow',
  Principal: { Service: 'logdelivery.elasticloadbalancing.amazonaws.com' },
  Action: 's3:PutObject',
  Resource: resource,
  ...more,
});

const OURS = 'arn:aws:s3:::balancer-logs/shop/AWSLogs/111122223333/*';

/** A load balancer of two zones, with three targets: one well, one that answers 503, one that is silent. */
function createBalanced() {
  const account = createAccount(createWorld());
  const subnets = ['eu-west-1a', 'eu-west-1b'].map(zone => account.ec2.addSubnet(zone));
  const { id: groupId } = account.ec2.addSecurityGroup({
    ingress: [{ fromPort: 1, toPort: 65535, from: { cidr: '10.0.0.0/8' } }],
  });
  const [first] = subnets;
  const loadBalancer = account.loadBalancing.addLoadBalancer({
    name: 'web',
    type: 'application',
    zones: subnets.map(({ zone, zoneId, id }) => ({ zone, zoneId, subnetId: id })),
  });
  const group = account.loadBalancing.addTargetGroup({
    name: 'shop',
    port: 8080,
    targetType: 'instance',
    protocol: 'HTTP',
    vpcId: first?.vpcId ?? '',
    loadBalancer: loadBalancer.arn,
    healthCheck: {
      port: 'traffic-port',
      intervalSeconds: 30,
      timeoutSeconds: 5,
      healthyThreshold: 3,
      unhealthyThreshold: 2,
      matcher: '200',
    },
  });
  const fleet = [0, 1, 2, 3].map(() =>
    account.ec2.launch({
      subnetId: first?.id ?? '',
      securityGroupIds: [groupId],
      tags: {},
      startUpSeconds: 0,
      seasoned: true,
    }),
  );
  fleet[1]?.application.suffer(() => ({ kind: 'responds', status: 503, afterMs: 40 }));
  fleet[2]?.application.suffer(() => ({ kind: 'silent' }));
  fleet[3]?.application.stop();
  account.loadBalancing.register(group.arn, fleet);
  const bucket = account.storage.createBucket('balancer-logs');
  return {
    account,
    loadBalancer,
    bucket,
    fleet,
    pass: (seconds: number) => account.world.clock.pass(seconds * 1000),
  };
}

function enable({ loadBalancing }: Account, bucket = 'balancer-logs', prefix = 'shop'): string {
  const [loadBalancer] = loadBalancing.loadBalancers();
  try {
    if (loadBalancer)
      loadBalancing.changeLoadBalancer(loadBalancer, [
        [KEYS.enabled, 'true'],
        [KEYS.bucket, bucket],
        [KEYS.prefix, prefix],
      ]);
    return 'enabled';
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

test('each node of a load balancer writes a file every five minutes, compressed, under its own name', async () => {
  const { account, bucket, fleet, pass } = createBalanced();
  bucket.policy = JSON.stringify({ Statement: delivery(OURS) });
  expect(enable(account)).toBe('enabled');
  const [test] = bucket.objects.keys();
  expect(test).toBe('shop/AWSLogs/111122223333/ELBHealthCheckLogTestFile');

  await pass(601);
  // Each in the subnet of its zone.
  const interfaces = [...account.ec2.network.interfaces.values()].filter(
    ({ owner }) => owner.kind === 'requester',
  );
  expect(interfaces.map(({ subnet }) => subnet.zone)).toEqual(['eu-west-1a', 'eu-west-1b']);
  const nodes = interfaces.map(({ addresses }) => addresses[0]);
  const files = [...bucket.objects.values()].slice(1);
  expect(files.map(({ key }) => key)).toEqual(
    ['0905Z', '0910Z']
      .flatMap(end => nodes.map(node => `${end}_${node}`))
      .map(end =>
        expect.stringMatching(
          `^shop/AWSLogs/111122223333/elasticloadbalancing/eu-west-1/2026/11/30/health_check_log_111122223333_elasticloadbalancing_eu-west-1_app\\.web\\.[0-9a-f]{16}_20261130T${end}_[0-9a-z]{8}\\.log\\.gz$`,
        ),
      ),
  );
  const lines = gunzipSync(files[2]?.bytes ?? '')
    .toString()
    .trimEnd()
    .split('\n');
  // Ten rounds of four targets: which target a line is about, and how its check ended.
  expect(lines).toHaveLength(40);
  const address = (place: number) => `${fleet[place]?.privateAddresses[0]}:8080`;
  expect(new Set(lines.map(line => line.split(' ').slice(2).join(' ')))).toEqual(
    new Set([
      `0.020000000 ${address(0)} shop PASS 200 -`,
      `0.040000000 ${address(1)} shop FAIL 503 TargetError`,
      `5.000000000 ${address(2)} shop FAIL - TimedOut`,
      `0.001000000 ${address(3)} shop FAIL - ConnectionReset`,
    ]),
  );
  expect(lines[0]).toMatch(/^http 2026-11-30T09:0[5-9]:\d\d\.\d{6}Z /);
});

test('nothing is written while logs are off, nor by a bucket that no longer lets its writer in', async () => {
  const { account, loadBalancer, bucket, pass } = createBalanced();
  await pass(301);
  expect(bucket.objects.size).toBe(0);
  bucket.policy = JSON.stringify({ Statement: [delivery(OURS)] });
  enable(account);
  await pass(300);
  expect(bucket.objects.size).toBe(3);
  bucket.policy = undefined;
  await pass(300);
  account.loadBalancing.changeLoadBalancer(loadBalancer, [[KEYS.enabled, 'false']]);
  await pass(300);
  expect(bucket.objects.size).toBe(3);
});

const NO_TLS = { Condition: { Bool: { 'aws:SecureTransport': 'false' } } };
const OTHERS = { Condition: { StringEquals: { 'aws:SourceAccount': ['444455556666'] } } };

test.each([
  ['has no policy', undefined, 'InvalidConfigurationRequest'],
  [
    'lets in another service',
    [delivery(OURS, { Principal: { Service: 'cloudtrail.amazonaws.com' } })],
    'InvalidConfigurationRequest',
  ],
  ['lets in another prefix', [delivery(OURS.replace('shop', 'blog'))], 'InvalidConfigurationRequest'],
  ['lets in other accounts', [delivery(OURS, OTHERS)], 'InvalidConfigurationRequest'],
  [
    'denies it after all',
    [delivery(OURS), { ...delivery('*'), Effect: 'Deny', Principal: '*' }],
    'InvalidConfigurationRequest',
  ],
  [
    'denies what is not encrypted on its way',
    [delivery(OURS), { ...delivery('*', NO_TLS), Effect: 'Deny' }],
    'enabled',
  ],
  ['lets everybody in', [delivery('*', { Principal: '*', Action: 's3:Put*' })], 'enabled'],
  [
    'has a condition of another kind',
    [delivery(OURS, { Condition: { Bool: { 'aws:PrincipalIsAWSService': 'true' } } })],
    'Error: the condition key aws:PrincipalIsAWSService of bucket policies is not simulated',
  ],
  [
    'has a condition of another operator',
    [delivery(OURS, { Condition: { Null: { 'aws:SourceAccount': 'true' } } })],
    'Error: the condition operator Null of bucket policies is not simulated',
  ],
])('logs are switched on by what the policy of a bucket says that %s', (_, statements, outcome) => {
  const { account, bucket } = createBalanced();
  if (statements) bucket.policy = JSON.stringify({ Statement: statements });
  expect(enable(account)).toBe(outcome);
});

test('logs need a bucket that is there, in keys of S3, and a prefix without the folder that AWS adds', () => {
  const { account, bucket } = createBalanced();
  bucket.policy = JSON.stringify({ Statement: [delivery('*')] });
  expect(enable(account, 'of-nobody')).toBe('InvalidConfigurationRequest');
  expect(enable(account, '')).toBe('ValidationError');
  expect(enable(account, 'balancer-logs', 'x/AWSLogs')).toBe('ValidationError');
  bucket.encryption = 'aws:kms';
  expect(enable(account)).toBe('InvalidConfigurationRequest');
});

test('a Network Load Balancer has no such attributes', () => {
  const { loadBalancing } = createAccount(createWorld());
  const attributes = { [KEYS.enabled]: 'true' };
  expect(() => loadBalancing.addLoadBalancer({ name: 'n', type: 'network', zones: [], attributes })).toThrow(
    'is not recognized',
  );
});
