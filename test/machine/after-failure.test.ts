import { describe, expect, test } from 'vitest';
import type { Execution } from '../../local/states/execution.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { takeTrafficOver } from '../sweep/helpers/stopped.ts';
import { type Bracket, bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

/** Deploys to the first two instances; the second does not answer any more. */
async function failed(
  policy: Readonly<Record<string, unknown>>,
): Promise<{ run: Bracket; after: Execution }> {
  const run = await bracket(usual);
  await run.before({ policy: { readySeconds: 120, ...policy } });
  run.standing.fleet.instances[1]?.application.stop();
  const after = await run.after();
  return { run, after };
}

const registered = (run: Bracket): string[] =>
  run.standing.account.loadBalancing
    .registered(run.standing.fleet.targetGroups[0]?.arn ?? '')
    .map(({ id }) => id);

const suppressed = (run: Bracket): string[] =>
  run.ids().filter(id => run.standing.account.checks.overall(id).status === 'suppressed');

/** Whom Auto Scaling has terminated. */
const replaced = (run: Bracket): string[] =>
  run.entries('activity').flatMap(({ kind, instanceId }) => (kind === 'terminate' ? [instanceId] : []));

const suspended = (run: Bracket): string[] =>
  [...run.standing.account.autoScaling.groups()].flatMap(group => [...group.suspended.keys()]);

describe('D38: with policy.afterFailure held', () => {
  test('what is proven ready is put back, the rest stays out, suppressed, and unseen by Auto Scaling', async () => {
    const { run, after } = await failed({ afterFailure: 'held', heldSeconds: 3600 });
    const [, second] = run.ids();
    expect(outcome(after)).toBe('FAILED BudgetSpent');
    expect(after.cause).toMatch(new RegExp(`Held out of traffic until .*: ${second}\\.$`));
    await run.clock.pass(30 * MINUTE);
    expect(registered(run).sort()).toEqual(run.ids(0, 2, 3).sort());
    expect(suppressed(run)).toEqual([second]);
    expect(suspended(run)).toEqual(['HealthCheck', 'ReplaceUnhealthy']);
    expect(replaced(run)).toEqual([]);
    // D7: the group still counts what is held: of four one would be left, and not of three.
    run.startBefore({ runId: 's', fleet: { instanceIds: run.ids(2, 3) }, policy: { minHealthyPercent: 30 } });
    await run.clock.pass(5 * MINUTE);
    expect(registered(run).sort()).toEqual(run.ids(0, 2, 3).sort());
  });

  test('R-SWEEP: the hold ends by itself: all is put back, and Auto Scaling may act', async () => {
    const { run } = await failed({ afterFailure: 'held', heldSeconds: 1800 });
    await run.clock.pass(70 * MINUTE);
    expect(suppressed(run)).toEqual([]);
    expect(suspended(run)).toEqual([]);
    expect(replaced(run)).toEqual(run.ids(1));
    expect(await run.violations()).toEqual([]);
  });

  test('R-SWEEP: one whose undo is cut off is held all the same', async () => {
    const run = await bracket(usual);
    await run.before({ policy: { readySeconds: 120, afterFailure: 'held' } });
    run.standing.fleet.instances[1]?.application.stop();
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.reaches(after, 'Undo');
    run.stack.executions.stop(after.arn, 'Operator.Stopped', 'by a person');
    await run.clock.pass(40 * MINUTE);
    expect(suppressed(run)).toEqual(run.ids(1));
    expect(registered(run)).not.toContain(run.ids(1)[0]);
    expect(await run.violations()).toEqual([]);
  });

  test('an instance that fails only behind the load balancer is taken out of it', async () => {
    const run = await bracket(usual);
    await run.before({ policy: { readySeconds: 300, afterFailure: 'held' } });
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.reaches(after, 'ObserveInService');
    run.standing.fleet.instances[0]?.application.suffer(() => ({
      kind: 'responds',
      status: 500,
      afterMs: 20,
    }));
    await run.end(after);
    expect(outcome(after)).toBe('FAILED BudgetSpent');
    await run.clock.pass(5 * MINUTE);
    expect(registered(run).sort()).toEqual(run.ids(1, 2, 3).sort());
    expect(run.actsOf('DeregisterTargets').at(-1)?.caller.name).toBe('UndoFunction');
    expect(await run.violations()).toEqual([]);
  });

  test('D2: a deployment that takes the traffic over ends the hold', async () => {
    const { run } = await failed({ afterFailure: 'held' });
    expect(outcome(await run.before({ runId: 'rollback', fleet: { instanceIds: run.ids(1) } }))).toBe(
      'SUCCEEDED',
    );
    run.standing.fleet.instances[1]?.application.start(10);
    expect(outcome(await run.after({ runId: 'rollback' }))).toBe('SUCCEEDED');
    await run.clock.pass(30 * MINUTE);
    expect(suppressed(run)).toEqual([]);
    expect(suspended(run)).toEqual([]);
    expect(replaced(run)).toEqual([]);
    expect(await run.violations()).toEqual([]);
  });

  test('D39: the suppression that a person had set lasts as long as the hold, and is over then', async () => {
    const run = await bracket(usual);
    run.suppressByHand(run.ids(1), 4 * 3600);
    await run.clock.pass(5 * MINUTE);
    await run.before({ policy: { readySeconds: 120, afterFailure: 'held', heldSeconds: 5 * 3600 } });
    run.standing.fleet.instances[1]?.application.stop();
    await run.after();
    await run.clock.pass(270 * MINUTE);
    expect(suppressed(run)).toEqual(run.ids(1));
    run.standing.fleet.instances[1]?.application.start(10);
    await run.clock.pass(120 * MINUTE);
    expect(suppressed(run)).toEqual([]);
    expect(replaced(run)).toEqual([]);
    expect(await run.violations()).toEqual([]);
  });

  test('R-GONE: nobody holds what was terminated', async () => {
    const run = await bracket(usual);
    await run.before({ policy: { readySeconds: 120, afterFailure: 'held' } });
    const after = run.start('AfterDeploy', { runId: 'r' });
    run.standing.fleet.instances[0]?.application.stop();
    await run.reaches(after, 'Undo');
    run.standing.account.ec2.terminate(run.ids(0)[0] ?? '');
    await run.end(after);
    expect(after.cause).not.toContain('Held');
    expect(await run.violations()).toEqual([]);
  });

  test('R-GONE, R-SWEEP: nor keeps its group held, when whoever has looked at it ends it', async () => {
    const { run } = await failed({ afterFailure: 'held', heldSeconds: 12 * 3600 });
    expect(suspended(run)).not.toEqual([]);
    run.standing.account.ec2.terminate(run.ids(1)[0] ?? '');
    await run.clock.pass(40 * MINUTE);
    expect(suspended(run)).toEqual([]);
    expect((await run.ledger()).map(({ pk }) => pk)).not.toContain(`instance#${run.ids(1)[0]}`);
  });

  test('a suppression that EC2 does not take is said, and what is held is left as it is', async () => {
    const run = await bracket(usual, {
      gates: () => [
        {
          before: ({ action, caller }) => {
            if (caller.name === 'UndoFunction' && action === 'EnableApplicationStatusCheckSuppression')
              throw new ServiceError('InvalidParameterValue', 'too long');
          },
        },
      ],
    });
    await run.before({ policy: { readySeconds: 120, afterFailure: 'held', heldSeconds: 43_200 } });
    run.standing.fleet.instances[1]?.application.stop();
    const after = await run.after();
    expect(outcome(after)).toBe('FAILED BudgetSpent');
    expect(after.cause).toContain('Not undone in its budget');
  });

  test('before the go-ahead nothing was deployed: everything is put back', async () => {
    const run = await bracket(usual, {
      gates: () => [
        {
          before: ({ action }) => {
            if (action === 'DeregisterTargets') throw new ServiceError('ValidationError', 'no');
          },
        },
      ],
    });
    await run.before({ policy: { afterFailure: 'held' } });
    expect(await run.ledger()).not.toContainEqual(
      expect.objectContaining({ pk: expect.stringMatching(/^instance#/) }),
    );
    expect(await run.violations()).toEqual([]);
  });
});

test('D38: what a run held of a fleet that is deployed to again is held no more, though the plan dies at its last write', async () => {
  let diesAt = Number.POSITIVE_INFINITY;
  const run = await bracket(usual, {
    gates: ({ world: { clock } }) => [
      {
        before: ({ action, caller, at }, input) => {
          if (action !== 'UpdateItem' || caller.name !== 'PlanFunction') return;
          if (!/SET heldUntil = :at/.test(String(input.UpdateExpression))) return;
          diesAt = Math.min(diesAt, at);
          if (clock.now() < diesAt + 30_000) throw new ServiceError('ThrottlingException', 'not now');
        },
      },
    ],
  });
  await run.before({ policy: { readySeconds: 120, afterFailure: 'held', heldSeconds: 4 * 3600 } });
  run.standing.fleet.instances[1]?.application.stop();
  await run.after();
  // Its step is retried, and finds what it has written before.
  const rollback = await run.before({ runId: 'rollback', fleet: { instanceIds: run.ids(1) } });
  expect(outcome(rollback)).toBe('SUCCEEDED');
  expect(run.clock.now()).toBeGreaterThan(diesAt);
  run.standing.fleet.instances[1]?.application.start(10);
  expect(outcome(await run.after({ runId: 'rollback' }))).toBe('SUCCEEDED');
  await run.clock.pass(20 * MINUTE);
  expect(suppressed(run)).toEqual([]);
  expect(suspended(run)).toEqual([]);
});

describe('D38: with policy.afterFailure replaced', () => {
  test('what is not proven ready is not put back, and replaced at once', async () => {
    const { run, after } = await failed({ afterFailure: 'replaced' });
    expect(after.cause).toContain('Left to Auto Scaling to replace');
    expect(replaced(run)).toEqual(run.ids(1));
    expect(run.entries('marked-unhealthy').map(({ by }) => by)).toEqual(['custom']);
    expect(suspended(run)).toEqual([]);
    expect(await run.violations()).toEqual([]);
  });

  test('also from Standby, where no mark has an effect', async () => {
    const { run } = await failed({ afterFailure: 'replaced', autoScaling: 'standby' });
    await run.clock.pass(10 * MINUTE);
    expect(replaced(run)).toEqual(run.ids(1));
    expect(await run.violations()).toEqual([]);
  });
});

describe('D5, D38: a run whose traffic is taken over while it decides', () => {
  /** The second instance fails behind the load balancer; when the undo makes this call, another run takes it over. */
  async function takenOverAt(
    action: string,
    afterFailure: 'held' | 'replaced',
    isTime: (sent: Bracket['sent']) => boolean = () => true,
  ): Promise<{ run: Bracket; actsOnIt: string[] }> {
    let run: Bracket | undefined;
    let sentBefore: number | undefined;
    const taking = await bracket(usual, {
      gates: () => [
        {
          before: async call => {
            if (sentBefore !== undefined || call.caller.name !== 'UndoFunction' || call.action !== action)
              return;
            if (!run || !isTime(run.sent)) return;
            sentBefore = run.sent.length;
            await takeTrafficOver(run, 'rollback', run.ids(1)[0] ?? '');
          },
        },
      ],
    });
    run = taking;
    await run.before({ policy: { readySeconds: 300, afterFailure, heldSeconds: 5 * 3600 } });
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.reaches(after, 'ObserveInService');
    run.standing.fleet.instances[1]?.application.suffer(() => ({
      kind: 'responds',
      status: 500,
      afterMs: 20,
    }));
    await run.end(after);
    expect(sentBefore).toBeDefined();
    const named = (input: unknown) => JSON.stringify(input).includes(String(run?.ids(1)[0]));
    const actsOnIt = run.sent
      .slice(sentBefore)
      .filter(({ caller, input }) => caller.name === 'UndoFunction' && named(input))
      .map(({ action }) => action)
      .filter(action => /^(Enable|Deregister|SetInstanceHealth)/.test(action));
    return { run, actsOnIt };
  }

  test('marks no member of the other run Unhealthy', async () => {
    const { actsOnIt } = await takenOverAt('DescribeAutoScalingGroups', 'replaced', sent =>
      sent.some(
        ({ action, input }) => action === 'UpdateItem' && JSON.stringify(input).includes('handed-over'),
      ),
    );
    expect(actsOnIt).toEqual([]);
  });

  test('neither suppresses nor takes out what it would have held', async () => {
    const { actsOnIt } = await takenOverAt('DescribeInstances', 'held');
    expect(actsOnIt).toEqual([]);
  });
});
