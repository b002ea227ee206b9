import { describe, expect, test } from 'vitest';
import { chooseHolding, HEALTH_PROCESSES, processesToSuspend } from '../../functions/core/domain/holding.ts';

describe('D4: what is done about a group that judges health by itself', () => {
  test.each([
    [['EC2'], 'none'],
    [['EC2', 'EBS'], 'none'],
    [['EC2', 'ELB'], 'hold'],
    [['VPC_LATTICE'], 'hold'],
    [[], 'none'],
  ])('auto with health checks %j: %s', (types, mode) => {
    expect(chooseHolding('auto', types)).toBe(mode);
  });

  test.each(['hold', 'standby', 'none'] as const)('a policy of %s is taken at its word', policy => {
    for (const types of [['EC2'], ['EC2', 'ELB']]) expect(chooseHolding(policy, types)).toBe(policy);
  });

  test('the processes that mark and that replace are held together, and never those that launch or register', () => {
    expect([...HEALTH_PROCESSES].sort()).toEqual(['HealthCheck', 'ReplaceUnhealthy']);
  });
});

test.each([
  { found: [], suspend: ['HealthCheck', 'ReplaceUnhealthy'] },
  { found: ['ReplaceUnhealthy', 'Launch'], suspend: ['HealthCheck'] },
  { found: ['HealthCheck', 'ReplaceUnhealthy'], suspend: [] },
])(
  'R-PROCESS, D39: what others suspended ($found) is not ours to suspend, nor to resume',
  ({ found, suspend }) => {
    expect(processesToSuspend(HEALTH_PROCESSES, found)).toEqual(suspend);
  },
);
