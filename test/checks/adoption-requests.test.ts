import { describe, expect, test } from 'vitest';
import { outcome } from '../machine/helpers/bracket.ts';
import { adopting } from './helpers/adopting.ts';

const MINUTE = 60_000;

describe('one adoption at a time', () => {
  test('works on a group: the second one is refused and takes nothing from the first', async () => {
    const group = await adopting();
    const first = group.start();
    await group.bracket.clock.pass(MINUTE);
    const second = await group.adopt();
    await group.bracket.end(first);
    expect([outcome(first), outcome(second)]).toEqual(['SUCCEEDED', 'FAILED AdoptionInProgress']);
    expect(group.aggregations).toEqual(['included']);
    expect(await group.bracket.violations()).toEqual([]);
  });

  test('works on a check', async () => {
    const group = await adopting();
    group.addGroup('other', 1);
    await group.bracket.clock.pass(5 * MINUTE);
    const check = { id: group.createCheck() };
    const adoptions = [group.start({ check }), group.start({ check, autoScalingGroupName: 'other' })];
    await group.bracket.end(...adoptions);
    expect(adoptions.map(outcome).sort()).toEqual(['FAILED AdoptionInProgress', 'SUCCEEDED']);
    expect(group.associations).toHaveLength(1);
  });

  test('and after it the next one may', async () => {
    const group = await adopting();
    group.answer(() => 503);
    expect(outcome(await group.adopt())).toBe('FAILED CheckNotProven');
    group.answer(undefined);
    expect(outcome(await group.adopt())).toBe('SUCCEEDED');
    expect(group.aggregations).toEqual(['included']);
  });
});

describe('a request is refused', () => {
  test.each([
    ['AutoScalingGroupUnknown', { autoScalingGroupName: 'unknown' }],
    ['CheckUnknown', { check: { id: 'asc-00000000000000000' } }],
    ['InvalidRequest', { check: { protocol: 'ftp', port: 21 } }],
    ['InvalidRequest', { evaluations: 1 }],
    ['BudgetExceedsTimeout', { observeSeconds: 7200 }],
  ])('as %s', async (error, request) => {
    const group = await adopting();
    expect(outcome(await group.adopt(request))).toBe(`FAILED ${error}`);
    expect(group.bracket.acts).toEqual([]);
  });

  test('D19: as NotOptedIn, for a group or a check without the tag', async () => {
    const group = await adopting();
    expect(outcome(await group.adopt({ check: { id: group.createCheck({}) } }))).toBe('FAILED NotOptedIn');
    group.addGroup('untagged', 1, {});
    expect(outcome(await group.adopt({ autoScalingGroupName: 'untagged' }))).toBe('FAILED NotOptedIn');
  });

  test('as CheckInUse, for a check that is included, or associated elsewhere', async () => {
    const group = await adopting();
    const included = { id: group.createCheck(undefined, 'included') };
    expect(outcome(await group.adopt({ check: included }))).toBe('FAILED CheckInUse');
    const associated = { id: group.createCheck() };
    group.associateByHand(associated.id, ...group.bracket.ids(0));
    expect(outcome(await group.adopt({ check: associated }))).toBe('FAILED CheckInUse');
  });

  test('as NothingToDo, for a group with nothing in service', async () => {
    const group = await adopting();
    group.addGroup('empty', 0);
    expect(outcome(await group.adopt({ autoScalingGroupName: 'empty' }))).toBe('FAILED NothingToDo');
  });
});
