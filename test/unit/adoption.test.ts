import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  countLook,
  harmOf,
  leastObservation,
  type Observed,
  sampleOf,
  watchedUntil,
} from '../../functions/core/domain/adoption.ts';

const at = (seconds: number) => new Date(seconds * 1000);
const under = (
  instanceId: string,
  status: string,
  code: string | undefined,
  evaluatedAt: number,
): Observed => ({
  instanceId,
  since: 0,
  result: {
    checkId: 'asc-1',
    aggregation: 'excluded',
    status,
    ...(code !== undefined && { code }),
    evaluatedAt: at(evaluatedAt),
  },
});
const passing = (instanceId: string, evaluatedAt: number) =>
  under(instanceId, 'passed', 'ResponseCodeMatched', evaluatedAt);
const once = { evaluations: 1, newerThan: 100_000, members: 'both' };
const look = (observed: readonly Observed[], before = once, members = 'both') =>
  countLook(observed, members, before, 130_000, 300_000);

test('R-AGREE: a look counts when every instance has passed in a newer evaluation, and the next has to be newer still', () => {
  expect(look([passing('i-1', 110), passing('i-2', 120)])).toMatchObject({
    evaluations: 2,
    newerThan: 120_000,
  });
});

test('an evaluation that was counted is not counted twice, and breaks nothing', () => {
  expect(look([passing('i-1', 110), passing('i-2', 100)])).toMatchObject({
    evaluations: 1,
    newerThan: 100_000,
    reasons: ['i-2 shows no newer evaluation yet'],
  });
});

test.each([
  ['a failure that has not changed the status yet', under('i-2', 'passed', 'ResponseCodeMismatch', 120)],
  ['a reason that nobody knows', under('i-2', 'passed', 'TransportUnavailable', 120)],
  ['a failed check', under('i-2', 'failed', 'ConnectionTimeout', 120)],
  ['a check that has not decided yet', under('i-2', 'initializing', undefined, 120)],
  ['an instance without a result', { instanceId: 'i-2', since: 100_000 }],
])('%s begins the count again', (_, other) => {
  const { evaluations, newerThan, reasons } = look([passing('i-1', 110), other]);
  expect([evaluations, newerThan, reasons.length]).toEqual([0, 130_000, 1]);
});

test('R-GONE: so does an instance that has come or gone; a first look has nothing to begin again', () => {
  const both = [passing('i-1', 110), passing('i-3', 120)];
  expect(look(both, once, 'others').evaluations).toBe(0);
  expect(look(both, { ...once, evaluations: 0 }, 'others').evaluations).toBe(1);
});

test('a group without an instance proves nothing', () => {
  expect(look([]).evaluations).toBe(1);
  expect(look([], { ...once, evaluations: 0 }).evaluations).toBe(0);
});

test('D47: an instance of which EC2 reports nothing for long is named', () => {
  const silent = (since: number) => ({ instanceId: 'i-2', since });
  expect(look([silent(-180_000)]).unmonitored).toEqual(['i-2']);
  expect(look([silent(-160_000)]).unmonitored).toEqual([]);
});

test('a sample has an instance of every zone before it has two of one', () => {
  const instance = fc.record({
    instanceId: fc.uuid(),
    zone: fc.constantFrom('eu-west-1a', 'eu-west-1b', 'eu-west-1c'),
  });
  fc.assert(
    fc.property(
      fc.array(instance, { minLength: 1 }),
      fc.option(fc.nat(6), { nil: undefined }),
      (all, size) => {
        const zones = new Set(all.map(({ zone }) => zone));
        const sample = sampleOf(all, size);
        const sampled = new Set(sample.map(id => all.find(({ instanceId }) => instanceId === id)?.zone));
        expect(sample).toHaveLength(Math.min(size ?? zones.size, all.length));
        expect(sampled.size).toBe(Math.min(sample.length, zones.size));
      },
    ),
  );
});

test('R-BUDGET: an observation has time for the grace period, every evaluation, and the lag', () => {
  const check = { graceSeconds: 300, successThreshold: 2, intervalSeconds: 60 };
  expect(leastObservation(check, 2, 60)).toBe(720);
});

test('harm is a replacement, or more impaired instances than are allowed', () => {
  const group = { instances: 20, impaired: ['i-1', 'i-2'], replacements: [] };
  expect(harmOf(group, 10)).toBeUndefined();
  expect(harmOf(group, 9)).toContain('2 of 20 instances are impaired (i-1, i-2), more than 9 %');
  expect(harmOf({ ...group, replacements: ['At noon'] }, 100)).toContain('At noon');
});

test('D41: a watch under suppression is none, and begins again after it, but does not go on for ever', () => {
  const watch = { deadline: 100, now: 90, watchSeconds: 600, latest: 5_000, instances: 10, suppressed: 2 };
  expect(watchedUntil(watch, 10)).toBe(690);
  expect(watchedUntil(watch, 20)).toBe(100);
  expect(watchedUntil({ ...watch, suppressed: 0 }, 0)).toBe(100);
  expect(watchedUntil({ ...watch, latest: 300 }, 10)).toBe(300);
  expect(watchedUntil({ ...watch, latest: 50 }, 10)).toBe(100);
});
