import { LifecycleState } from '@aws-sdk/client-auto-scaling';
import { expect, test } from 'vitest';
import { isLeaving, whyNotInService } from '../../functions/core/domain/lifecycle.ts';

test('R-LIFECYCLE: an InService instance is worked on', () => {
  expect(whyNotInService('InService')).toBeUndefined();
});

const others = Object.values(LifecycleState).filter(state => state !== 'InService');

test.each(others)('D30: %s is left alone, for a reason of its own', state => {
  expect(whyNotInService(state)).toMatch(/^(is|has|was|waits) /);
  expect(whyNotInService(state)).not.toContain('unknown');
});

test.each(['Hibernating', 'Quarantined:Wait', '', 'inservice'])(
  'D30: %j, which the SDK does not know, is not InService and no exception',
  state => {
    expect(whyNotInService(state)).toBe(`is in the unknown lifecycle state ${state}`);
  },
);

test('D30: the SDK knows the states that this product has to know', () => {
  expect(others).toEqual(
    expect.arrayContaining([
      'EnteringStandby',
      'Detaching',
      'Detached',
      'Quarantined',
      'ReplacingRootVolume',
      'Terminating:Retained',
      'Warmed:Pending:Retained',
    ]),
  );
});

test('R-GONE: an instance is leaving while its group ends it, and not when it is retained', () => {
  const leaving = Object.values(LifecycleState).filter(isLeaving);
  expect(leaving).toEqual(['Terminated', 'Terminating', 'Terminating:Proceed', 'Terminating:Wait']);
});
