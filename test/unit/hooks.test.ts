import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeAfter, judgeGate, type RunSeen } from '../../functions/core/domain/hook-answer.ts';
import { callingInstance, hasEnded, standingOf } from '../../functions/core/domain/hook-caller.ts';
import { deploymentLimitSeconds, wavesOf } from '../../functions/core/domain/waves.ts';

const live = (phase: RunSeen['phase'], leastSeconds = 0): RunSeen => ({
  status: 'live',
  phase,
  held: true,
  awaiting: 'Waiting.',
  leastSeconds,
});
const ended = (more: Partial<RunSeen>): RunSeen => ({ ...live('done'), status: 'ended', ...more });

describe('what a hook script is told', () => {
  test('gate waits for the go-ahead, and has it ever after', () => {
    expect(judgeGate(live('before'))).toEqual({ verdict: 'wait', reason: 'Waiting.', waitSeconds: 15 });
    for (const phase of ['go-ahead', 'after', 'done'] as const)
      expect(judgeGate(live(phase)).verdict).toBe('go-ahead');
  });

  test('after waits for the end, and fails without a go-ahead', () => {
    expect(judgeAfter(live('before')).verdict).toBe('failed');
    for (const phase of ['go-ahead', 'after'] as const) expect(judgeAfter(live(phase)).verdict).toBe('wait');
  });

  test.each([
    [-100, 15],
    [0, 15],
    [31.5, 32],
    [1000, 60],
  ])('what takes %s s at least is asked for again in %s s', (least, seconds) => {
    expect(judgeGate(live('before', least)).waitSeconds).toBe(seconds);
    expect(judgeAfter(live('after', least)).waitSeconds).toBe(seconds);
  });

  test.each([judgeGate, judgeAfter])('D1, R-FAIL: the end of the run decides both (%#)', judge => {
    expect(judge(ended({ outcome: 'succeeded' })).verdict).toBe('go-ahead');
    expect(judge(ended({ outcome: 'failed', error: 'NothingToDo', cause: 'No check.' }))).toMatchObject({
      verdict: 'go-ahead',
      reason: 'No check.',
    });
    expect(judge(ended({ outcome: 'failed', error: 'NothingToDo' })).reason).toBe('There is nothing to do.');
    expect(judge(ended({ outcome: 'failed', error: 'BelowFloor', cause: 'Too few.' }))).toEqual({
      verdict: 'failed',
      reason: 'BelowFloor: Too few.',
      waitSeconds: 0,
    });
    expect(judge(ended({ outcome: 'failed' })).reason).toBe('The run has ended: it was ended from outside');
  });
});

describe('D9: the caller', () => {
  test('is the instance that its own credentials name', () => {
    expect(callingInstance({ userId: 'AROAEXAMPLEINSTANCES1:i-0123456789abcdef0' })).toBe(
      'i-0123456789abcdef0',
    );
  });

  test('is nobody else, whatever the user id says', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.array(fc.string()).map(parts => parts.join(':')),
    );
    fc.assert(
      fc.property(anything, userId => {
        const own = /^AROA[^:]*:(i-[0-9a-f]{8,17})$/.exec(userId)?.[1];
        expect(callingInstance({ userId })).toBe(own);
      }),
    );
  });

  const STATUSES = [
    'Created',
    'Queued',
    'Pending',
    'InProgress',
    'Baking',
    'Ready',
    'Succeeded',
    'Failed',
    'Stopped',
    'Skipped',
    'Unknown',
  ];

  test('speaks of what is in progress only when all three statuses say so', () => {
    const status = fc.constantFrom(...STATUSES);
    fc.assert(
      fc.property(
        status,
        status,
        fc.option(status, { nil: undefined }),
        (deploymentStatus, targetStatus, event) => {
          const events: Record<string, string> = event === undefined ? {} : { BeforeInstall: event };
          const target = { deploymentStatus, targetStatus, events };
          const standing = standingOf(target, 'BeforeInstall');
          const all = [deploymentStatus, targetStatus, event ?? 'Pending'];
          expect(standing === 'in-progress').toBe(all.every(one => one === 'InProgress'));
          // What can still begin is not over, and what has ended is.
          const mayBegin = ['InProgress', 'Created', 'Queued', 'Pending'];
          expect(standing === 'over').toBe(!all.every(one => mayBegin.includes(one)));
          if (hasEnded(target)) expect(standing).toBe('over');
        },
      ),
    );
  });
});

describe('D8: the waves of a deployment', () => {
  const config = (type: 'HOST_COUNT' | 'FLEET_PERCENT', value: number, name = 'mine') => ({
    name,
    minimumHealthyHosts: { type, value },
  });

  test.each([
    ['one at a time', config('FLEET_PERCENT', 99, 'CodeDeployDefault.OneAtATime'), 12, 12],
    ['half', config('FLEET_PERCENT', 50), 12, 2],
    ['half of an odd number', config('FLEET_PERCENT', 50), 5, 3],
    ['all at once', config('HOST_COUNT', 0), 500, 1],
    ['all but nine', config('HOST_COUNT', 9), 12, 4],
    ['more than there are', config('HOST_COUNT', 20), 12, 12],
    ['nothing', config('FLEET_PERCENT', 50), 0, 0],
  ])('%s', (_, how, instances, waves) => {
    expect(wavesOf(instances, how)).toBe(waves);
  });

  test('may take 12 hours, and 8 by a custom configuration of before June 2023', () => {
    const old = new Date('2023-05-31T00:00:00Z');
    const limit = (custom: boolean, createdAt: Date | undefined) =>
      deploymentLimitSeconds({ custom, createdAt }) / 3600;
    expect([limit(true, old), limit(true, undefined), limit(false, old)]).toEqual([8, 12, 12]);
    expect(limit(true, new Date('2023-06-01T00:00:00Z'))).toBe(12);
  });
});
