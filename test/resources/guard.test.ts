import { expect, test } from 'vitest';
import { CHECKS_PRINCIPAL } from '../../local/account/managed-interfaces.ts';
import { stacks } from './helpers/stacks.ts';

const MINUTE = 60_000;

test('D22: what lingers for longer than CloudFormation waits is named in time, and the stack is deleted later', async () => {
  const team = await stacks({ physics: { interfaceLingerMinutes: [70, 70] } });
  const stack = team.stack();
  await team.run(stack.create(team.example()));
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
  expect([team.unanswered, team.cloudFormation.custom.faults]).toEqual([[], []]);
  await team.bracket.clock.pass(15 * MINUTE);
  expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
  expect(await team.bracket.violations()).toEqual([]);
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
