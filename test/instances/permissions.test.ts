import { expect, test } from 'vitest';
import type { Stack } from '../../local/stack/deploy.ts';
import { fencedWhileJoining, hooked, scaled } from './helpers/launches.ts';

/** The permissions of what attends instances that no call of these accounts needed. */
function unneeded({ template, unusedPermissions }: Stack): readonly string[] {
  const attending = [
    ...[...template.functions.values()].filter(({ source }) => source?.startsWith('functions/instances/')),
    ...['InstanceLaunch', 'InstanceTermination'].flatMap(name => template.machines.get(name) ?? []),
  ];
  const roles = new Set(attending.map(({ role }) => role.logicalId));
  return unusedPermissions()
    .filter(({ role }) => roles.has(role))
    .map(({ role, action }) => `${role} ${action}`);
}

test('what attends instances may do all that it does, and nothing else', async () => {
  const fleet = await scaled(
    hooked({
      targetGroups: [
        { name: 'web', port: 8080 },
        { name: 'admin', port: 8081, attached: false },
      ],
    }),
  );
  expect(unneeded(fleet.bracket.stack)).not.toEqual([]);
  await fleet.bracket.before({ traffic: 'leave', policy: { launches: 'join' } });
  fleet.scaleTo(5);
  await fleet.pass(240);
  fleet.replace(fleet.bracket.ids(3)[0] ?? '');
  await fleet.pass(420);
  const denied = fleet.bracket.stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied'));
  expect(denied).toEqual([]);
  const given = unneeded((await fencedWhileJoining()).bracket.stack);
  expect(unneeded(fleet.bracket.stack).filter(permission => given.includes(permission))).toEqual([]);
});
