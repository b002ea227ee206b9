import { describe, expect, test } from 'vitest';
import { changes, classes, lastOf, ringing, SIX, viewed } from './helpers/viewed.ts';

/** Each class, and its false friend, has a scenario: scenarios/zone-*.yaml. */
describe('what befalls a target group', () => {
  test('is one zone also while a live run holds all others', async () => {
    const { run, fail, minutes } = await viewed({ ...SIX, checks: [{ port: 8080 }] });
    await run.before({ fleet: { instanceIds: run.ids(1, 2, 4, 5) }, traffic: 'leave' });
    fail(0, 3);
    await minutes(5);
    expect(classes(run)).toEqual(['one-zone']);
    expect(ringing(run)).toEqual(['OneZoneAlarm']);
  });

  test('is nothing where half a percent of the requests fail always, also while a target drains', async () => {
    const { run, minutes } = await viewed();
    let count = 0;
    for (const { application } of run.standing.fleet.instances)
      application.suffer(({ path }) =>
        path === '/' && count++ % 200 === 0 ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
      );
    await minutes(8);
    const [group] = run.standing.fleet.targetGroups;
    run.standing.account.loadBalancing.deregister(
      group?.arn ?? '',
      run.ids(4).map(id => ({ id })),
    );
    await minutes(5);
    expect(classes(run)).toEqual([]);
  });
});

test('a zone event says which zone, since when, and whether what is left is enough; it ends with its cause', async () => {
  const { run, fail, heal, minutes } = await viewed();
  expect(lastOf(run, 'zone_receiving_targets', { target_group: 'web', az: 'eu-west-1a' })).toBe(2);
  fail(0, 3);
  await minutes(3);
  const [change] = changes(run);
  expect(change).toMatchObject({ group: 'web', from: 'well', to: 'one-zone', zone: 'eu-west-1a' });
  expect(change?.summary).toContain('The other zones have 4 healthy targets of web');
  expect(lastOf(run, 'zone_healthy_targets', { target_group: 'web', az: 'eu-west-1a' })).toBe(0);
  expect(lastOf(run, 'zone_healthy_targets', { target_group: 'web', az: 'eu-west-1b' })).toBe(2);
  heal(0, 3);
  await minutes(4);
  expect(classes(run)).toEqual(['one-zone', 'well']);
  expect(ringing(run)).toEqual([]);
});

test('D19: a group without the tag is nobody of ours to look at, one without a load balancer serves nothing', async () => {
  const others = [{ name: 'spare', port: 8080, served: false }];
  const { run } = await viewed({ ...SIX, targetGroups: [...(SIX.targetGroups ?? []), ...others] });
  expect(lastOf(run, 'zone_healthy_targets', { target_group: 'spare' })).toBeUndefined();
  const untagged = await viewed({ ...SIX, optedIn: ['instances'] });
  expect(lastOf(untagged.run, 'zone_healthy_targets', { target_group: 'web' })).toBeUndefined();
  expect(lastOf(untagged.run, 'zone_class_total', { class: 'one-zone' })).toBe(0);
});
