import { expect, it } from 'vitest';
import { shellLine } from '../../functions/core/domain/aws-cli.ts';
import { closeByHand, type HandledRun } from '../../functions/core/domain/by-hand.ts';
import { claimOf, GROUP, planOf } from './helpers/records.ts';

const NOW = 1_796_029_200;
const LIMITS = { targets: 2, suppressions: 2, standby: 2 };

const claimed = (instanceId: string, target: object = { port: 8080 }, fate?: 'held' | 'handed-over') => {
  const memberships = [{ targetGroupArn: GROUP, target: { id: instanceId, ...target } }];
  return {
    instanceId,
    claims: new Map([['r', { ...claimOf(instanceId, memberships), ...(fate && { fate: { how: fate } }) }]]),
    traffic: 'r',
    memberships,
  };
};

const run = (some: Partial<HandledRun> = {}): HandledRun => ({
  runId: 'r',
  status: 'ended',
  plan: planOf([]),
  running: [],
  instances: [],
  holds: [],
  outByGroup: new Map(),
  inStandby: new Set(),
  ...some,
});

const linesOf = (some: Partial<HandledRun>, operation: string): readonly string[] =>
  closeByHand(run(some), 'ledger', LIMITS, NOW)
    .steps.flatMap(({ commands }) => commands.map(shellLine))
    .filter(line => line.includes(` ${operation} `));

it('R-CHUNK: what is put back, and what is released, comes in batches', () => {
  const instances = ['i-1', 'i-2', 'i-3'].map(id => claimed(id));
  expect(linesOf({ instances }, 'register-targets')).toEqual([
    `aws elbv2 register-targets --target-group-arn ${GROUP} --targets Id=i-1,Port=8080 Id=i-2,Port=8080`,
    `aws elbv2 register-targets --target-group-arn ${GROUP} --targets Id=i-3,Port=8080`,
  ]);
  expect(linesOf({ instances }, 'disable-application-status-check-suppression')).toEqual([
    'aws ec2 disable-application-status-check-suppression --instance-ids i-1 i-2',
    'aws ec2 disable-application-status-check-suppression --instance-ids i-3',
  ]);
});

it('D27: a target is put back as it was listed, its zone only as an address', () => {
  const listed = { availabilityZone: 'all', quicServerId: '0xa1b2' };
  const instances = [claimed('i-1', listed)];
  const asAddress = planOf([], { groups: planOf([]).groups.map(group => ({ ...group, targetType: 'ip' })) });
  expect(linesOf({ instances }, 'register-targets')[0]).toMatch(/--targets Id=i-1,QuicServerId=0xa1b2$/);
  expect(linesOf({ instances, plan: asAddress }, 'register-targets')[0]).toMatch(
    /--targets Id=i-1,AvailabilityZone=all,QuicServerId=0xa1b2$/,
  );
});

it('D38: what Auto Scaling is just replacing is neither put back nor marked Healthy', () => {
  const instances = [claimed('i-1', { port: 80 }, 'handed-over'), claimed('i-2', { port: 80 }, 'held')];
  expect(linesOf({ instances }, 'register-targets')).toEqual([
    `aws elbv2 register-targets --target-group-arn ${GROUP} --targets Id=i-2,Port=80`,
  ]);
});

it('D4: a group that other runs hold too is left, not resumed; one where nothing was suspended neither', () => {
  const shared = [{ group: 'web', runs: ['r', 'other'], suspended: ['HealthCheck'] }];
  expect(linesOf({ holds: shared }, 'resume-processes')).toEqual([]);
  expect(linesOf({ holds: shared }, 'update-item')[0]).toContain('DELETE #runs :me');
  const nothing = [{ group: 'web', runs: ['r'], suspended: [] }];
  expect(linesOf({ holds: nothing }, 'resume-processes')).toEqual([]);
  expect(linesOf({ holds: nothing }, 'delete-item')[0]).toContain('autoscaling#web');
});

it('D7: targets that other runs have out stay counted', () => {
  const of = (runs: readonly string[]) => ({ outByGroup: new Map([[GROUP, runs]]) });
  expect(linesOf(of(['other']), 'update-item')).toEqual([]);
  expect(linesOf(of(['r', 'other']), 'update-item')[0]).toContain('REMOVE #out DELETE outRuns :me');
  expect(linesOf(of(['r']), 'delete-item')[0]).toContain(`targetgroup#${GROUP}`);
});

it('a word that a shell would read otherwise is quoted', () => {
  expect(shellLine(['aws', 'x=1', 'a b', "it's", '{"a":1}'])).toBe(`aws x=1 'a b' 'it'\\''s' '{"a":1}'`);
});
