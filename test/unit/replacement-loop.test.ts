import { expect, test } from 'vitest';
import {
  type Exposed,
  failsThrough,
  isOver,
  loopOf,
  mayLoop,
} from '../../functions/core/domain/replacement-loop.ts';

const instance = (instanceId: string, check: Partial<Exposed['check']> = {}, launchedAt = 0): Exposed => ({
  instanceId,
  launchedAt,
  check: { status: 'passed', code: 'ResponseCodeMatched', passedSinceChange: 'yes', ...check },
  failsThrough: false,
});
const well = instance('i-1');
const timesOut = (id: string, status: string) => instance(id, { status, code: 'ConnectionTimeout' });
const never = (id: string, launchedAt = 0) =>
  instance(id, { status: 'failed', code: 'ConnectionRefused', passedSinceChange: 'no' }, launchedAt);
const loop = (instances: readonly Exposed[], endings: readonly number[] = []) =>
  loopOf({ group: 'web', instances, endings })?.why;

test('a group of which no instance can be connected to is in a loop, as soon as one has failed', () => {
  expect(loop([timesOut('i-1', 'failed'), timesOut('i-2', 'passed')])).toContain(
    'cannot connect to any of the 2',
  );
  const legacy = instance('i-3', { status: 'failed', code: 'HttpConnectTimeoutException' });
  expect(loop([timesOut('i-1', 'passed'), legacy])).toContain('cannot connect to any of the 2');
  expect(loop([timesOut('i-1', 'passed'), timesOut('i-2', 'passed')])).toBeUndefined();
  expect(loop([timesOut('i-1', 'failed'), well])).toBeUndefined();
  expect(loop([timesOut('i-1', 'failed')])).toBeUndefined();
});

test('so is one of which none has ever passed', () => {
  expect(loop([never('i-1'), never('i-2')])).toContain('None of the 2 instances of web');
  expect(loop([never('i-1'), well])).toBeUndefined();
  expect(loop([never('i-1')])).toBeUndefined();
});

test('so is one that has failed through the change by which it was included', () => {
  const change = { changedAt: new Date(300_000), intervalSeconds: 60 };
  const failed = {
    checkId: 'asc-1',
    aggregation: 'included',
    status: 'failed',
    code: 'ResponseCodeMismatch',
    since: new Date(100_000),
    evaluatedAt: new Date(360_000),
  };
  const { code: _, ...legacy } = failed;
  expect(failsThrough(failed, change)).toBe(true);
  expect(failsThrough({ ...failed, status: 'passed' }, change)).toBe(false);
  expect(failsThrough(legacy, change)).toBe(false);
  // The change has mended it, and its status does not say so yet.
  expect(failsThrough({ ...failed, code: 'ResponseCodeMatched' }, change)).toBe(false);
  expect(failsThrough({ ...failed, evaluatedAt: new Date(359_999) }, change)).toBe(false);
  expect(failsThrough({ ...failed, since: new Date(300_000) }, change)).toBe(false);
  expect(failsThrough(failed, { intervalSeconds: 60 })).toBe(false);
  const through = { ...timesOut('i-1', 'failed'), failsThrough: true };
  expect(loop([through, never('i-2')])).toContain('None of the 2 instances of web');
});

test('D46: a replacement is in vain when one that was launched after it has never passed', () => {
  expect(loop([well, never('i-2', 10)], [20, 5])).toContain(
    'ended 2 instances of web for it, and i-2, launched since',
  );
  expect(loop([well, never('i-2', 5)], [5])).toBeUndefined();
  expect(loop([well, instance('i-2', {}, 10)], [5])).toBeUndefined();
  expect(loop([never('i-1', 10)], [5])).toContain('has never passed it');
});

test('D46: a newcomer that fails truly is none, where each ended instance has a successor that passes', () => {
  const successor = (id: string) => instance(id, {}, 10);
  expect(loop([well, successor('i-2'), never('i-3', 30)], [5])).toBeUndefined();
  // It is ended in its turn, and its own successor does not pass either.
  expect(loop([well, successor('i-2'), never('i-4', 40)], [5, 35])).toContain('i-4');
  expect(loop(['i-2', 'i-3', 'i-4', 'i-5'].map(successor).concat(never('i-6', 30)), [5, 15, 25])).toContain(
    'i-6',
  );
});

test('activities are looked for only when an instance has never passed', () => {
  expect([mayLoop([well, never('i-2')]), mayLoop([well, timesOut('i-2', 'failed')])]).toEqual([true, false]);
});

const demoted = { status: 'demoted', inVain: [] } as const;

test('D40: a cause is gone when half of the group passes by its Code, for one that fails truly is ended by nobody', () => {
  const { code: _, ...legacy } = well.check;
  expect(isOver([[well, { ...well, check: legacy }]], demoted)).toBe(true);
  expect(isOver([[well, timesOut('i-2', 'passed')]], demoted)).toBe(true);
  expect(isOver([[well, never('i-2'), never('i-3')]], demoted)).toBe(false);
  expect(isOver([[]], demoted)).toBe(false);
});

test('D40: a cause is gone when that holds in each group, and one instance alone is no group', () => {
  const others = [instance('i-4'), instance('i-5'), instance('i-6')];
  expect(isOver([[never('i-1'), never('i-2')], others], demoted)).toBe(false);
  expect(isOver([[well, never('i-2')], others], demoted)).toBe(true);
  expect(isOver([[never('i-1')], others], demoted)).toBe(true);
  expect(isOver([[never('i-1')], []], demoted)).toBe(false);
  expect(isOver([[well], []], demoted)).toBe(true);
});

test('D40: replacements in vain are the cause as long as they are there, however many others pass', () => {
  const inVain = { status: 'demoted', inVain: ['i-9'] } as const;
  expect(isOver([[well, instance('i-2'), never('i-9')]], inVain)).toBe(false);
  expect(isOver([[well, instance('i-2'), instance('i-9')]], inVain)).toBe(true);
  expect(isOver([[well, instance('i-2')]], inVain)).toBe(true);
});

test('what was only observed is over when every instance passes', () => {
  const observed = { status: 'observed', inVain: [] } as const;
  expect(isOver([[well, instance('i-2')]], observed)).toBe(true);
  expect(isOver([[well, instance('i-2'), never('i-3')]], observed)).toBe(false);
});
