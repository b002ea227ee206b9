import { describe, expect, test } from 'vitest';
import { associationValue } from '../../local/account/check-registry.ts';
import { type Call, ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, bracket, outcome } from '../machine/helpers/bracket.ts';
import { claimOf } from '../unit/helpers/records.ts';
import {
  claimFor,
  deleteRun,
  held,
  holdFor,
  onlySchedule,
  secondsUntilHealed,
  small,
  stopAt,
  succeedFor,
  swept,
} from './helpers/stopped.ts';

const MINUTE = 60_000;

/** The executions of undo-run, in order. */
const undos = (run: Bracket) =>
  [...run.stack.executions.all()].filter(({ machine }) => machine.name.includes('UndoRun'));

const said = (run: Bracket, event: string): readonly Readonly<Record<string, unknown>>[] =>
  run.stack.lambda.logs
    .filter(({ line }) => line.includes(`"event":"${event}"`))
    .map(({ line }) => JSON.parse(line));

test('R-SWEEP: a check is taken off the groups of a blue/green deployment that are gone, and off no other', async () => {
  const run = await swept();
  const { account, fleet } = run.standing;
  const [id = ''] = fleet.checkIds;
  const on = () => [...(account.checks.registry.get(id)?.associations.values() ?? [])].map(associationValue);
  const tag = (value: string) => ({ type: 'tag' as const, key: 'aws:autoscaling:groupName', value });
  for (const name of ['copy', 'kept']) account.checks.registry.associate(id, tag(name));
  await succeedFor(run, 'd-1', { to: 'copy', from: ['web'], checkIds: [id] });
  await run.clock.pass(6 * MINUTE);
  expect(on()).toEqual(['web', 'kept'].map(name => `aws:autoscaling:groupName=${name}`));
  expect((await run.ledger()).filter(({ pk }) => pk.startsWith('succession#'))).toEqual([]);
  // While both are there nothing is taken off either, and the sweep looks again.
  const { settings } = account.autoScaling.group('web');
  account.autoScaling.addGroup({
    ...settings,
    name: 'copy',
    minSize: 0,
    maxSize: 1,
    desiredCapacity: 0,
    seasoned: true,
  });
  account.checks.registry.associate(id, tag('copy'));
  await succeedFor(run, 'd-2', { to: 'copy', from: ['web', 'gone'], checkIds: [id] });
  await run.clock.pass(6 * MINUTE);
  expect(on()).toContain('aws:autoscaling:groupName=copy');
  expect((await run.ledger()).map(({ pk }) => pk)).toContain('succession#d-2');
});

test('R-PARTIAL: a check that may not be taken off a group that is gone keeps no other on it', async () => {
  let denied = '';
  const before = ({ action }: Call, { ApplicationStatusCheckId }: Readonly<Record<string, unknown>>) => {
    if (action === 'DisassociateApplicationStatusCheck' && ApplicationStatusCheckId === denied)
      throw new ServiceError('UnauthorizedOperation', 'no');
  };
  const run = await swept(
    { gates: () => [{ before }] },
    { ...small, checks: [{ port: 8080 }, { port: 8080 }] },
  );
  const { account, fleet } = run.standing;
  const on = () =>
    fleet.checkIds.flatMap(id =>
      [...account.checks.registry.get(id).associations.values()].map(associationValue),
    );
  for (const id of fleet.checkIds)
    account.checks.registry.associate(id, { type: 'tag', key: 'aws:autoscaling:groupName', value: 'copy' });
  denied = fleet.checkIds[0] ?? '';
  await succeedFor(run, 'd-1', { to: 'copy', from: ['web'], checkIds: fleet.checkIds });
  await run.clock.pass(6 * MINUTE);
  expect(on().filter(value => value.endsWith('=copy'))).toHaveLength(1);
  denied = '';
  await run.clock.pass(6 * MINUTE);
  expect(on().filter(value => value.endsWith('=copy'))).toEqual([]);
});

