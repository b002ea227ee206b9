import { expect, test } from 'vitest';
import { DESCRIBES_AT_ONCE } from '../../functions/core/limits.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import type { Bracket, Fleet } from '../machine/helpers/bracket.ts';
import { unneededByAll } from '../template/helpers/role-groups.ts';
import { changes, classes, lastOf, ringing, SIX, viewed } from './helpers/viewed.ts';

const [WEB] = SIX.targetGroups ?? [];

/** Fails this action of the function from the time on that `failing.now` is set. */
function refusing(action: string, error: ServiceError) {
  const failing = { now: false };
  const gate: Gate = {
    before(call) {
      if (failing.now && call.action === action && call.caller.name === 'ViewZonesFunction') throw error;
    },
  };
  return { failing, settings: { gates: () => [gate] } };
}

const NETWORK: Partial<Fleet> = {
  loadBalancer: { type: 'network', crossZone: false },
  targetGroups: WEB ? [{ name: 'web', port: 8080 }] : [],
};

const receiving = (run: Bracket) =>
  ['a', 'b', 'c'].map(zone =>
    lastOf(run, 'zone_receiving_targets', { target_group: 'web', az: `eu-west-1${zone}` }),
  );

test('the function may do all that it does, and nothing else; of a network load balancer it asks for cross-zone', async () => {
  const { failing, settings } = refusing(
    'DescribeTargetGroups',
    new ServiceError('InternalFailure', 'no', 500),
  );
  const { run, minutes } = await viewed(SIX, settings);
  failing.now = true;
  await minutes(3);
  const network = await viewed({ ...SIX, ...NETWORK });
  expect(receiving(network.run)).toEqual([2, 2, 2]);
  network.run.standing.fleet.instances[0]?.application.stop();
  network.run.standing.fleet.instances[3]?.application.stop();
  await network.minutes(3);
  // Without cross-zone load balancing the zone fails open for itself.
  expect(receiving(network.run)).toEqual([2, 2, 2]);
  const stacks = [run.stack, network.run.stack];
  const logs = stacks.flatMap(({ lambda }) =>
    lambda.logs.filter(({ line }) => line.includes('AccessDenied')),
  );
  expect(logs).toEqual([]);
  expect(unneededByAll('zones', stacks)).toEqual([]);
});

test('targets by address are in the zones of their instances', async () => {
  const { run, minutes } = await viewed({
    ...SIX,
    targetGroups: [{ name: 'web', port: 8080, targetType: 'ip' }],
  });
  expect(receiving(run)).toEqual([2, 2, 2]);
  for (const number of [1, 4]) run.standing.fleet.instances[number]?.application.stop();
  await minutes(3);
  expect(changes(run)).toMatchObject([{ to: 'one-zone', zone: 'eu-west-1b' }]);
  // An address that is no instance's, and not of this network.
  const elsewhere = { id: '192.168.0.9', port: 8080, availabilityZone: 'all', quicServerId: undefined };
  run.standing.account.loadBalancing.register(run.standing.fleet.targetGroups[0]?.arn ?? '', [elsewhere]);
  await minutes(2);
  expect(lastOf(run, 'zone_healthy_targets', { target_group: 'web', az: 'all' })).toBe(0);
});

test('R-GONE: a group that is deleted while it is looked at is left out, and the others are viewed', async () => {
  const { failing, settings } = refusing(
    'DescribeTargetHealth',
    new ServiceError('TargetGroupNotFound', 'gone'),
  );
  const { run, minutes } = await viewed(SIX, settings);
  failing.now = true;
  await minutes(2);
  expect(lastOf(run, 'groups', { event: 'zones.viewed' })).toBe(0);
});

test.each([
  ['GetMetricData', 'InternalServiceFault', 500],
  ['GetMetricData', 'AccessDenied', 403],
] as const)(
  'a zone event is told also while %s fails with %s: that is a remark',
  async (action, code, status) => {
    const { failing, settings } = refusing(action, new ServiceError(code, 'no', status));
    const { run, minutes, fail } = await viewed(SIX, settings);
    expect(lastOf(run, 'remarks', { event: 'zones.viewed' })).toEqual([]);
    failing.now = true;
    fail(0, 3);
    await minutes(3);
    expect(classes(run)).toEqual(['one-zone']);
    expect(lastOf(run, 'remarks', { event: 'zones.viewed' })).toEqual([
      expect.stringMatching(
        /^Counts of requests cannot be read, and are left out: cloudwatch:GetMetricData failed/,
      ),
    ]);
  },
);

test.each([
  // A listing that never ends is a fault of nobody's that could be left out.
  ['GetMetricData', { NextToken: 'again' }],
  ['DescribeTargetGroupAttributes', new ServiceError('InternalFailure', 'no', 500)],
] as const)('R-SWALLOW: every other failure of a view is one, as of %s', async (action, answer) => {
  const failing = { now: false };
  const gate: Gate = {
    async around(call, input, perform) {
      if (!failing.now || call.action !== action || call.caller.name !== 'ViewZonesFunction')
        return perform(input);
      if (answer instanceof ServiceError) throw answer;
      return answer;
    },
  };
  const { run, minutes } = await viewed(SIX, { gates: () => [gate] });
  failing.now = true;
  await minutes(1);
  expect(run.stack.lambda.logs.at(-1)?.line).toContain('step.failed');
});

