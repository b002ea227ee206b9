import { expect, test } from 'vitest';
import { ec2Api } from '../../local/account/ec2-service.ts';
import { OPT_IN } from '../../local/simulate/build-fleet.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, type BracketSettings, bracket, type Fleet, outcome } from './helpers/bracket.ts';

const MINUTE = 60_000;

/** An included check, and one that a deployment has brought. */
const fleet: Fleet = {
  instances: 2,
  zones: ['eu-west-1a'],
  targetGroups: [],
  checks: [
    { port: 8080, graceSeconds: 60 },
    { port: 8080, path: '/live', aggregation: 'excluded', graceSeconds: 60 },
  ],
  autoScaling: { healthChecks: ['EC2'] },
};

const brought = ({ standing }: Bracket): string => standing.fleet.checkIds.at(-1) ?? '';
const aggregations = ({ standing }: Bracket) =>
  standing.account.checks.registry.active().map(({ settings }) => settings.aggregation);

/** A run that has its go-ahead. */
async function deployed(settings: BracketSettings = {}, of: Fleet = fleet): Promise<Bracket> {
  const run = await bracket(of, settings);
  expect(outcome(await run.before())).toBe('SUCCEEDED');
  return run;
}

test('a check that a deployment has brought is promoted with evidence, and only then the fleet is released', async () => {
  const run = await deployed();
  const after = await run.after({ promoteCheckIds: [brought(run)] });
  expect([outcome(after), after.cause]).toEqual(['SUCCEEDED', undefined]);
  const path = run.path(after);
  expect(path.indexOf('Adopt')).toBeLessThan(path.indexOf('ObserveEvidence'));
  expect(path.indexOf('ObserveEvidence')).toBeLessThan(path.indexOf('Release'));
  expect(aggregations(run)).toEqual(['included', 'included']);
  const [promotion, release] = [
    'ModifyApplicationStatusCheck',
    'DisableApplicationStatusCheckSuppression',
  ].map(action => run.actsOf(action)[0]?.at ?? 0);
  expect(promotion).toBeLessThan(release ?? 0);
  // It goes on to watch the check by itself.
  expect(run.ended('PromoteCheck')).toEqual(['RUNNING']);
  await run.clock.pass(15 * MINUTE);
  expect(run.ended('PromoteCheck')).toEqual(['SUCCEEDED']);
  expect(await run.violations()).toEqual([]);
});

test('D13: where the suppression does not show, nothing is promoted before the release', async () => {
  const run = await deployed({}, { ...fleet, checks: (fleet.checks ?? []).slice(1) });
  const after = await run.after({ promoteCheckIds: [brought(run)] });
  expect([outcome(after), after.cause]).toEqual(['SUCCEEDED', undefined]);
  expect(run.path(after).indexOf('Release')).toBeLessThan(run.path(after).indexOf('Adopt'));
  expect(aggregations(run)).toEqual(['included']);
});

test('a check that is not proven fails the run with its own error, and the run is undone', async () => {
  const run = await deployed({ quotas: { targets: 3 } });
  const after = await run.after({ promoteCheckIds: [brought(run)] });
  expect(outcome(after)).toBe('FAILED QuotaExceeded');
  expect(after.cause).toContain('EC2 reports nothing of');
  expect(aggregations(run)).toEqual(['included', 'excluded']);
  expect(await run.violations()).toEqual([]);
});

test('so does an adoption that somebody stops', async () => {
  const run = await deployed();
  const after = run.start('AfterDeploy', { runId: 'r', promoteCheckIds: [brought(run)] });
  await run.reaches(after, 'WaitToAdopt');
  run.stack.executions.stop(run.latest('PromoteCheck'));
  await run.end(after);
  expect(outcome(after)).toBe('FAILED ABORTED');
  expect(after.cause).toContain('was ended.');
  await run.clock.pass(20 * MINUTE);
  expect(aggregations(run)).toEqual(['included', 'excluded']);
  expect(await run.ledger()).toContainEqual({ pk: 'adoption#web', status: 'ended' });
});

test('an adoption that cannot be started fails the run, too', async () => {
  const run = await deployed({
    gates: () => [
      {
        before: ({ action, caller }) => {
          if (action === 'StartExecution' && caller.name === 'AdoptForRunFunction')
            throw new ServiceError('AccessDeniedException', 'no');
        },
      },
    ],
  });
  expect(outcome(await run.after({ promoteCheckIds: [brought(run)] }))).toBe('FAILED AccessDenied');
  expect(run.ended('PromoteCheck')).toEqual([]);
});

test('what cannot be promoted is refused before the run is resumed, which may be called again', async () => {
  const run = await deployed();
  const { checks } = run.standing.account;
  const { registry } = checks;
  const [included = '', excluded = ''] = run.standing.fleet.checkIds;
  const api = ec2Api(checks);
  const create = (onGroup: boolean) => {
    const { ApplicationStatusCheck } = api.CreateApplicationStatusCheck({
      Protocol: 'http',
      Port: 8080,
      Aggregation: 'excluded',
    });
    const id = ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
    registry.tag(id, OPT_IN);
    const TargetTagAssociations = [{ Key: 'aws:autoscaling:groupName', Value: 'web' }];
    if (onGroup) api.AssociateApplicationStatusCheck({ ApplicationStatusCheckId: id, TargetTagAssociations });
    return id;
  };
  for (const [ids, error, said] of [
    [['asc-00000000000000000'], 'CheckUnknown', 'There is no'],
    [[included], 'CheckInUse', 'is included already'],
    [[create(false)], 'CheckInUse', 'and is with nothing'],
    [[excluded, create(true)], 'CheckInUse', 'adopts one check at a time'],
    [['web'], 'InvalidRequest', 'must be the id of a check such as'],
  ] as const) {
    const refused = await run.after({ promoteCheckIds: ids });
    expect([outcome(refused), refused.cause]).toEqual([`FAILED ${error}`, expect.stringContaining(said)]);
  }
  expect(outcome(await run.after())).toBe('SUCCEEDED');
  expect(await run.violations()).toEqual([]);
});

test('R-BUDGET: so is what would take longer than the machine may', async () => {
  const run = await bracket(fleet);
  expect(outcome(await run.before({ policy: { readySeconds: 6000 } }))).toBe('SUCCEEDED');
  const refused = await run.after({ promoteCheckIds: [brought(run)] });
  expect(outcome(refused)).toBe('FAILED BudgetExceedsTimeout');
  expect(outcome(await run.after())).toBe('SUCCEEDED');
});

test('a flaky check is never promoted', async () => {
  const run = await deployed();
  const after = run.start('AfterDeploy', { runId: 'r', promoteCheckIds: [brought(run)] });
  await run.reaches(after, 'Adopt');
  const flaky = (now: number) => (Math.floor(now / MINUTE) % 2 === 0 ? 200 : 503);
  for (const { application } of run.standing.fleet.instances)
    application.suffer(({ path }, now) => ({
      kind: 'responds',
      status: path === '/live' ? flaky(now) : 200,
      afterMs: 20,
    }));
  await run.end(after);
  expect(outcome(after)).toBe('FAILED CheckNotProven');
  expect(aggregations(run)).toEqual(['included', 'excluded']);
});
