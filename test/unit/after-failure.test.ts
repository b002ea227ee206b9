import { describe, expect, test } from 'vitest';
import {
  type AfterFailure,
  decideAfterFailure,
  type FailureFacts,
  mayStayListed,
} from '../../functions/core/domain/after-failure.ts';
import type { Member } from '../../functions/core/domain/fleet.ts';

const FAILED_AT = Date.parse('2026-11-30T10:00:00Z');
const arn = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef';

const member: Member = {
  instanceId: 'i-0123456789abcdef0',
  zone: 'eu-west-1a',
  addresses: [],
  autoScalingGroup: 'web',
  includedChecks: ['asc-1'],
  excludedChecks: [],
  suppression: 'ours',
  memberships: [{ targetGroupArn: arn, target: { id: 'i-0123456789abcdef0', port: 8080 } }],
};
const { autoScalingGroup: _, ...alone } = member;
const unchecked = { ...member, includedChecks: [] };

const check = (code: string, seconds: number) => ({
  status: 'suppressed',
  checks: [
    {
      checkId: 'asc-1',
      aggregation: 'included',
      status: 'passed',
      code,
      evaluatedAt: new Date(FAILED_AT + seconds * 1000),
    },
  ],
});
const target = (state: string) => ({ state, shifted: false });

const facts: FailureFacts = {
  policy: 'held',
  deployed: true,
  member,
  status: check('ResponseCodeMatched', 60),
  targets: [],
  failedAt: FAILED_AT,
  late: true,
};
const verdict = (more: Partial<FailureFacts>) => decideAfterFailure({ ...facts, ...more }).verdict;

describe('D38: after a failure', () => {
  test.each([
    ['a fresh evaluation passed', {}, 'put-back'],
    ['it was evaluated before the failure only', { status: check('ResponseCodeMatched', -1) }, 'held'],
    ['its check has just failed for the first time', { status: check('ConnectionRefused', 60) }, 'held'],
    ['its check gives a reason that nobody knows', { status: check('Novel', 60) }, 'held'],
    ['nothing is reported of it', { status: undefined }, 'held'],
    ['its check passes and a target fails', { targets: [target('unhealthy')] }, 'held'],
    ['its check passes and a target is new', { targets: [target('initial')] }, 'put-back'],
    ['it has no check and is out of traffic', { member: unchecked, status: undefined }, 'held'],
    ['it has no check and serves', { member: unchecked, targets: [target('healthy')] }, 'put-back'],
    ['it has no check and its target is new', { member: unchecked, targets: [target('initial')] }, 'held'],
    ['it has neither check nor target', { member: { ...unchecked, memberships: [] } }, 'put-back'],
    ['nothing was deployed to it', { deployed: false, status: undefined }, 'put-back'],
  ] as const)('an instance of which %s', (_what, more, expected) => {
    expect(verdict(more)).toBe(expected);
  });

  test('nothing is decided against an instance before the time for its proof is up', () => {
    expect(verdict({ late: false, status: undefined })).toBe('wait');
    expect(verdict({ late: false })).toBe('put-back');
  });

  test.each<[AfterFailure, string, string]>([
    ['put-back', 'put-back', 'put-back'],
    ['held', 'held', 'held'],
    ['replaced', 'replaced', 'put-back'],
  ])('policy %s: unready it is %s, in no group %s', (policy, inGroup, inNone) => {
    expect(verdict({ policy, status: undefined })).toBe(inGroup);
    expect(verdict({ policy, status: undefined, member: alone })).toBe(inNone);
  });

  test('D37: of a held instance only targets that receive nothing are taken out', () => {
    const staying = ['healthy', 'unhealthy', 'unhealthy.draining', 'initial', 'draining', 'unused'].filter(
      state => mayStayListed(target(state)),
    );
    expect(staying).toEqual(['healthy', 'draining', 'unused']);
  });
});
