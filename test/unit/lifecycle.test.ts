import { LifecycleState } from '@aws-sdk/client-auto-scaling';
import { expect, test } from 'vitest';
import { isSetAside, whyNotInService } from '../../functions/core/domain/lifecycle.ts';

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

test('R-LIFECYCLE: set aside is what is ended, retained, kept warm or in Standby, and nothing that is on its way into service', () => {
  const aside = Object.values(LifecycleState).filter(isSetAside);
  expect(aside.filter(state => !state.startsWith('Warmed:'))).toEqual([
    'EnteringStandby',
    'Standby',
    'Terminated',
    'Terminating',
    'Terminating:Proceed',
    'Terminating:Retained',
    'Terminating:Wait',
  ]);
  expect(aside.filter(state => state.startsWith('Warmed:')).length).toBeGreaterThan(5);
});
