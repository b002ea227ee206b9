import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  effectiveCrossZone,
  type FloorSettings,
  isRegistered,
  judgeFloor,
  receives,
  type SeenTarget,
  thresholdsOf,
} from '../../functions/core/domain/floors.ts';

const settings = (some: Partial<FloorSettings> = {}): FloorSettings => ({
  crossZone: true,
  minHealthyPercent: 50,
  minHealthyCount: 1,
  minHealthyShareOfRegistered: 0,
  ...some,
});

const target = (key: string, some: Partial<SeenTarget> = {}): SeenTarget => ({
  key,
  zone: 'a',
  state: 'healthy',
  shifted: false,
  ...some,
});

const healthy = (...keys: string[]) => keys.map(key => target(key));
const none = new Map<string, number>();
const permits = (...args: Parameters<typeof judgeFloor>) => judgeFloor(...args).permitted;

describe('what receives traffic (D6)', () => {
  test.each([
    ['healthy', undefined, true],
    ['unavailable', 'Target.HealthCheckDisabled', true],
    ['unavailable', 'Elb.InternalError', false],
    ['unavailable', undefined, false],
    ['initial', 'Elb.InitialHealthChecking', false],
    ['unhealthy', 'Target.Timeout', false],
    ['unhealthy.draining', 'Target.Timeout', false],
    ['draining', 'Target.DeregistrationInProgress', false],
    ['unused', 'Target.NotInUse', false],
  ])('%s %s: %s', (state, reason, expected) => {
    expect(receives({ state, reason, shifted: false })).toBe(expected);
    expect(receives({ state, reason, shifted: true })).toBe(false);
  });

  test('R-NOTINUSE: unhealthy.draining is a registered target, draining is one that has left', () => {
    const registered = ['initial', 'healthy', 'unhealthy', 'unhealthy.draining', 'unavailable'];
    for (const state of registered) expect(isRegistered({ state }), state).toBe(true);
    for (const state of ['draining', 'unused']) expect(isRegistered({ state }), state).toBe(false);
  });
});

describe('the floor', () => {
  test('D6: the policy is a share of all that belong to the group, rounded up', () => {
    const five = healthy('1', '2', '3', '4', '5');
    expect(permits(settings(), five, new Set(['1', '2']), none)).toBe(true);
    expect(judgeFloor(settings(), five, new Set(['1', '2', '3']), none)).toEqual({
      permitted: false,
      scope: 'all zones',
      receiving: 5,
      leaving: 3,
      floor: 3,
    });
  });

  test("D6: the group's own thresholds bind where they are stricter than the policy", () => {
    const four = healthy('1', '2', '3', '4');
    const lenient = { minHealthyPercent: 0 };
    expect(permits(settings({ ...lenient, minHealthyCount: 3 }), four, new Set(['1']), none)).toBe(true);
    expect(permits(settings({ ...lenient, minHealthyCount: 3 }), four, new Set(['1', '2']), none)).toBe(
      false,
    );
    const halfIll = [...four, target('5', { state: 'unhealthy' }), target('6', { state: 'unhealthy' })];
    const share = settings({ ...lenient, minHealthyShareOfRegistered: 60 });
    // 3 of the 5 that stay registered are 60 %; 2 of the 4 are not.
    expect(permits(share, halfIll, new Set(['1']), none)).toBe(true);
    expect(permits(share, halfIll, new Set(['1', '2']), none)).toBe(false);
  });

  test('D6: a shifted or unhealthy target is not what is left in traffic', () => {
    const shifted = [target('1'), target('2', { shifted: true })];
    const ill = [target('1'), target('2', { state: 'unhealthy' })];
    for (const targets of [shifted, ill])
      expect(permits(settings({ minHealthyPercent: 0 }), targets, new Set(['1']), none)).toBe(false);
  });

  test('D6: with cross-zone off each zone keeps its own floor, with cross-zone on all zones together', () => {
    const oneIn = [target('1', { zone: 'a' }), target('2', { zone: 'b' }), target('3', { zone: 'b' })];
    expect(permits(settings(), oneIn, new Set(['1']), none)).toBe(true);
    expect(judgeFloor(settings({ crossZone: false }), oneIn, new Set(['2', '1']), none)).toMatchObject({
      permitted: false,
      scope: 'a',
      floor: 1,
    });
    expect(permits(settings({ crossZone: false }), oneIn, new Set(['2']), none)).toBe(true);
  });

  test('D37: what gets no requests may always leave', () => {
    const lastOnes = [target('1', { state: 'unhealthy' }), target('2', { shifted: true })];
    for (const crossZone of [true, false])
      expect(
        permits(settings({ crossZone, minHealthyPercent: 100 }), lastOnes, new Set(['1', '2']), none),
      ).toBe(true);
  });

  test('D7: what other live runs have out still belongs to the group', () => {
    const left = healthy('1', '2', '3');
    expect(permits(settings(), left, new Set(['1']), none)).toBe(true);
    expect(permits(settings(), left, new Set(['1']), new Map([['a', 2]]))).toBe(false);
    // Out of another zone: with cross-zone off it does not count here.
    const zonal = settings({ crossZone: false });
    expect(permits(zonal, left, new Set(['1']), new Map([['b', 2]]))).toBe(true);
  });

  test('best: a group that is ill only for now is waited for, one that is too small is not', () => {
    const ill = [target('1'), target('2', { state: 'unhealthy' })];
    expect(permits(settings(), ill, new Set(['1']), none)).toBe(false);
    expect(permits(settings(), ill, new Set(['1']), none, 'best')).toBe(true);
    expect(permits(settings(), healthy('1'), new Set(['1']), none, 'best')).toBe(false);
    expect(permits(settings(), healthy('1'), new Set(['1']), new Map([['a', 1]]), 'best')).toBe(true);
  });
});