test('a zone event is told also while health check logs cannot be read: that is a remark', async () => {
  const failing = { now: false };
  const gate: Gate = {
    before({ action, caller }, input) {
      if (!failing.now || action !== 'GetItem' || caller.name !== 'ViewZonesFunction') return;
      if (JSON.stringify(input).includes('healthlog#'))
        throw new ServiceError('InternalServerError', 'no', 500);
    },
  };
  const { run, minutes, fail } = await viewed(SIX, { gates: () => [gate] });
  failing.now = true;
  fail(0, 3);
  await minutes(3);
  expect(classes(run)).toEqual(['one-zone']);
  expect(lastOf(run, 'remarks', { event: 'zones.viewed' })).toEqual([
    expect.stringMatching(/^Health check logs cannot be read/),
  ]);
});

test.each([
  ['DescribeTargetGroupAttributes', 'TargetGroupNotFound', 'application'],
  ['DescribeLoadBalancerAttributes', 'LoadBalancerNotFound', 'network'],
] as const)('R-GONE: so is one of which %s says %s', async (action, code, type) => {
  const { failing, settings } = refusing(action, new ServiceError(code, 'gone'));
  const { run, minutes } = await viewed({ ...SIX, ...(type === 'network' && NETWORK) }, settings);
  expect(lastOf(run, 'groups', { event: 'zones.viewed' })).toBe(1);
  failing.now = true;
  await minutes(2);
  expect(lastOf(run, 'groups', { event: 'zones.viewed' })).toBe(0);
});

test('what began while nobody looked is no zone event: nobody knows when', async () => {
  const { failing, settings } = refusing(
    'DescribeTargetGroups',
    new ServiceError('InternalFailure', 'no', 500),
  );
  const { run, minutes, fail } = await viewed(SIX, settings);
  failing.now = true;
  await minutes(2);
  fail(0);
  await minutes(10);
  fail(3);
  await minutes(3);
  const blind = ringing(run);
  failing.now = false;
  await minutes(4);
  expect(classes(run)).toEqual(['several-targets']);
  expect(blind).toEqual(['ViewMissingAlarm']);
  // A view that nobody has handled is of no use to anybody later.
  const { queues, template } = run.stack;
  expect(queues.messages(template.queues.get('LostEvents')?.arn ?? '')).toEqual([]);
});

test('R-THROTTLE: many groups are asked about a few at a time, and the logs of a load balancer once', async () => {
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const reads: string[] = [];
  const gate: Gate = {
    before({ action, caller }, input) {
      if (caller.name !== 'ViewZonesFunction') return;
      const pk = JSON.stringify(input).match(/healthlog#[^"#]*/)?.[0];
      if (action === 'GetItem' && pk) reads.push(pk);
    },
    async around(call, input, perform) {
      if (call.caller.name !== 'ViewZonesFunction') return perform(input);
      const count = (now.get(call.action) ?? 0) + 1;
      now.set(call.action, count);
      most.set(call.action, Math.max(most.get(call.action) ?? 0, count));
      await new Promise(resolve => setImmediate(resolve));
      now.set(call.action, count - 1);
      return perform(input);
    },
  };
  const { run, minutes } = await viewed(SIX, { gates: () => [gate] });
  const { loadBalancing } = run.standing.account;
  const [first] = loadBalancing.groups();
  if (!first?.loadBalancer) throw new Error('the fleet has no served group');
  for (let number = 0; number < 30; number++)
    loadBalancing.addTargetGroup({
      ...first,
      name: `g${number}`,
      loadBalancer: first.loadBalancer.arn,
      attributes: {},
      tags: { quiesce: 'enabled' },
    });
  reads.length = 0;
  await minutes(1);
  expect(lastOf(run, 'groups', { event: 'zones.viewed' })).toBe(31);
  expect(reads).toHaveLength(1);
  for (const action of ['DescribeTargetHealth', 'DescribeTargetGroupAttributes', 'DescribeTags'])
    expect(most.get(action)).toBeLessThanOrEqual(DESCRIBES_AT_ONCE);
});

test('5xx answers of a load balancer that serves another group too, with the tag or without, are of neither', async () => {
  const { run, minutes } = await viewed();
  const { loadBalancing } = run.standing.account;
  const [first] = loadBalancing.groups();
  if (!first?.loadBalancer) throw new Error('the fleet has no served group');
  loadBalancing.addTargetGroup({
    ...first,
    name: 'untagged',
    loadBalancer: first.loadBalancer.arn,
    attributes: {},
    tags: {},
  });
  await minutes(1);
  // The load balancer answers 502 itself for a target that closes the connection.
  for (const { application } of run.standing.fleet.instances)
    application.suffer(({ path }) => (path === '/' ? { kind: 'resets' } : undefined));
  await minutes(6);
  expect(classes(run)).toEqual([]);
});

test('how many targets are needed is a tag of the group; 5xx of a load balancer with two groups are of neither', async () => {
  const { run, minutes, fail } = await viewed();
  const { loadBalancing } = run.standing.account;
  const [first] = loadBalancing.groups();
  if (!first?.loadBalancer) throw new Error('the fleet has no served group');
  const { arn } = loadBalancing.addTargetGroup({
    ...first,
    name: 'api',
    loadBalancer: first.loadBalancer.arn,
    attributes: {},
    tags: { quiesce: 'enabled', 'quiesce-needed-targets': '5' },
  });
  loadBalancing.register(arn, run.standing.fleet.instances);
  await minutes(2);
  fail(2, 5);
  await minutes(3);
  const [api, ...others] = changes(run).filter(({ group }) => group === 'api');
  expect(others).toEqual([]);
  expect(api).toMatchObject({ to: 'one-zone', zone: 'eu-west-1c' });
  expect(api?.summary).toContain('of api, and 5 carry the load: that is not enough.');
  expect(classes(run)).toEqual(['one-zone', 'one-zone']);
});