describe('R-SWEEP: the sweep finds what no event tells', () => {
  test('a pipeline gives up after the go-ahead and never calls after-deploy', async () => {
    const run = await swept();
    await run.before({ policy: { deploymentSeconds: 600 } });
    await run.clock.pass(15 * MINUTE);
    expect(undos(run)).toEqual([]);
    await secondsUntilHealed(run);
    expect(undos(run).map(outcome)).toEqual(['FAILED RunOverdue']);
    expect(await run.violations()).toEqual([]);
    expect(outcome(await run.after())).toBe('FAILED RunEnded');
  });

  test('an undo is denied for hours: it is tried again in growing pauses, and heals once it is allowed', async () => {
    let denied = true;
    const run = await swept({
      gates: () => [
        {
          before: call => {
            if (denied && call.action === 'RegisterTargets')
              throw new ServiceError('AccessDenied', 'by a policy of the organization', 403);
          },
        },
      ],
    });
    run.startBefore();
    await run.clock.runFor(stopAt(run, 'BeforeDeploy', 'ObserveDrained', 0));
    await run.clock.pass(4 * 60 * MINUTE);
    const tries = undos(run);
    const gaps = tries
      .slice(1)
      .map((undo, index) => Math.round((undo.startedAt - (tries[index]?.startedAt ?? 0)) / MINUTE));
    expect(gaps).toEqual([5, 10, 20, 40, 60, 60]);
    expect(said(run, 'ledger.swept').at(-1)).toMatchObject({ found: { 'undo-unfinished': 1 } });
    denied = false;
    expect(await secondsUntilHealed(run)).toBeLessThan(66 * 60);
    expect(await run.violations()).toEqual([]);
    // R-FAIL: all of them end with what the run has failed of.
    expect(new Set(tries.map(({ error }) => error))).toEqual(new Set(['Operator.Stopped']));
  });

  test('claims of a run that has succeeded are ended', async () => {
    const run = await swept();
    await run.before();
    await run.after();
    const [instanceId = ''] = run.ids(3);
    await claimFor(run, 'r', instanceId, claimOf(instanceId, []));
    expect(await held(run)).toEqual([`instance#${instanceId}`]);
    await run.clock.pass(6 * MINUTE);
    expect(await held(run)).toEqual([]);
    expect(run.acts.filter(({ caller }) => caller.name === 'UndoFunction')).toEqual([]);
  });

  test('a run whose record was deleted is undone from what it still claims', async () => {
    const run = await swept();
    await run.before();
    await deleteRun(run, 'r');
    await secondsUntilHealed(run);
    expect(undos(run).map(outcome)).toEqual(['FAILED RunLost']);
    expect(await run.violations()).toEqual([]);
  });

  test('R-PARTIAL: one run that cannot be read keeps no other from being undone, and the sweep fails loudly', async () => {
    let blind = false;
    const run = await swept({
      gates: () => [
        {
          before: (call, input) => {
            if (blind && call.action === 'DescribeExecution' && String(input.executionArn).endsWith('e1'))
              throw new ServiceError('InternalFailure', 'down', 500);
          },
        },
      ],
    });
    for (const [runId, number] of [
      ['unread', 0],
      ['read', 1],
    ] as const) {
      const before = run.startBefore({ runId, fleet: { instanceIds: run.ids(number) } });
      await run.clock.pass(MINUTE);
      run.stack.executions.stop(before.arn, 'Operator.Stopped', 'by a person');
    }
    blind = true;
    await run.clock.pass(12 * MINUTE);
    expect(await held(run)).toEqual(expect.arrayContaining(run.ids(0).map(id => `instance#${id}`)));
    expect(await held(run)).not.toEqual(expect.arrayContaining(run.ids(1).map(id => `instance#${id}`)));
    expect(said(run, 'step.failed').length).toBeGreaterThan(1);
    const lost = run.stack.template.queues.get('LostEvents')?.arn ?? '';
    expect(run.stack.queues.messages(lost).length).toBeGreaterThan(0);
    blind = false;
    await secondsUntilHealed(run);
    expect(await run.violations()).toEqual([]);
  });

  test('R-IDEMP: two sweeps at once undo a run once', async () => {
    const run = await swept();
    run.startBefore();
    await run.clock.runFor(stopAt(run, 'BeforeDeploy', 'ObserveDrained', 0));
    const arn = run.stack.template.functions.get('SweepFunction')?.arn ?? '';
    const sweep = () => run.stack.lambda.invoke(arn, { source: 'aws.events' });
    await run.clock.runFor(Promise.all([sweep(), sweep(), sweep()]));
    await secondsUntilHealed(run);
    expect(undos(run)).toHaveLength(1);
    expect(await run.violations()).toEqual([]);
  });
});

