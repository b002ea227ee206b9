import { describe, expect, test } from 'vitest';
import { type CheckResult, changeOf, judgeCheck } from '../../functions/core/domain/readiness.ts';

const REGISTERED_AT = Date.UTC(2026, 10, 30, 9);
const at = (seconds: number) => new Date(REGISTERED_AT + seconds * 1000);

const result = (some: Partial<CheckResult> = {}): CheckResult => ({
  checkId: 'asc-1',
  aggregation: 'included',
  status: 'passed',
  code: 'ResponseCodeMatched',
  evaluatedAt: at(60),
  ...some,
});

const judge = (some: Partial<CheckResult>) => judgeCheck(result(some), REGISTERED_AT);

const failureCodes = [
  'ResponseCodeMismatch',
  'ConnectionTimeout',
  'ResponseTimeout',
  'ConnectionRefused',
  'ConnectionReset',
];

test('a check that matched in a newer evaluation has passed', () => {
  expect(judge({})).toBe('passed');
});

test.each(failureCodes)('a check that still shows passed fails already with %s: its first failure', code => {
  expect(judge({ code })).toBe('failing');
});

test.each([...failureCodes, 'ResponseCodeMatched', 'HttpConnectTimeoutException'])(
  'a failed check fails whatever its code (%s)',
  code => {
    expect(judge({ status: 'failed', code })).toBe('failing');
  },
);

test('StatusCode decides nothing: 0 and absent give the same verdict for every Code', () => {
  for (const code of [...failureCodes, 'ResponseCodeMatched']) {
    const zero = { ...result({ code }), statusCode: 0 };
    expect(judgeCheck(zero, REGISTERED_AT)).toBe(judgeCheck(result({ code }), REGISTERED_AT));
  }
});

test.each(['Http Status Code', 'HttpConnectTimeoutException', 'TransportUnavailable', ''])(
  'the legacy or unknown code %j beside passed is no evidence',
  code => {
    expect(judge({ code })).toBe('unknown-reason');
  },
);

test('a legacy result without a reason is judged by its status', () => {
  const { code: _, ...withoutReason } = result();
  expect(judgeCheck(withoutReason, REGISTERED_AT)).toBe('passed');
  expect(judgeCheck({ ...withoutReason, status: 'failed' }, REGISTERED_AT)).toBe('failing');
});

test.each(['initializing', 'insufficient-data', 'not-applicable', 'a status of next year'])(
  'a check that is %s has not passed, however it responded',
  status => {
    expect(judge({ status })).toBe('starting');
  },
);

describe('R-AGREE: only an evaluation newer than the act is evidence', () => {
  test.each([
    [at(-60), 'stale'],
    [at(0), 'stale'],
    [new Date(REGISTERED_AT + 1), 'passed'],
  ])('evaluated at %s: %s', (evaluatedAt, verdict) => {
    expect(judge({ evaluatedAt })).toBe(verdict);
  });

  test('a result without a time is no evidence', () => {
    const { evaluatedAt: _, ...undated } = result();
    expect(judgeCheck(undated, 0)).toBe('stale');
  });
});

describe('a change of status', () => {
  const change = (some: Partial<CheckResult>) =>
    changeOf(result(some), REGISTERED_AT, REGISTERED_AT + 100_000);

  test('is known by what it came to, and since when', () => {
    expect(change({ since: at(60) })).toEqual({
      from: 'not-passed',
      to: 'passed',
      reason: 'ResponseCodeMatched',
    });
    expect(
      changeOf(
        { checkId: 'c', aggregation: 'included', status: 'initializing', since: at(1) },
        at(0).getTime(),
        at(1).getTime(),
      ),
    ).toEqual({ from: 'not-initializing', to: 'initializing', reason: 'none' });
  });

  test('counts in one of two times that follow each other, also at their border', () => {
    const both = [0, 50, 100].map(second => at(second).getTime());
    const [first = 0, border = 0, last = 0] = both;
    for (const since of [at(1), at(50), at(51), at(100)]) {
      const counted = [changeOf(result({ since }), first, border), changeOf(result({ since }), border, last)];
      expect(counted.filter(Boolean)).toHaveLength(1);
    }
  });

  test.each([undefined, at(0), at(101)])(
    'of before, of later, or of an unknown time (%s) does not',
    since => {
      expect(change(since ? { since } : {})).toBeUndefined();
    },
  );
});
