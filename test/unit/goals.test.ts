import { describe, expect, test } from 'vitest';
import { type Member, type Membership, targetKey } from '../../functions/core/domain/fleet.ts';
import {
  isReversed,
  judgeDrained,
  judgeInService,
  judgePutBack,
  judgeReady,
  judgeReleased,
  judgeSuppressed,
  passesUnbroken,
  type Sighting,
  type StatusSeen,
  sumUp,
} from '../../functions/core/domain/goals.ts';
import type { CheckResult } from '../../functions/core/domain/readiness.ts';

const UNTIL = Date.UTC(2026, 10, 30, 12);

const membership: Membership = {
  targetGroupArn: 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef',
  target: { id: 'i-1', port: 8080 },
};

const member = (some: Partial<Member> = {}): Member => ({
  instanceId: 'i-1',
  zone: 'eu-west-1a',
  addresses: ['10.0.0.1'],
  includedChecks: ['asc-1'],
  excludedChecks: [],
  suppression: 'ours',
  memberships: [membership],
  ...some,
});

const check = (some: Partial<CheckResult> = {}): CheckResult => ({
  checkId: 'asc-1',
  aggregation: 'included',
  status: 'passed',
  code: 'ResponseCodeMatched',
  evaluatedAt: new Date(UNTIL),
  ...some,
});

const seen = (status: string, some: Partial<StatusSeen> = {}): StatusSeen => ({
  status,
  checks: [check()],
  ...some,
});

const verdictOf = (sighting: Sighting) =>
  sighting.verdict === 'waiting' && sighting.absent ? 'absent' : sighting.verdict;

describe('suppressed', () => {
  test('R-STATE: is met when the overall status says so, for long enough', () => {
    expect(judgeSuppressed(member(), seen('suppressed', { resumesAt: new Date(UNTIL) }), UNTIL).verdict).toBe(
      'met',
    );
    expect(judgeSuppressed(member(), seen('suppressed'), UNTIL).verdict).toBe('met');
    expect(judgeSuppressed(member(), seen('suppressed', { resumesAt: new Date(UNTIL - 1) }), UNTIL)).toEqual({
      verdict: 'waiting',
      reason: 'its suppression ends before the deployment may be over',
      absent: false,
    });
  });

  test.each(['ok', 'impaired', 'initializing', 'insufficient-data', 'not-applicable'])(
    'an instance with an included check that is %s is waited for',
    status => {
      expect(judgeSuppressed(member(), seen(status), UNTIL)).toMatchObject({
        verdict: 'waiting',
        reason: `its application status is ${status}`,
      });
    },
  );

  test('an instance with an included check of which nothing is reported may be gone', () => {
    expect(verdictOf(judgeSuppressed(member(), undefined, UNTIL))).toBe('absent');
  });

  describe('D13: on an instance without an included check', () => {
    const excludedOnly = member({ includedChecks: [], excludedChecks: ['asc-1'] });
    const excluded = [check({ aggregation: 'excluded' })];

    test.each([
      ['not-applicable', seen('not-applicable', { checks: excluded })],
      ['nothing', undefined],
    ])('%s counts', (_, status) => {
      expect(judgeSuppressed(excludedOnly, status, UNTIL).verdict).toBe('met');
    });

    test('impaired never counts: Auto Scaling acts on it', () => {
      expect(judgeSuppressed(excludedOnly, seen('impaired', { checks: excluded }), UNTIL).verdict).toBe(
        'waiting',
      );
    });

    test('a check that somebody included meanwhile is waited for', () => {
      expect(judgeSuppressed(excludedOnly, seen('ok', { checks: [check()] }), UNTIL).verdict).toBe('waiting');
    });

    test('a suppression that ends too early is waited for all the same', () => {
      const short = seen('suppressed', { checks: excluded, resumesAt: new Date(UNTIL - 1) });
      expect(judgeSuppressed(excludedOnly, short, UNTIL).verdict).toBe('waiting');
    });

    test('one without any check has nothing to suppress', () => {
      const unchecked = member({ suppression: 'none', includedChecks: [] });
      expect(judgeSuppressed(unchecked, undefined, UNTIL).verdict).toBe('met');
    });
  });
});

