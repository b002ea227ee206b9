import { describe, expect, test } from 'vitest';
import type { Member } from '../../functions/core/domain/fleet.ts';
import {
  actionDeadline,
  appliesTo,
  judgeLaunch,
  LAUNCH_EVALUATIONS,
  nextReadyDeadline,
  readyBudget,
  turnSeconds,
  weigh,
} from '../../functions/core/domain/lifecycle-action.ts';
import { chooseLaunches } from '../../functions/core/domain/newcomers.ts';
import { paceLimits } from '../../functions/core/domain/pace.ts';
import { ATTENDANCE_SECONDS } from '../../functions/core/limits.ts';

/** As Auto Scaling computes a hook's global time-out. */
const hookOf = (heartbeatSeconds: number) => ({
  heartbeatSeconds,
  globalSeconds: Math.min(172_800, 100 * heartbeatSeconds),
});

const heartbeats = [30, 45, 60, 300, 3600, 7200];

test.each(heartbeats)(
  'R-HOOK, R-HISTORY: a hook of %i s is attended below half of its time-out, and in an execution that cannot die',
  heartbeat => {
    const hook = hookOf(heartbeat);
    const turn = turnSeconds(hook);
    expect(turn).toBeLessThan(heartbeat / 2);
    expect(turn).toBeGreaterThanOrEqual(paceLimits.shortestSeconds);
    const lasts = actionDeadline(hook, 1000, ATTENDANCE_SECONDS) - 1000;
    expect(lasts).toBeLessThan(hook.globalSeconds);
    expect((lasts / turn) * paceLimits.eventsPerTurn).toBeLessThan(0.8 * paceLimits.historyEvents);
  },
);

describe('R-BUDGET: the budget for readiness', () => {
  const check = { intervalSeconds: 60, timeoutSeconds: 6, successThreshold: 2, graceSeconds: 300 };

  test('is what the slowest check needs, with what is left of its grace, and what an application may take', () => {
    const slow = { ...check, successThreshold: 5 };
    // 200 s of grace, 5 + 2 evaluations, a time-out, and a description that lags.
    expect(readyBudget([check, slow], 100, 900)).toBe(200 + 7 * 60 + 6 + 60 + 900);
    expect(readyBudget([check], 4000, 60)).toBe(4 * 60 + 6 + 60 + 60);
  });

  test('is nothing without a check', () => {
    expect(readyBudget([], 0, 900)).toBe(0);
  });
});

const member: Member = {
  instanceId: 'i-1',
  zone: 'z',
  addresses: [],
  includedChecks: ['asc-1', 'asc-2'],
  excludedChecks: [],
  suppression: 'ours',
  memberships: [],
};

const at = (seconds: number) => new Date(seconds * 1000);
const passed = (checkId: string, seconds: number, code = 'ResponseCodeMatched') => ({
  checkId,
  aggregation: 'included',
  status: 'passed',
  code,
  evaluatedAt: at(seconds),
});
const seen = (...checks: ReturnType<typeof passed>[]) => ({ status: 'suppressed', checks });

describe('D3: an instance is ready', () => {
  test('when each check has passed in two evaluations, one newer than the other', () => {
    const first = weigh(member, seen(passed('asc-1', 110), passed('asc-2', 130)), NONE, 0);
    expect(first).toMatchObject({ evaluations: 1, newerThan: 130_000, ready: false });
    const same = weigh(member, seen(passed('asc-1', 110), passed('asc-2', 130)), first, 0);
    expect(same).toMatchObject({ evaluations: 1, newerThan: 130_000, ready: false });
    const half = weigh(member, seen(passed('asc-1', 170), passed('asc-2', 130)), same, 0);
    expect(half).toMatchObject({ evaluations: 1, reason: 'check asc-2 has no newer evaluation yet' });
    const second = weigh(member, seen(passed('asc-1', 170), passed('asc-2', 190)), half, 0);
    expect(second).toMatchObject({ evaluations: LAUNCH_EVALUATIONS, ready: true, reason: '' });
  });

  test('and a first failure, of which only the Code tells, begins the count anew', () => {
    const failing = seen(passed('asc-1', 170, 'ConnectionRefused'), passed('asc-2', 190));
    expect(weigh(member, failing, { evaluations: 1, newerThan: 130_000 }, 200_000)).toEqual({
      evaluations: 0,
      newerThan: 200_000,
      ready: false,
      reason: 'check asc-1 fails with ConnectionRefused',
    });
  });

  test('D47: never while a check reports nothing, and at once without one', () => {
    expect(weigh(member, undefined, NONE, 0)).toMatchObject({
      ready: false,
      reason: expect.stringContaining('quota'),
    });
    expect(weigh({ ...member, includedChecks: [] }, undefined, NONE, 0).ready).toBe(true);
  });
});

