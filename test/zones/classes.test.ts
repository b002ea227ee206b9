import { describe, expect, test } from 'vitest';
import type { Fleet } from '../machine/helpers/bracket.ts';
import { changes, classes, lastOf, ringing, SIX, viewed } from './helpers/viewed.ts';

type Viewed = Awaited<ReturnType<typeof viewed>>;

interface Scenario {
  readonly name: string;
  readonly fleet?: Fleet;
  readonly happens: (fleet: Viewed) => Promise<unknown> | undefined;
  /** What is told, in this order. */
  readonly told: readonly string[];
  readonly rings?: readonly string[];
}

const group = ({ run }: Viewed) => run.standing.fleet.targetGroups[0]?.arn ?? '';
const deregister = (fleet: Viewed, number: number) =>
  fleet.run.standing.account.loadBalancing.deregister(
    group(fleet),
    fleet.run.ids(number).map(id => ({ id })),
  );
const stop = ({ run }: Viewed, number: number) => run.standing.fleet.instances[number]?.application.stop();

/** Each class with its false friend below it. */
const scenarios: readonly Scenario[] = [
  {
    name: 'one target',
    happens: async ({ fail }) => fail(1),
    told: ['one-target'],
    rings: ['OneTargetAlarm'],
  },
  {
    name: 'a deployment to one target: a live run holds the instance',
    fleet: { ...SIX, checks: [{ port: 8080 }] },
    happens: async fleet => {
      await fleet.run.before({ fleet: { instanceIds: fleet.run.ids(1) }, traffic: 'leave' });
      stop(fleet, 1);
    },
    told: [],
  },
  {
    name: 'one zone',
    happens: async ({ fail }) => fail(0, 3),
    told: ['one-zone'],
    rings: ['OneZoneAlarm'],
  },
  {
    name: 'one zone, while a live run holds all others',
    fleet: { ...SIX, checks: [{ port: 8080 }] },
    happens: async ({ run, fail }) => {
      await run.before({ fleet: { instanceIds: run.ids(1, 2, 4, 5) }, traffic: 'leave' });
      fail(0, 3);
    },
    told: ['one-zone'],
    rings: ['OneZoneAlarm'],
  },
  {
    name: 'two targets of one zone by chance: the second fails ten minutes later',
    happens: async ({ fail, minutes }) => {
      fail(0);
      await minutes(10);
      fail(3);
    },
    told: ['one-target', 'several-targets'],
    rings: ['SeveralTargetsAlarm'],
  },
  {
    name: 'two targets of two zones at once',
    happens: async ({ fail }) => fail(0, 1),
    told: ['several-targets'],
    rings: ['SeveralTargetsAlarm'],
  },
  {
    name: 'all targets: the load balancer fails open',
    happens: async ({ fail }) => fail(0, 1, 2, 3, 4, 5),
    told: ['all-targets'],
    rings: ['AllTargetsAlarm'],
  },
  {
    name: 'all but one',
    happens: async ({ fail }) => fail(0, 1, 2, 3, 4),
    told: ['several-targets'],
    rings: ['SeveralTargetsAlarm'],
  },
  {
    name: 'healthy, but 5xx',
    happens: async ({ answerWrongly }) => answerWrongly(2),
    told: ['shallow-check'],
    rings: ['ShallowCheckAlarm'],
  },
  {
    name: 'a few errors, for some seconds',
    happens: async ({ answerWrongly, heal, run }) => {
      answerWrongly(2);
      await run.clock.pass(5_000);
      heal(2);
    },
    told: [],
  },
  {
    name: 'half a percent of errors, always, while a target drains',
    happens: async fleet => {
      let count = 0;
      for (const { application } of fleet.run.standing.fleet.instances)
        application.suffer(({ path }) =>
          path === '/' && count++ % 200 === 0 ? { kind: 'responds', status: 500, afterMs: 20 } : undefined,
        );
      await fleet.minutes(8);
      deregister(fleet, 4);
    },
    told: [],
  },
  {
    name: '5xx while a target drains: it is stopped at once',
    happens: async fleet => {
      deregister(fleet, 4);
      await fleet.run.clock.pass(2_000);
      stop(fleet, 4);
    },
    told: ['errors-while-draining'],
  },
  {
    name: 'a target is stopped when it is drained',
    happens: async fleet => {
      deregister(fleet, 4);
      await fleet.minutes(3);
      stop(fleet, 4);
    },
    told: [],
  },
];

describe('each class is told from its false friend, and its alarm names it', () => {
  test.each(scenarios)('$name', async ({ fleet: spec, happens, told, rings = [] }) => {
    const fleet = await viewed(spec);
    expect(classes(fleet.run)).toEqual([]);
    await happens(fleet);
    // An alarm's second view of what began within a minute, and its own evaluation.
    await fleet.minutes(5);
    // Requests are looked at for five minutes, and a drained target's are over then: that class alone ends by itself.
    expect(classes(fleet.run).slice(0, told.length)).toEqual(told);
    if (told.length === 0) expect(classes(fleet.run)).toEqual([]);
    if (!told.includes('errors-while-draining')) expect(ringing(fleet.run)).toEqual(rings);
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
