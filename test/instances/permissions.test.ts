import { expect, test } from 'vitest';
import { unneededBy, unneededByAll } from '../template/helpers/role-groups.ts';
import { fencedWhileJoining, hooked, scaled } from './helpers/launches.ts';

test('what attends instances may do all that it does, and nothing else', async () => {
  const fleet = await scaled(
    hooked({
      targetGroups: [
        { name: 'web', port: 8080 },
        { name: 'admin', port: 8081, attached: false },
      ],
    }),
  );
  expect(unneededBy('instances', fleet.bracket.stack)).not.toEqual([]);
  await fleet.bracket.before({ traffic: 'leave', policy: { launches: 'join' } });
  fleet.scaleTo(5);
  await fleet.pass(240);
  fleet.replace(fleet.bracket.ids(3)[0] ?? '');
  await fleet.pass(420);
  const denied = fleet.bracket.stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied'));
  expect(denied).toEqual([]);
  const { stack } = (await fencedWhileJoining('after its claim')).bracket;
  expect(unneededByAll('instances', [fleet.bracket.stack, stack])).toEqual([]);
});
