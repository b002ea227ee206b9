import type { DescribeApplicationStatusChecksResult } from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { type Call, type Gate, ServiceError } from '../../local/wire/contract.ts';
import { outcome } from '../machine/helpers/bracket.ts';
import { adopting, losing } from './helpers/adopting.ts';

/** EC2 does not know the check in the first calls of this action by this function. */
const unknownAtFirst = (action: string, caller: string, times: number): { readonly gates: () => Gate[] } => {
  let left = times;
  const before = (call: Call) => {
    if (call.action === action && call.caller.name === caller && left-- > 0)
      throw new ServiceError('InvalidApplicationStatusCheckId.NotFound', 'does not exist');
  };
  return { gates: () => [{ before }] };
};

test.each([
  'CreateApplicationStatusCheck',
  'AssociateApplicationStatusCheck',
  'DisassociateApplicationStatusCheck',
  'ModifyApplicationStatusCheck',
])('R-IDEMP: a lost answer of %s is no second check, and no failure', async action => {
  const group = await adopting(losing(action));
  expect(outcome(await group.adopt())).toBe('SUCCEEDED');
  expect([group.aggregations, group.associations]).toEqual([['included'], ['aws:autoscaling:groupName=web']]);
  expect(await group.bracket.violations()).toEqual([]);
});

test('R-IDEMP: neither is a lost answer of the ledger at the very end', async () => {
  const group = await adopting(losing('DeleteItem'));
  const adoption = await group.adopt({ check: { id: group.createCheck() } });
  expect([outcome(adoption), adoption.output]).toMatchObject(['SUCCEEDED', { outcome: 'succeeded' }]);
  expect(await group.bracket.violations()).toEqual([]);
});

test.each([
  ['AssociateApplicationStatusCheck', 'ActOnCheckFunction'],
  ['DescribeApplicationStatusChecks', 'ObserveCheckFunction'],
])('R-EVENTUAL: a check that %s does not know yet is waited for', async (action, caller) => {
  const group = await adopting(unknownAtFirst(action, caller, 3));
  expect(outcome(await group.adopt())).toBe('SUCCEEDED');
});

test('R-IDEMP: a repeated creation that EC2 ignores, as documented, is found when it shows', async () => {
  let creations = 0;
  let hidden = 3;
  const around: Gate['around'] = async ({ action, caller }, input, perform) => {
    const output = await perform(input);
    if (action === 'CreateApplicationStatusCheck') {
      // As often as a client tries by itself: then the step is repeated.
      if (creations++ < 4) throw new ServiceError('InternalError', 'An internal error has occurred', 500);
      return {};
    }
    const isHidden = creations > 0 && caller.name === 'ActOnCheckFunction' && hidden > 0;
    if (action !== 'DescribeApplicationStatusChecks' || !isHidden) return output;
    hidden--;
    return { ApplicationStatusChecks: [] };
  };
  const group = await adopting({ gates: () => [{ around }] });
  const adoption = await group.adopt();
  expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(group.aggregations).toEqual(['included']);
});

test('R-EVENTUAL: an association whose answer was lost and that does not show yet is no quota', async () => {
  let hidden = 3;
  let lost = 0;
  const around: Gate['around'] = async ({ action, caller }, input, perform) => {
    const output = await perform(input);
    // As often as a client tries by itself: then the step is repeated.
    if (action === 'AssociateApplicationStatusCheck' && lost++ < 4)
      throw new ServiceError('InternalError', 'An internal error has occurred', 500);
    const isHidden = lost > 0 && caller.name === 'ActOnCheckFunction' && hidden > 0;
    if (action !== 'DescribeApplicationStatusCheckAssociations' || !isHidden) return output;
    hidden--;
    return { Associations: [] };
  };
  const group = await adopting({ gates: () => [{ around }] });
  const adoption = await group.adopt();
  expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(hidden).toBe(0);
});

test('R-EVENTUAL: one that it never knows is gone, and not waited for for ever', async () => {
  const group = await adopting(
    unknownAtFirst('AssociateApplicationStatusCheck', 'ActOnCheckFunction', 1_000),
  );
  expect(outcome(await group.adopt())).toBe('FAILED CheckChanged');
  expect(group.aggregations).toEqual([]);
});