const NONE = { evaluations: 0, newerThan: 100_000 };

describe('a launch', () => {
  const deadlines = { readyDeadline: 200, actionDeadline: 1000 };
  const judge = (ready: boolean, held: string | undefined, now: number) =>
    judgeLaunch({ ready, whyNotReady: ready ? '' : 'it fails', held, remark: '' }, deadlines, 20, now);

  test.each([
    [true, undefined, 100, { verdict: 'met', reason: '' }],
    [false, undefined, 100, { verdict: 'waiting', reason: 'it fails', waitSeconds: 20 }],
    [false, undefined, 190, { verdict: 'waiting', reason: 'it fails', waitSeconds: 10 }],
    [false, undefined, 200, { verdict: 'refused', reason: 'it fails' }],
    [true, 'run r is live', 500, { verdict: 'waiting', reason: 'run r is live', waitSeconds: 20 }],
    [false, 'run r is live', 500, { verdict: 'waiting', reason: 'run r is live; it fails', waitSeconds: 20 }],
    [false, 'run r is live', 1000, { verdict: 'refused', reason: 'it fails' }],
  ] as const)('ready %s, held by %s at %i s: %o', (ready, held, now, expected) => {
    expect(judge(ready, held, now)).toEqual(expected);
  });

  test('goes on with what has to be known of it', () => {
    const seen = { ready: true, whyNotReady: '', held: undefined, remark: 'run r goes without it' };
    expect(judgeLaunch(seen, deadlines, 20, 100)).toEqual({
      verdict: 'met',
      reason: 'run r goes without it',
    });
  });

  test('R-BUDGET: gets a short budget anew once its own has run out while it was ready, or was kept', () => {
    const next = (ready: boolean, held?: string) => nextReadyDeadline({ ready, held }, 200, 300, 1000);
    expect([next(true), next(false, 'run r is live'), next(false)]).toEqual([1300, 1300, 200]);
    expect(nextReadyDeadline({ ready: true, held: undefined }, 2000, 300, 1000)).toBe(2000);
  });

  test("D1: that is only held goes on when the hook's time ends", () => {
    expect(judge(true, 'run r is live', 1000)).toMatchObject({ verdict: 'met' });
  });
});

test('a check applies by the id of an instance or by its tag', () => {
  const instance = { id: 'i-1', tags: { stage: 'live' } };
  expect(appliesTo({ instanceId: 'i-1' }, instance)).toBe(true);
  expect(appliesTo({ instanceId: 'i-2' }, instance)).toBe(false);
  expect(appliesTo({ tag: { key: 'stage', value: 'live' } }, instance)).toBe(true);
  expect(appliesTo({ tag: { key: 'stage', value: 'test' } }, instance)).toBe(false);
});

describe('policy.launches', () => {
  const tag = { tag: { key: 'stage', value: 'live' } };
  test.each([
    ['auto', { instanceIds: ['i-1'] }, 'ignore'],
    ['auto', { autoScalingGroupName: 'web' }, 'join'],
    ['auto', { codeDeployDeploymentId: 'd-1' }, 'join'],
    ['auto', tag, 'join'],
    ['join', { instanceIds: ['i-1'] }, 'join'],
    ['wait', { instanceIds: ['i-1'] }, 'wait'],
    ['ignore', { autoScalingGroupName: 'web' }, 'ignore'],
  ] as const)('%s over %o is %s', (policy, fleet, expected) => {
    expect(chooseLaunches(policy, { fleet }, { zone: 'a', tags: { stage: 'live' } })).toBe(expected);
  });

  test('an instance without the tag that names the fleet is none of it', () => {
    for (const policy of ['auto', 'join', 'wait'] as const)
      expect(chooseLaunches(policy, { fleet: tag }, { zone: 'a', tags: { stage: 'test' } })).toBe('ignore');
  });

  test('nor is one outside the zones that the request names', () => {
    const request = { fleet: { autoScalingGroupName: 'web' }, zones: ['a'] };
    for (const policy of ['auto', 'join', 'wait'] as const) {
      expect(chooseLaunches(policy, request, { zone: 'b', tags: {} })).toBe('ignore');
      expect(chooseLaunches(policy, request, { zone: 'a', tags: {} })).not.toBe('ignore');
    }
  });
});
