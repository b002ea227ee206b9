import { expect, test } from 'vitest';
import { createAccount } from '../../local/account/account.ts';
import { createWorld } from '../../local/account/world.ts';
import { Promotions, unprovenUnder } from '../../local/simulate/promotions.ts';
import { adopting } from './helpers/adopting.ts';

const MINUTE = 60_000;

test('invariant 5 sees whom a check is not proven for, by the account itself', async () => {
  const group = await adopting();
  const { account } = group.bracket.standing;
  const adoption = group.start();
  await group.bracket.reaches(adoption, 'ObserveGroup');
  expect(unprovenUnder(account, group.checkId)).toHaveLength(1);
  await group.bracket.end(adoption);
  expect(unprovenUnder(account, group.checkId)).toEqual([]);
  group.answer(() => 503, 2);
  await group.bracket.clock.pass(4 * MINUTE);
  expect(unprovenUnder(account, group.checkId)).toEqual(group.bracket.ids(2));
});

test('invariant 5 is broken by a function that includes a check too early, for each instance', async () => {
  const group = await adopting();
  const { account } = group.bracket.standing;
  const broken: string[] = [];
  const promotions = new Promotions(account, what => broken.push(what));
  const adoption = group.start();
  await group.bracket.reaches(adoption, 'ObserveGroup');
  const call = { action: 'ModifyApplicationStatusCheck' } as Parameters<Promotions['before']>[0];
  const include = { ApplicationStatusCheckId: group.checkId, Aggregation: 'included' };
  promotions.before(call, include);
  expect(broken).toEqual([expect.stringMatching(/is included although i-\w+ has not passed it/)]);
});

test('invariant 5 is broken by a loop of replacements that an adoption does not end', async () => {
  const world = createWorld();
  const broken: string[] = [];
  const promotions = new Promotions(createAccount(world), what => broken.push(what));
  const call = { action: 'ModifyApplicationStatusCheck' } as Parameters<Promotions['before']>[0];
  const set = (Aggregation: string) =>
    promotions.before(call, { ApplicationStatusCheckId: 'asc-1', Aggregation });
  const replace = (times: number, cause = 'an EC2 Application Status check failure') => {
    for (let n = 0; n < times; n++)
      world.journal.record({
        type: 'activity',
        kind: 'terminate',
        group: 'web',
        instanceId: `i-${n}`,
        cause,
      });
  };
  set('included');
  replace(3);
  replace(9, 'a user request');
  expect(broken).toEqual([]);
  replace(1);
  expect(broken).toEqual(['4 instances were replaced since asc-1 was included, and it still is']);
  set('excluded');
  replace(9);
  expect(broken).toHaveLength(1);
});