describe('released', () => {
  test.each([
    ['ok', 'met'],
    ['impaired', 'met'],
    ['suppressed', 'waiting'],
  ])('R-STATE: %s: %s', (status, verdict) => {
    expect(judgeReleased(member(), seen(status)).verdict).toBe(verdict);
  });

  test('D39: a suppression of somebody else is not waited for, unless the run had lengthened it', () => {
    expect(judgeReleased(member({ suppression: 'others' }), seen('suppressed')).verdict).toBe('met');
    const lengthened = member({ suppression: 'others', othersUntil: UNTIL / 1000 });
    expect(judgeReleased(lengthened, seen('suppressed')).verdict).toBe('waiting');
    expect(judgeReleased(lengthened, seen('ok')).verdict).toBe('met');
  });

  test('an instance of which nothing is reported is not suppressed', () => {
    expect(judgeReleased(member(), undefined).verdict).toBe('met');
  });
});

describe('ready', () => {
  const NEWER_THAN = UNTIL - 1;

  test('every included check has to have passed; an excluded one may fail', () => {
    const two = member({ includedChecks: ['asc-1', 'asc-2'], excludedChecks: ['asc-3'] });
    const checks = [
      check(),
      check({ checkId: 'asc-2' }),
      check({ checkId: 'asc-3', aggregation: 'excluded', status: 'failed' }),
    ];
    expect(judgeReady(two, seen('suppressed', { checks }), NEWER_THAN).verdict).toBe('met');
    const oneFails = [check(), check({ checkId: 'asc-2', status: 'failed', code: 'ConnectionRefused' })];
    expect(judgeReady(two, seen('suppressed', { checks: oneFails }), NEWER_THAN)).toMatchObject({
      verdict: 'waiting',
      reason: 'check asc-2 fails with ConnectionRefused',
    });
  });

  test.each([
    [check({ status: 'failed', code: 'ResponseTimeout' }), 'check asc-1 fails with ResponseTimeout'],
    [check({ status: 'initializing' }), 'check asc-1 is initializing'],
    [check({ code: 'Http Status Code' }), 'check asc-1 gives the unknown reason Http Status Code'],
    [check({ evaluatedAt: new Date(NEWER_THAN) }), 'check asc-1 has no newer evaluation yet'],
  ])('says why it waits: %#', (result, reason) => {
    const status = seen('suppressed', { checks: [result] });
    expect(judgeReady(member(), status, NEWER_THAN)).toEqual({ verdict: 'waiting', reason, absent: false });
  });

  test('a failed check without a reason is said so', () => {
    const { code: _, ...silent } = check({ status: 'failed' });
    expect(judgeReady(member(), seen('impaired', { checks: [silent] }), NEWER_THAN)).toMatchObject({
      reason: 'check asc-1 fails with no reason',
    });
  });

  test('D47: a check that reports nothing is named, and the instance may be gone', () => {
    for (const nothing of [undefined, seen('insufficient-data', { checks: [] })]) {
      const sighting = judgeReady(member(), nothing, NEWER_THAN);
      expect(verdictOf(sighting)).toBe('absent');
      expect(sighting).toMatchObject({ reason: expect.stringContaining('asc-1') });
    }
  });

  test('D17: a check that passed in its newest evaluation is unbroken, however old that is', () => {
    const old = check({ evaluatedAt: new Date(NEWER_THAN - 1) });
    expect(passesUnbroken(member(), seen('ok', { checks: [old] }))).toBe(true);
    const failedOnce = check({ status: 'passed', code: 'ResponseTimeout' });
    for (const status of [undefined, seen('ok', { checks: [failedOnce] }), seen('ok', { checks: [] })])
      expect(passesUnbroken(member(), status)).toBe(false);
  });
});

/** R-NOTINUSE: every state with its reasons, as Elastic Load Balancing documents them, and what each goal makes of it. */
const states = [
  ['initial', 'Elb.RegistrationInProgress', 'waiting', 'waiting', 'met'],
  ['initial', 'Elb.InitialHealthChecking', 'waiting', 'waiting', 'met'],
  ['healthy', undefined, 'waiting', 'met', 'met'],
  ['unhealthy', 'Target.ResponseCodeMismatch', 'waiting', 'waiting', 'met'],
  ['unhealthy', 'Target.Timeout', 'waiting', 'waiting', 'met'],
  ['unhealthy', 'Target.FailedHealthChecks', 'waiting', 'waiting', 'met'],
  ['unhealthy', 'Elb.InternalError', 'waiting', 'waiting', 'met'],
  ['unhealthy.draining', 'Target.Timeout', 'waiting', 'waiting', 'met'],
  ['unused', 'Target.NotRegistered', 'met', 'absent', 'absent'],
  ['unused', 'Target.NotInUse', 'met', 'met', 'met'],
  ['unused', 'Target.InvalidState', 'met', 'absent', 'absent'],
  ['unused', 'Target.IpUnusable', 'met', 'refused', 'met'],
  ['draining', 'Target.DeregistrationInProgress', 'waiting', 'waiting', 'waiting'],
  ['unavailable', 'Target.HealthCheckDisabled', 'waiting', 'met', 'met'],
  ['unavailable', 'Elb.InternalError', 'waiting', 'waiting', 'met'],
] as const;

