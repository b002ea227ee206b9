import { describe, expect, test } from 'vitest';
import {
  BLOCKED,
  type FoundBucket,
  folderOf,
  type LogsWanted,
  planLogs,
  remarksOnDays,
} from '../../local/cli/logs-plan.ts';

const wanted: LogsWanted = {
  loadBalancerArn:
    'arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/50dc6c495c0c9188',
  bucket: 'our-logs',
  own: false,
  prefix: '',
  days: 30,
};
const OFF = { enabled: false, bucket: '', prefix: '' };
const ON = { enabled: true, bucket: 'our-logs', prefix: '' };

const statement = (changes: object = {}) => ({
  Effect: 'Allow',
  Principal: { Service: 'logdelivery.elasticloadbalancing.amazonaws.com' },
  Action: 's3:PutObject',
  Resource: 'arn:aws:s3:::our-logs/AWSLogs/111122223333/*',
  ...changes,
});

const found = (statements: readonly object[], changes: Partial<FoundBucket> = {}): FoundBucket => ({
  policy: JSON.stringify({ Version: '2012-10-17', Id: 'theirs', Statement: statements }),
  isPublic: false,
  encryption: 'AES256',
  publicAccess: BLOCKED,
  lifecycle: [],
  notifications: { EventBridgeConfiguration: {} },
  ...changes,
});

const kinds = (...args: Parameters<typeof planLogs>) => planLogs(...args).map(({ kind }) => kind);

test('without a bucket everything is made, the logs last', () => {
  expect(kinds(wanted, undefined, OFF)).toEqual([
    'create-bucket',
    'delete-old',
    'let-delivery-in',
    'tell-event-bridge',
    'switch-on',
  ]);
});

test('with everything there nothing is to do; the delivery writes only where the account has its folder', () => {
  expect(planLogs(wanted, found([statement()]), ON)).toEqual([]);
  expect(folderOf({ ...wanted, prefix: 'balancers' })).toBe('balancers/AWSLogs/111122223333/');
});

test('R-OWN: a policy and notifications are added to, and nothing of a bucket that is there is set to be deleted', () => {
  const theirs = { Sid: 'Theirs', Effect: 'Deny', Principal: '*', Action: 's3:*', Resource: '*' };
  const queue = { QueueConfigurations: [{ QueueArn: 'arn:q', Events: ['s3:ObjectCreated:*' as const] }] };
  const steps = planLogs(wanted, found([theirs], { notifications: queue, publicAccess: {} }), OFF);
  expect(steps.map(({ kind }) => kind)).toEqual([
    'block-public-access',
    'let-delivery-in',
    'tell-event-bridge',
    'switch-on',
  ]);
  const policy = steps.flatMap(step => (step.kind === 'let-delivery-in' ? JSON.parse(step.policy) : []));
  expect(policy).toEqual([
    {
      Id: 'theirs',
      Version: '2012-10-17',
      Statement: [theirs, statement()],
    },
  ]);
  expect(steps).toContainEqual({
    kind: 'tell-event-bridge',
    notifications: { ...queue, EventBridgeConfiguration: {} },
  });
});

test("the stack's own bucket converges, also after an attempt that was cut off; no rule that deletes is added to another", () => {
  const own = { ...wanted, own: true };
  const after = (lifecycle: FoundBucket['lifecycle']) => found([statement()], { lifecycle });
  const archives = { ID: 'theirs', Status: 'Enabled', Filter: { Prefix: 'x' } } as const;
  expect(planLogs(own, after([archives]), ON)).toEqual([
    {
      kind: 'delete-old',
      days: 30,
      rules: [
        archives,
        { ID: 'old-logs', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 30 } },
      ],
    },
  ]);
  expect(kinds(own, after([{ ...archives, Status: 'Disabled', Expiration: { Days: 1 } }]), ON)).toEqual([
    'delete-old',
  ]);
  expect(planLogs(own, after([{ ...archives, Expiration: { Days: 90 } }]), ON)).toEqual([]);
  expect(planLogs(wanted, after([]), ON)).toEqual([]);
});

test('R-OWN: days that were asked for and do not come are said, with what deletes instead', () => {
  const rule = { ID: 'theirs', Status: 'Enabled', Expiration: { Days: 90 } } as const;
  const remarks = (bucket: FoundBucket, days = 7) =>
    remarksOnDays({ ...wanted, days }, bucket, planLogs({ ...wanted, days }, bucket, ON));
  expect(remarks(found([]))).toEqual([
    'our-logs is there and deletes nothing by itself, which is left as it is: --days 7 changes nothing.',
  ]);
  expect(remarks(found([], { lifecycle: [rule] }))).toEqual([
    'our-logs is there and is deleted from by its own rule theirs by {"Days":90}, which is left as it is: --days 7 changes nothing.',
  ]);
  expect(remarks(found([], { lifecycle: [rule] }), 90)).toEqual([]);
  const own = { ...wanted, own: true };
  expect(remarksOnDays(own, found([]), planLogs(own, found([]), ON))).toEqual([]);
  expect(remarksOnDays(wanted, undefined, planLogs(wanted, undefined, ON))).toEqual([]);
});

test('a bucket whose policy lets everybody in is refused before anything is changed', () => {
  expect(() => planLogs(wanted, found([statement()], { isPublic: true }), OFF)).toThrow(
    'Bucket our-logs has a policy that lets everybody in',
  );
});

test('statements that are named as ours would be are no obstacle', () => {
  const [step] = planLogs(wanted, found([{ Sid: 'HealthCheckLogs2', Effect: 'Deny' }]), ON);
  const sids = step?.kind === 'let-delivery-in' ? JSON.parse(step.policy).Statement : [];
  expect(sids.map(({ Sid }: { Sid?: string }) => Sid)).toEqual(['HealthCheckLogs2', undefined]);
});

describe('what a policy lets in already', () => {
  test.each([
    ['the same', statement(), true],
    ['more', statement({ Action: ['s3:GetObject', 's3:*'], Resource: ['arn:aws:s3:::our-logs/*'] }), true],
    ['among others', statement({ Principal: { Service: ['x', statement().Principal.Service] } }), true],
    ['another prefix', statement({ Resource: 'arn:aws:s3:::our-logs/x/AWSLogs/111122223333/*' }), false],
    ['another service', statement({ Principal: { Service: 'cloudtrail.amazonaws.com' } }), false],
    ['everybody, which is not relied upon', statement({ Principal: '*' }), false],
    ['reading', statement({ Action: 's3:GetObject' }), false],
    ['on a condition', statement({ Condition: { StringEquals: {} } }), false],
    ['nothing, it is a Deny', statement({ Effect: 'Deny' }), false],
    ['no resource', statement({ Resource: 1 }), false],
  ])('%s', (_, one, enough) => {
    expect(kinds(wanted, found([one]), ON)).toEqual(enough ? [] : ['let-delivery-in']);
    const policy = JSON.stringify({ Statement: one });
    expect(kinds(wanted, found([], { policy }), ON)).toEqual(enough ? [] : ['let-delivery-in']);
  });
});

test('logs that go elsewhere are moved, and a bucket that load balancers cannot write to is refused', () => {
  expect(kinds(wanted, found([statement()]), { ...ON, bucket: 'other' })).toEqual(['switch-on']);
  expect(kinds(wanted, found([statement()]), { ...ON, prefix: 'x' })).toEqual(['switch-on']);
  expect(() => planLogs(wanted, found([statement()], { encryption: 'aws:kms' }), OFF)).toThrow(
    'Bucket our-logs is encrypted with keys of KMS (aws:kms)',
  );
});