test('R-EVENTUAL: a description that does not show the promotion yet is no act of somebody else', async () => {
  const SHOWS_AFTER = 40_000;
  let includedAt = Number.POSITIVE_INFINITY;
  let now = () => 0;
  const around: Gate['around'] = async ({ action }, input, perform) => {
    const output = await perform(input);
    if (action === 'ModifyApplicationStatusCheck') includedAt = now();
    const isStale = now() >= includedAt && now() - includedAt < SHOWS_AFTER;
    if (action !== 'DescribeApplicationStatusChecks' || !isStale) return output;
    const { ApplicationStatusChecks = [] } = output as DescribeApplicationStatusChecksResult;
    const stale = ApplicationStatusChecks.map(check => ({ ...check, Aggregation: 'excluded' }));
    return { ...output, ApplicationStatusChecks: stale };
  };
  const group = await adopting({ gates: () => [{ around }] });
  now = () => group.bracket.clock.now();
  const adoption = await group.adopt();
  expect([outcome(adoption), adoption.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(group.aggregations).toEqual(['included']);
});

test('D5: what another execution has taken over does nothing more, and is undone once', async () => {
  const group = await adopting();
  const adoption = group.start();
  await group.bracket.reaches(adoption, 'ObserveHarm');
  const undo = {
    autoScalingGroupName: 'web',
    from: adoption.arn,
    error: 'UndoneByHand',
    cause: 'by a person',
  };
  const undoing = group.bracket.start('PromoteCheck', undo);
  await group.bracket.end(adoption, undoing);
  expect([adoption, undoing].map(outcome)).toEqual(['FAILED AdoptionEnded', 'FAILED UndoneByHand']);
  expect(group.aggregations).toEqual([]);
  expect(await group.bracket.violations()).toEqual([]);
});

test('D5: neither does one that was taken over when it was about to succeed', async () => {
  const group = await adopting();
  const adoption = group.start({ watchSeconds: 300 });
  await group.bracket.reaches(adoption, 'ObserveHarm');
  const undo = {
    autoScalingGroupName: 'web',
    from: adoption.arn,
    error: 'UndoneByHand',
    cause: 'by a person',
  };
  const { clock } = group.bracket;
  await clock.pass(group.bracket.enteredAt(adoption, 'ObserveHarm') + 299_000 - clock.now());
  const undoing = group.bracket.start('PromoteCheck', undo);
  await group.bracket.end(adoption, undoing);
  expect([adoption, undoing].map(outcome)).toEqual(['FAILED AdoptionEnded', 'FAILED UndoneByHand']);
  expect(group.aggregations).toEqual([]);
});

test('a check that was created and could not be named is found by its tag, and deleted', async () => {
  const before = ({ action, caller }: Call, input: Readonly<Record<string, unknown>>) => {
    if (
      action === 'UpdateItem' &&
      caller.name === 'ActOnCheckFunction' &&
      /checkId/.test(String(input.UpdateExpression))
    )
      throw new ServiceError('AccessDeniedException', 'not allowed');
  };
  const group = await adopting({ gates: () => [{ before }] });
  expect(outcome(await group.adopt())).toBe('FAILED AccessDenied');
  expect(group.bracket.actsOf('CreateApplicationStatusCheck')).toHaveLength(1);
  expect(group.aggregations).toEqual([]);
  expect(await group.bracket.violations()).toEqual([]);
});

test('a group that is deleted meanwhile ends its adoption', async () => {
  const group = await adopting();
  const adoption = group.start();
  await group.bracket.reaches(adoption, 'ObserveGroup');
  group.bracket.standing.account.autoScaling.deleteGroup('web');
  await group.bracket.end(adoption);
  expect(outcome(adoption)).toBe('FAILED AutoScalingGroupUnknown');
  expect(group.aggregations).toEqual([]);
});

test('an existing check that is deleted has nothing left to undo', async () => {
  const group = await adopting();
  const adoption = group.start({ check: { id: group.createCheck() } });
  await group.bracket.reaches(adoption, 'ObserveSample');
  group.deleteCheck();
  await group.bracket.end(adoption);
  expect(outcome(adoption)).toBe('FAILED CheckChanged');
  expect(await group.bracket.violations()).toEqual([]);
});