describe.each(states)('R-NOTINUSE: a target that is %s %s', (state, reason, drained, inService, putBack) => {
  test(`drained: ${drained}`, () => {
    expect(verdictOf(judgeDrained(membership, { state, reason }))).toBe(drained);
  });
  test(`in service: ${inService}`, () => {
    expect(verdictOf(judgeInService(membership, { state, reason }))).toBe(inService);
  });
  test(`put back: ${putBack}`, () => {
    expect(verdictOf(judgePutBack(membership, { state, reason }))).toBe(putBack);
  });
});

test('a target that is not listed is drained, and neither in service nor put back', () => {
  expect(judgeDrained(membership, undefined).verdict).toBe('met');
  expect(verdictOf(judgeInService(membership, undefined))).toBe('absent');
  expect(verdictOf(judgePutBack(membership, undefined))).toBe('absent');
});

describe('D36: an act that was not taken, or that somebody has reversed, is repeated', () => {
  test.each([
    ['drained', 'healthy', true],
    ['drained', 'unhealthy.draining', true],
    ['drained', 'draining', false],
    ['drained', undefined, false],
    ['in-service', undefined, true],
    ['in-service', 'draining', true],
    ['in-service', 'initial', false],
    ['in-service', 'unhealthy', false],
  ] as const)('%s, and the target is %s: %s', (goal, state, reversed) => {
    expect(isReversed(goal, state && { state })).toBe(reversed);
  });
});

test('reasons name the target, its port and its group', () => {
  expect(judgeInService(membership, { state: 'unhealthy', reason: 'Target.Timeout' })).toMatchObject({
    reason: 'target i-1:8080 of web is unhealthy (Target.Timeout)',
  });
  const portless = { targetGroupArn: 'no-arn', target: { id: '10.0.0.1' } };
  expect(judgeDrained(portless, { state: 'draining' })).toMatchObject({
    reason: 'target 10.0.0.1:- of no-arn is draining',
  });
});

test('R-EXACT: the same instance on two ports, or on none, is as many targets', () => {
  const keys = [{ id: 'i-1', port: 80 }, { id: 'i-1', port: 8080 }, { id: 'i-1' }].map(targetKey);
  expect(new Set(keys).size).toBe(3);
});

describe('the sum over a fleet', () => {
  const met: Sighting = { verdict: 'met' };
  const gone: Sighting = { verdict: 'gone' };
  const waiting: Sighting = { verdict: 'waiting', reason: 'it drains', absent: false };
  const refused: Sighting = { verdict: 'refused', reason: 'it cannot' };
  const sum = (fleet: Record<string, readonly Sighting[]>) => sumUp(new Map(Object.entries(fleet)));

  test('is met when every instance is met or gone, and then only', () => {
    expect(sum({ a: [met, met], b: [gone], c: [] })).toEqual({
      verdict: 'met',
      met: 2,
      waiting: 0,
      gone: 1,
      reasons: [],
    });
    expect(sum({})).toMatchObject({ verdict: 'met', met: 0 });
    expect(sum({ a: [met], b: [met, waiting] })).toEqual({
      verdict: 'waiting',
      met: 1,
      waiting: 1,
      gone: 0,
      reasons: ['b: it drains'],
    });
  });

  test('R-GONE: an instance that is gone is finished, whatever else was seen of it', () => {
    expect(sum({ a: [waiting, gone], b: [refused, gone] })).toMatchObject({ verdict: 'met', gone: 2 });
  });

  test('one refusal refuses the whole, wherever it stands', () => {
    expect(sum({ a: [waiting], b: [waiting, refused], c: [met] })).toMatchObject({
      verdict: 'refused',
      waiting: 2,
    });
  });

  test('a refusal is told first, since it is what has to be corrected', () => {
    const waits = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`i-${i}`, [waiting]]));
    expect(sum({ ...waits, z: [waiting, refused] }).reasons.slice(0, 2)).toEqual([
      'z: it cannot',
      'i-0: it drains',
    ]);
  });

  test('R-PAYLOAD: shows a few reasons of a large fleet, and counts the rest', () => {
    const fleet = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`i-${i}`, [waiting]]));
    const summed = sum(fleet);
    expect(summed).toMatchObject({ waiting: 5000 });
    expect(summed.reasons).toHaveLength(5);
  });
});
