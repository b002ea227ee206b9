import { expect, test } from 'vitest';
import { unneededBy, unneededByAll } from '../template/helpers/role-groups.ts';
import { adopting, losing, unchecked } from './helpers/adopting.ts';

test('what adopts a check may do all that it does, and nothing else', async () => {
  const group = await adopting(losing('AssociateApplicationStatusCheck'), {
    ...unchecked,
    targetGroups: [{ name: 'web', port: 8080 }],
  });
  expect(unneededBy('adopting', group.bracket.stack)).not.toEqual([]);
  const check = { id: group.createCheck() };
  const taken = group.start({ check });
  await group.bracket.reaches(taken, 'Sample');
  await group.adopt();
  await group.bracket.reaches(taken, 'ObserveHarm');
  group.answer(() => 503, 1);
  await group.bracket.end(taken);
  await group.adopt();
  group.answer(undefined);
  const left = group.start({ check });
  await group.bracket.reaches(left, 'ObserveGroup');
  group.disassociateGroup('web');
  await group.bracket.end(left);
  const denied = group.bracket.stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied'));
  expect(denied).toEqual([]);
  // What the loop breaker needs is seen where it is on.
  const unneeded = unneededByAll('adopting', [group.bracket.stack]);
  expect(unneeded.filter(one => !one.startsWith('BreakLoops'))).toEqual([]);
});