const ZONES = ['a', 'b', 'c'];
const someSettings = fc.record({
  crossZone: fc.boolean(),
  minHealthyPercent: fc.integer({ min: 0, max: 100 }),
  minHealthyCount: fc.integer({ min: 1, max: 5 }),
  minHealthyShareOfRegistered: fc.integer({ min: 0, max: 100 }),
});
const someState = fc.constantFrom(
  'initial',
  'healthy',
  'healthy',
  'healthy',
  'unhealthy',
  'unhealthy.draining',
  'draining',
  'unused',
  'unavailable',
);
const someTargets = fc.array(
  fc.record({
    zone: fc.constantFrom(...ZONES),
    state: someState,
    reason: fc.constantFrom('Target.HealthCheckDisabled', undefined),
    shifted: fc.boolean(),
    leaves: fc.boolean(),
  }),
  { maxLength: 12 },
);
const someOut = fc.dictionary(fc.constantFrom(...ZONES), fc.integer({ min: 0, max: 4 }));

type Drawn = Omit<SeenTarget, 'key'> & { readonly leaves: boolean };
const keyed = (drawn: readonly Drawn[]) => drawn.map((one, index) => ({ ...one, key: String(index) }));
const leavingOf = (targets: readonly (SeenTarget & { leaves: boolean })[]) =>
  new Set(targets.filter(one => one.leaves).map(one => one.key));

test('D6, D7, D37: permitted is exactly when no scope that loses traffic falls below a floor', () => {
  fc.assert(
    fc.property(someSettings, someTargets, someOut, (limits, drawn, out) => {
      const targets = keyed(drawn);
      const keepsFloor = (inScope: (zone: string) => boolean): boolean => {
        const here = targets.filter(one => inScope(one.zone));
        if (!here.some(one => one.leaves && receives(one))) return true;
        const left = here.filter(one => !one.leaves && receives(one)).length;
        const outHere = Object.entries(out).reduce((sum, [zone, n]) => sum + (inScope(zone) ? n : 0), 0);
        const registered = here.filter(isRegistered).length;
        const staying = here.filter(one => !one.leaves && isRegistered(one)).length;
        return (
          left * 100 >= (registered + outHere) * limits.minHealthyPercent &&
          left >= limits.minHealthyCount &&
          left * 100 >= staying * limits.minHealthyShareOfRegistered
        );
      };
      const expected = limits.crossZone
        ? keepsFloor(() => true)
        : ZONES.every(zone => keepsFloor(one => one === zone));
      expect(permits(limits, targets, leavingOf(targets), new Map(Object.entries(out)))).toBe(expected);
    }),
    { numRuns: 1000 },
  );
});

