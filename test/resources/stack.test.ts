import { expect, test } from 'vitest';
import { stacks } from './helpers/stacks.ts';

const MINUTE = 60_000;

test.each([1, 2])(
  'D22: a stack with a check comes and goes without a DependencyViolation, every request delivered %i times',
  async deliveries => {
    const team = await stacks({ physics: { interfaceLingerMinutes: [25, 40] } }, deliveries);
    const stack = team.stack();
    expect(await team.run(stack.create(team.example()))).toBe('CREATE_COMPLETE');
    expect(team.associations).toEqual(['aws:autoscaling:groupName=web']);
    await team.bracket.clock.pass(5 * MINUTE);
    const groupId = stack.resource('CheckSecurityGroup').physicalId;
    const deletedAt = team.bracket.clock.now();
    expect(await team.run(stack.delete())).toBe('DELETE_COMPLETE');
    expect(team.bracket.clock.now() - deletedAt).toBeGreaterThan(25 * MINUTE);
    expect(stack.events.slice(4).map(({ what }) => what)).toEqual([
      'DELETE_COMPLETE Association',
      'DELETE_COMPLETE Check',
      'DELETE_COMPLETE CheckSecurityGroupGuard',
      'DELETE_COMPLETE CheckSecurityGroup',
    ]);
    expect(team.network.securityGroups.has(groupId)).toBe(false);
    expect([team.unanswered, team.cloudFormation.custom.faults, await team.held()]).toEqual([[], [], []]);
    expect(await team.bracket.violations()).toEqual([]);
  },
);
