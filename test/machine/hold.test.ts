import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, bracket, outcome, type Sent, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

const suspendedIn = (of: Bracket): string[] => [
  ...of.standing.account.autoScaling.group('web').suspended.keys(),
];
const changes = (of: Bracket): string[] =>
  of.entries('process').map(({ process, suspended }) => `${process} ${suspended ? 'suspended' : 'resumed'}`);

describe("D4: a hold on the group's health processes", () => {
  test('is there before the first target leaves, and until every target is healthy again', async () => {
    const run = await bracket();
    await run.before();
    expect(suspendedIn(run)).toEqual(['HealthCheck', 'ReplaceUnhealthy']);
    await run.after();
    const targets = run.entries('target');
    const [suspended] = run.entries('process');
    const resumed = run.entries('process').find(entry => !entry.suspended);
    const healthy = targets.filter(({ state }) => state === 'healthy').map(({ at }) => at);
    expect(suspended?.at).toBeLessThan(Number(targets.find(({ state }) => state === 'draining')?.at));
    expect(resumed?.at).toBeGreaterThan(Math.max(...healthy));
    expect(suspendedIn(run)).toEqual([]);
  });

  test('is said in the record once it is there, since a hook lets CodeDeploy take out no target before', async () => {
    const run = await bracket();
    await run.before({ traffic: 'leave' });
    const isSaid = ({ action, input }: Sent) =>
      action === 'UpdateItem' && String(input.UpdateExpression).includes('heldAt = ');
    const [said, ...more] = run.sent.filter(isSaid);
    expect(more).toEqual([]);
    expect(said?.at).toBeGreaterThan(Number(run.actsOf('SuspendProcesses')[0]?.at));
  });

  test('is shared by runs, and the last one out resumes', async () => {
    const both = await bracket({ ...usual, instances: 6, zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'] });
    await both.before({ fleet: { instanceIds: both.ids(0) } });
    await both.before({ runId: 'other', fleet: { instanceIds: both.ids(1) } });
    await both.after();
    expect(suspendedIn(both)).toEqual(['HealthCheck', 'ReplaceUnhealthy']);
    await both.after({ runId: 'other' });
    expect(changes(both)).toEqual([
      'HealthCheck suspended',
      'ReplaceUnhealthy suspended',
      'HealthCheck resumed',
      'ReplaceUnhealthy resumed',
    ]);
    expect(await both.violations()).toEqual([]);
  });

  test('lasts while a group does not take a target back', async () => {
    let refusals = 8;
    const [web] = usual.targetGroups ?? [];
    const run = await bracket(
      {
        ...usual,
        targetGroups: [
          { ...web, name: 'web', port: 8080 },
          { ...web, name: 'admin', port: 8080 },
        ],
      },
      {
        gates: () => [
          {
            before: ({ action, caller }, input) => {
              const refused =
                action === 'RegisterTargets' && String(input.TargetGroupArn).includes('/admin/');
              if (caller.name === 'UndoFunction' && refused && refusals-- > 0)
                throw new ServiceError('InvalidTarget', 'The target is not valid');
            },
          },
        ],
      },
    );
    const before = run.startBefore();
    await run.reaches(before, 'ObserveDrained');
    await run.clock.pass(MINUTE);
    run.stack.executions.stop(before.arn, 'Operator.Stopped', 'by a person');
    await run.clock.pass(20 * MINUTE);
    expect(refusals).toBeLessThanOrEqual(0);
    const resumed = run.entries('process').find(entry => !entry.suspended);
    const healthy = run.entries('target').filter(({ state }) => state === 'healthy');
    expect(resumed?.at).toBeGreaterThan(Math.max(...healthy.map(({ at }) => at)));
    expect(await run.violations()).toEqual([]);
  });

  test('sets Healthy, before it is given up, what somebody marked and what was proven ready', async () => {
    const run = await bracket();
    await run.before();
    run.markUnhealthyByHand(run.ids(0));
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(run.acts.map(({ action }) => action).filter(action => /Health|Resume/.test(action))).toEqual([
      'SetInstanceHealth',
      'ResumeProcesses',
    ]);
    expect(await run.violations()).toEqual([]);
  });

  test('is not needed for a group that does not look at load balancers', async () => {
    const run = await bracket({ ...usual, autoScaling: { healthChecks: ['EC2'] } });
    await run.before();
    await run.after();
    expect(changes(run)).toEqual([]);
  });

  test('protects a fleet without checks whose traffic somebody else moves', async () => {
    const run = await bracket({ ...usual, checks: [] });
    expect(outcome(await run.before({ traffic: 'leave' }))).toBe('SUCCEEDED');
    for (const instance of run.standing.fleet.instances.slice(0, 2)) instance.application.stop();
    await run.clock.pass(5 * MINUTE);
    for (const instance of run.standing.fleet.instances.slice(0, 2)) instance.application.start(120);
    const after = await run.after();
    expect(outcome(after), after.cause).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
    expect(run.entries('activity')).toEqual([]);
  });
});

describe('R-PROCESS', () => {
  test('what was found suspended stays so; the rest is suspended and resumed', async () => {
    const run = await bracket({ ...usual, autoScaling: { suspended: ['HealthCheck', 'Launch'] } });
    await run.before({ policy: { alsoSuspend: ['AZRebalance'] } });
    await run.after();
    expect(changes(run)).toEqual([
      'ReplaceUnhealthy suspended',
      'AZRebalance suspended',
      'ReplaceUnhealthy resumed',
      'AZRebalance resumed',
    ]);
    expect(suspendedIn(run)).toEqual(['HealthCheck', 'Launch']);
    expect(await run.violations()).toEqual([]);
  });

  test('no other process is ever named', async () => {
    const run = await bracket();
    await run.before();
    await run.after();
    for (const { input } of [...run.actsOf('SuspendProcesses'), ...run.actsOf('ResumeProcesses')])
      expect(input.ScalingProcesses).toEqual(['HealthCheck', 'ReplaceUnhealthy']);
  });
});

describe('D4: Standby', () => {
  const standby = { policy: { autoScaling: 'standby' } };

  test('takes the members out and back, and AZRebalance is suspended meanwhile', async () => {
    const run = await bracket({ ...usual, autoScaling: { minSize: 2 } });
    expect(outcome(await run.before(standby))).toBe('SUCCEEDED');
    const states = () =>
      [...run.standing.account.autoScaling.group('web').members.values()].map(({ lifecycle }) => lifecycle);
    expect(states().sort()).toEqual(['InService', 'InService', 'Standby', 'Standby']);
    expect(suspendedIn(run)).toEqual(['AZRebalance']);
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(states()).toEqual(Array(4).fill('InService'));
    expect(run.standing.account.autoScaling.group('web').minSize).toBe(2);
    expect(await run.violations()).toEqual([]);
  });

  test('has one writer a group', async () => {
    const both = await bracket({ ...usual, instances: 6, autoScaling: { minSize: 2 } });
    await both.before({ ...standby, fleet: { instanceIds: both.ids(0) } });
    const second = both.startBefore({
      runId: 'other',
      fleet: { instanceIds: both.ids(1) },
      policy: { autoScaling: 'standby', waitSeconds: 3600 },
    });
    await both.clock.pass(5 * MINUTE);
    expect(both.actsOf('EnterStandby')).toHaveLength(1);
    await both.after();
    await both.end(second);
    expect(outcome(second)).toBe('SUCCEEDED');
    await both.after({ runId: 'other' });
    expect(await both.violations()).toEqual([]);
  });

  test('is left also when Auto Scaling refuses it at first', async () => {
    let refused = 0;
    const run = await bracket(
      { ...usual, autoScaling: { minSize: 2 } },
      {
        gates: () => [
          {
            before: call => {
              // The batch, and then each instance alone.
              if (call.action === 'ExitStandby' && refused++ < 3)
                throw new ServiceError('ValidationError', 'The instance is not in Standby yet');
            },
          },
        ],
      },
    );
    expect(outcome(await run.before(standby))).toBe('SUCCEEDED');
    expect(outcome(await run.after())).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('that Auto Scaling refuses takes nothing out of traffic', async () => {
    const run = await bracket({ ...usual, autoScaling: { minSize: 2 } });
    run.standing.account.world.journal.listen(entry => {
      if (entry.type === 'state-entered' && entry.state === 'Deregister')
        run.standing.account.autoScaling.group('web').minSize = 4;
    });
    const before = await run.before({ policy: { autoScaling: 'standby', waitSeconds: 300 } });
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(before.cause).toMatch(/i-[0-9a-f]+ does not enter Standby: .*min-size=4/);
    expect(run.actsOf('DeregisterTargets')).toEqual([]);
    expect(await run.violations()).toEqual([]);
  });
});