test('D6: best refuses only when no health of the others, and no return of what is out, would permit', () => {
  // What may come: the others' states, and how many of those out are back and healthy.
  const future = fc.record({
    states: fc.array(fc.constantFrom('healthy', 'healthy', 'unhealthy', 'initial'), {
      minLength: 12,
      maxLength: 12,
    }),
    back: fc.dictionary(fc.constantFrom(...ZONES), fc.integer({ min: 0, max: 4 })),
  });
  let refusals = 0;
  fc.assert(
    fc.property(someSettings, someTargets, someOut, future, (limits, drawn, out, { states, back }) => {
      const targets = keyed(drawn);
      const leaving = leavingOf(targets);
      if (permits(limits, targets, leaving, new Map(Object.entries(out)), 'best')) return;
      refusals++;
      const later = targets.map((one, index) =>
        one.leaves || !isRegistered(one)
          ? one
          : { ...one, shifted: false, state: states[index] ?? 'healthy' },
      );
      const stillOut = new Map<string, number>();
      for (const [zone, n] of Object.entries(out)) {
        const returned = Math.min(n, back[zone] ?? 0);
        stillOut.set(zone, n - returned);
        for (let i = 0; i < returned; i++)
          later.push({ ...target(`${zone} back ${i}`, { zone }), leaves: false });
      }
      expect(permits(limits, later, leaving, stillOut)).toBe(false);
    }),
    { numRuns: 2000 },
  );
  expect(refusals).toBeGreaterThan(100);
});

test('D7: the floor does not ratchet down: however many runs come and go, the share is of the whole fleet', () => {
  const step = fc.record({ run: fc.integer({ min: 0, max: 3 }), take: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 0, max: 100 }),
      fc.array(step, { maxLength: 30 }),
      (size, percent, steps) => {
        const fleet = new Map(Array.from({ length: size }, (_, i) => [String(i), 'healthy']));
        const outOf = new Map<number, string[]>();
        for (const { run, take } of steps) {
          const back = outOf.get(run);
          if (back) {
            for (const key of back) fleet.set(key, 'healthy');
            outOf.delete(run);
            continue;
          }
          const leaving = [...fleet]
            .filter(([, state]) => state === 'healthy')
            .slice(0, take)
            .map(([key]) => key);
          const seen = [...fleet].map(([key, state]) => target(key, { state }));
          const out = [...outOf.values()].flat().length;
          if (
            !permits(settings({ minHealthyPercent: percent }), seen, new Set(leaving), new Map([['a', out]]))
          )
            continue;
          for (const key of leaving) fleet.set(key, 'draining');
          outOf.set(run, leaving);
          const left = [...fleet.values()].filter(state => state === 'healthy').length;
          if (leaving.length > 0) expect(left).toBeGreaterThanOrEqual(Math.max(1, (size * percent) / 100));
        }
      },
    ),
  );
});

describe("the group's own settings (aws-behaviour 1.8)", () => {
  const health = (action: string, what: string) =>
    `target_group_health.${action}.minimum_healthy_targets.${what}`;

  test('defaults are one target and no percentage', () => {
    expect(thresholdsOf({})).toEqual({ minHealthyCount: 1, minHealthyShareOfRegistered: 0 });
  });

  test('the stricter of DNS failover and unhealthy-state routing counts, and off is the default', () => {
    expect(
      thresholdsOf({
        [health('dns_failover', 'count')]: 'off',
        [health('unhealthy_state_routing', 'count')]: '2',
        [health('dns_failover', 'percentage')]: '60',
        [health('unhealthy_state_routing', 'percentage')]: 'off',
      }),
    ).toEqual({ minHealthyCount: 2, minHealthyShareOfRegistered: 60 });
  });

  test.each([
    ['true', 'network', 'false', true],
    ['false', 'application', 'true', false],
    ['use_load_balancer_configuration', 'network', 'true', true],
    ['use_load_balancer_configuration', 'network', 'false', false],
    [undefined, 'application', undefined, true],
    [undefined, 'network', undefined, false],
    [undefined, 'gateway', undefined, false],
  ])('cross-zone: group %s, %s load balancer %s: %s', (own, type, inherited, expected) => {
    const key = 'load_balancing.cross_zone.enabled';
    const attributes = inherited === undefined ? {} : { [key]: inherited };
    expect(effectiveCrossZone(own === undefined ? {} : { [key]: own }, { type, attributes })).toBe(expected);
  });

  test('cross-zone: a group without a load balancer counts all zones together', () => {
    expect(effectiveCrossZone({}, undefined)).toBe(true);
  });
});
