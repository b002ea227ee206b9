import { expect, test } from 'vitest';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import type { Bracket } from '../machine/helpers/bracket.ts';
import { unneededByAll } from '../template/helpers/role-groups.ts';
import { changes, classes, lastOf, SIX, viewed } from './helpers/viewed.ts';

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
  const network = await viewed({
    ...SIX,
    loadBalancer: { type: 'network', crossZone: false },
    targetGroups: WEB ? [{ name: 'web', port: 8080 }] : [],
  });
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
