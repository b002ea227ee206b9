// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { expect, test } from 'vitest';
import { checkQuotas, DEFAULT_QUOTAS } from '../../functions/core/check-quotas.ts';
import {
  type ExpectedTarget,
  percentOf,
  quotaUsage,
  unmonitoredTargets,
} from '../../functions/core/domain/monitoring.ts';
import { watched } from './helpers/watched.ts';

test('D47: what is beyond the quota of targets is found, named, and rings', async () => {
  const fleet = await watched(undefined, {
    quotas: { targets: 1 },
    parameters: { CheckQuotas: '{"targets":1}' },
  });
  const { bracket, checkId } = fleet;
  // By its id too, as a person has it: an instance twice is one target.
  fleet.checks.AssociateApplicationStatusCheck({
    ApplicationStatusCheckId: checkId,
    InstanceIds: bracket.ids(0),
  });
  await fleet.minutes(15);
  const said = bracket.stack.lambda.logs
    .filter(({ line }) => line.includes('targets.unmonitored'))
    .map(({ line }) => JSON.parse(line));
  const silent = bracket.ids().filter(id => !Object.keys(fleet.states).some(name => name.includes(id)));
  expect(silent).toHaveLength(1);
  expect(said.at(-1)).toMatchObject({ count: 1, targets: [`${silent[0]} ${checkId}`] });
  expect(fleet.told.filter(subject => subject.startsWith('ALARM')).sort()).toEqual([
    'ALARM: "quiesce-QuotaAlarm" in eu-west-1',
    'ALARM: "quiesce-UnmonitoredAlarm" in eu-west-1',
  ]);
});

const NOW = 1_800_000_000_000;

const target = (number: number, changes: Partial<ExpectedTarget> = {}): ExpectedTarget => ({
  checkId: 'asc-1',
  instanceId: `i-${number}`,
  isRunning: true,
  launchedAt: NOW - 301_000,
  ...changes,
});

test('D47: an instance that has just been launched, or does not run, is not missed', () => {
  const expected = [
    target(3),
    target(2, { launchedAt: undefined }),
    target(1),
    target(1),
    target(4, { launchedAt: NOW - 299_000 }),
    target(5, { isRunning: false }),
  ];
  expect(unmonitoredTargets(expected, new Set(['i-3 asc-1']), NOW, 300)).toEqual([
    { checkId: 'asc-1', instanceId: 'i-1' },
    { checkId: 'asc-1', instanceId: 'i-2' },
  ]);
});

test('each quota is counted by itself, the fullest first', () => {
  const usage = quotaUsage(
    { checks: 5, associations: ['asc-1', 'asc-1', 'asc-2'] },
    [target(1), target(1), target(2, { isRunning: false })],
    { checks: 50, associations: 200, associationsPerCheck: 4, targets: 5000 },
  );
  expect(usage.map(one => [one.quota, one.used, percentOf(one)])).toEqual([
    ['associationsPerCheck', 2, 50],
    ['checks', 5, 10],
    ['associations', 3, 1.5],
    ['targets', 1, 0.02],
  ]);
  expect(quotaUsage({ checks: 0, associations: [] }, [], DEFAULT_QUOTAS).map(percentOf)).toEqual([
    0, 0, 0, 0,
  ]);
  expect(percentOf({ quota: 'checks', used: 0, of: 0 })).toBe(100);
});

test('quotas are the documented ones, but for those that AWS has raised', () => {
  expect(checkQuotas('{}')).toEqual({
    checks: 50,
    associations: 200,
    associationsPerCheck: 50,
    targets: 5_000,
  });
  const raised = { checks: 60, associations: 300, associationsPerCheck: 70, targets: 20_000 };
  expect(checkQuotas(JSON.stringify(raised))).toEqual(raised);
  expect(() => checkQuotas('{"targets":0}')).toThrow('targets: must be at least 1');
  expect(() => checkQuotas('{"target":1}')).toThrow('target: ');
});