describe('two runs on one instance: it is never released early, and never suppressed for ever', () => {
  test.for([
    ['first', 'second'],
    ['second', 'first'],
  ] as const)('the %s dies, the %s goes on', async ([dies, lives]) => {
    const run = await swept();
    const started = {
      first: run.startBefore({ runId: 'first' }),
      second: run.startBefore({ runId: 'second', traffic: 'leave', policy: { autoScaling: 'none' } }),
    };
    await run.clock.pass(2 * MINUTE);
    run.stack.executions.stop(started[dies].arn, 'Operator.Stopped', 'by a person');
    await run.end(started[lives]);
    expect(outcome(started[lives])).toBe('SUCCEEDED');
    await run.clock.pass(20 * MINUTE);
    const { checks } = run.standing.account;
    const ids = run.ids(0, 1);
    expect(ids.map(id => checks.overall(id).status)).toEqual(['suppressed', 'suppressed']);
    expect(outcome(await run.after({ runId: lives }))).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('both die', async () => {
    const run = await swept();
    const both = [
      run.startBefore({ runId: 'first' }),
      run.startBefore({ runId: 'second', traffic: 'leave', policy: { autoScaling: 'none' } }),
    ];
    await run.clock.pass(3 * MINUTE);
    for (const { arn } of both) run.stack.executions.stop(arn, 'Operator.Stopped', 'by a person');
    await secondsUntilHealed(run);
    expect(undos(run)).toHaveLength(2);
    expect(await run.violations()).toEqual([]);
  });
});

describe('D2, R-TTL: traffic that a dead run has claimed is not claimed for ever', () => {
  test.for(['forgotten', 'lost'] as const)('its run was %s', async how => {
    let swept = false;
    const run = await bracket(small, {
      deliveries: (event, rule) => (swept ? onlySchedule(event, rule) : []),
    });
    await run.before();
    if (how === 'lost') await deleteRun(run, 'r');
    else await run.clock.pass(150 * MINUTE);
    expect(outcome(await run.before({ runId: 'next' }))).toBe('SUCCEEDED');
    expect(outcome(await run.after({ runId: 'next' }))).toBe('SUCCEEDED');
    swept = true;
    await secondsUntilHealed(run);
    expect(await run.violations()).toEqual([]);
  });

  test('but that of a slow one is', async () => {
    const run = await bracket(small, { deliveries: () => [] });
    await run.before();
    // Overdue, and its claims last for some minutes still.
    const [enabled] = run.actsOf('EnableApplicationStatusCheckSuppression');
    await run.clock.pass((Number(enabled?.input.DurationSeconds) - 600) * 1000);
    expect(outcome(await run.before({ runId: 'next' }))).toBe('FAILED RunInProgress');
  });
});

test('D4, R-SWEEP: a hold that a run has left although it has succeeded is resumed', async () => {
  const run = await swept();
  await run.before();
  expect(outcome(await run.after())).toBe('SUCCEEDED');
  await holdFor(run, 'r', 'web');
  await run.clock.pass(10 * MINUTE);
  expect(await held(run)).toEqual([]);
  expect([...run.standing.account.autoScaling.group('web').suspended.keys()]).toEqual([]);
});

test('R-SWEEP, R-PARTIAL: a listing that fails keeps nothing else from being healed', async () => {
  const run = await swept({
    gates: () => [
      {
        before: ({ action }, { stateMachineArn }) => {
          if (action === 'ListExecutions' && String(stateMachineArn).includes('AfterDeploy'))
            throw new ServiceError('AccessDeniedException', 'by a policy of the organization', 400);
        },
      },
    ],
  });
  run.startBefore();
  await run.clock.runFor(stopAt(run, 'BeforeDeploy', 'ObserveDrained', 0));
  const seconds = await secondsUntilHealed(run);
  expect(undos(run).map(outcome)).toEqual(['FAILED Operator.Stopped']);
  expect(seconds).toBeLessThan(1800);
});
