import { expect, test } from 'vitest';
import { CHECKS_PRINCIPAL } from '../../local/account/managed-interfaces.ts';
import { hasty, stacks } from './helpers/stacks.ts';

const MINUTE = 60_000;

test('D22: what lingers for longer than CloudFormation waits is named in time, and the stack is deleted later', async () => {
  const team = await stacks({ physics: { interfaceLingerMinutes: [30, 30] } });
  const stack = team.stack();
  await team.run(stack.create(team.example(hasty(900))));
  await team.bracket.clock.pass(5 * MINUTE);
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.resources).toEqual(['CheckSecurityGroup', 'CheckSecurityGroupGuard']);
  const { reason = '' } = stack.events.at(-1) ?? {};
  const [one, other] = [...team.network.interfaces.values()].filter(({ owner }) => owner.kind === 'service');
  for (const { id, subnet } of [one, other].flatMap(found => found ?? []))
    expect(reason).toContain(
      `${id} "EC2 application status checks" in ${subnet.id}, managed by ${CHECKS_PRINCIPAL}`,
    );
  expect(reason).toContain('BudgetSpent: CloudFormation has to be answered');
  const groupId = stack.resource('CheckSecurityGroup').physicalId;
  expect(reason).toContain(`${groupId} is retired from now on, and is deleted when they are gone.`);
  expect([team.unanswered, team.cloudFormation.custom.faults]).toEqual([[], []]);
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  expect(stack.events.at(-1)?.reason).toContain(`${groupId} is being retired already`);
  await team.bracket.clock.pass(25 * MINUTE);
  expect([team.network.securityGroups.has(groupId), team.bracket.ended('RetireCheck')]).toEqual([
    false,
    ['SUCCEEDED'],
  ]);
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  expect(await team.bracket.violations()).toEqual([]);
});

test("D45: a check that needs the interface is named, and a group without our tag is the stack's alone to delete", async () => {
  const team = await stacks({ physics: { interfaceLingerMinutes: [25, 25] } });
  const stack = team.stack();
  const untagged = [
    '      Tags:\n        - Key: quiesce\n          Value: enabled\n\n  # Refers',
    '\n  # Refers',
  ] as const;
  await team.run(stack.create(team.example(untagged, hasty(900))));
  const groupId = stack.resource('CheckSecurityGroup').physicalId;
  const other = team.createCheck({}, groupId);
  await team.bracket.clock.pass(5 * MINUTE);
  expect(await team.run(stack.delete())).toBe('DELETE_FAILED');
  const reason = stack.events.at(-1)?.reason ?? '';
  expect(reason).toMatch(new RegExp(`eni-\\w+ [^;]*, needed by ${other}; `));
  expect(reason).toContain(
    `${groupId} does not carry the tag quiesce=enabled, so nobody but the stack deletes it.`,
  );
  await team.bracket.clock.pass(30 * MINUTE);
  expect([team.network.securityGroups.has(groupId), team.bracket.ended('RetireCheck')]).toEqual([true, []]);
});

test('R-UNDO: a creation that is rolled back in the middle waits for its interfaces too, and leaves nothing', async () => {
  const team = await stacks();
  const stack = team.stack();
  const failing = `
  Failing:
    Type: Custom::QuiesceSecurityGroupGuard
    DependsOn: Association
    Properties:
      ServiceToken: !ImportValue quiesce-ServiceToken
      SecurityGroupId: no-group

Outputs:`;
  expect(await team.run(stack.create(team.example(['\nOutputs:', failing])))).toBe('ROLLBACK_COMPLETE');
  expect(stack.events.find(({ what }) => what === 'CREATE_FAILED Failing')?.reason).toContain(
    'InvalidRequest: SecurityGroupId: must be the id of a security group',
  );
  expect([stack.resources, team.associations, await team.held(), team.registry.active()]).toEqual([
    [],
    [],
    [],
    [],
  ]);
  expect([...team.network.securityGroups.keys()]).toHaveLength(1);
  expect([team.unanswered, team.cloudFormation.custom.faults]).toEqual([[], []]);
});
