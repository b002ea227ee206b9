import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../local/wire/contract.ts';
import { busyFor, held } from '../sweep/helpers/stopped.ts';
import { bracket, outcome, usual } from './helpers/bracket.ts';
import { failBefore } from './helpers/fail-before.ts';

describe('a failed run', () => {
  test('R-UNDO, R-FAIL: is undone, and ends with its own error', async () => {
    const run = await bracket();
    const before = await failBefore(run);
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(before.cause).toMatch(
      /^The budget is spent and this was still missing: i-[0-9a-f]+: its application status is ok\.$/,
    );
    expect(await run.violations()).toEqual([]);
    const ledger = await run.ledger();
    expect(ledger.filter(({ pk }) => !pk.startsWith('pace#'))).toEqual([{ pk: 'run#r', status: 'ended' }]);
  });

  test('D4, R-STATE: has its targets back first, then its hold resumed, and is released last', async () => {
    const run = await bracket({ ...usual, instances: 2 });
    await run.before({ fleet: { instanceIds: run.ids(0) } });
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.reaches(after, 'ObserveReady');
    run.stack.executions.stop(after.arn, 'Operator.Stopped', 'by a person');
    await run.clock.pass(5 * 60_000);
    const acts = new Set(
      run.acts.filter(({ caller }) => caller.name === 'UndoFunction').map(({ action }) => action),
    );
    expect([...acts]).toEqual([
      'RegisterTargets',
      'ResumeProcesses',
      'DisableApplicationStatusCheckSuppression',
    ]);
  });

  test('R-UNDO, D7: gives the guards back that a function has died with', async () => {
    const run = await bracket(
      { ...usual, instances: 2 },
      {
        dies: ({ function: name }, _, action) =>
          name === 'DeregisterFunction' && action === 'DescribeTargetHealth' ? 'before' : undefined,
      },
    );
    expect(outcome(await run.before({ fleet: { instanceIds: run.ids(0) } }))).toMatch(/^FAILED /);
    expect(await held(run)).toEqual([]);
  });

  test('R-AGREE: is undone only when two reads say so', async () => {
    const run = await bracket();
    const path = run.path(await failBefore(run));
    expect(path.slice(path.lastIndexOf('WaitForSecondRead'))).toEqual([
      'WaitForSecondRead',
      'ObserveUndone',
      'IsUndone',
      'CloseRun',
      'Tell',
      'EndFailed',
    ]);
  });

  test.for([
    ['Undo', 'RegisterTargets'],
    ['Fence', 'UpdateItem'],
  ] as const)('R-FAIL: keeps its own error also when its %s fails', async ([step, action]) => {
    const run = await bracket(usual, {
      gates: () => [
        {
          before: call => {
            if (call.caller.name === `${step}Function` && call.action === action)
              throw new ServiceError('AccessDeniedException', 'by a policy of the organization', 403);
          },
        },
      ],
    });
    const before = await failBefore(run);
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(before.cause).toMatch(/still missing.*(undo failed too|could not be fenced).*AccessDenied/s);
  });

  test('R-FAIL: says what it could not undo, and keeps its claims', async () => {
    const run = await bracket(
      { ...usual, autoScaling: null },
      {
        gates: () => [
          {
            before: call => {
              if (call.caller.name === 'UndoFunction' && call.action === 'RegisterTargets')
                throw new ServiceError('InvalidTarget', 'The target is not valid');
            },
          },
        ],
      },
    );
    const before = await failBefore(run);
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(before.cause).toMatch(
      /Not undone in its budget, and still claimed in the ledger: .*not registered/,
    );
    const kept = (await run.ledger()).map(({ pk }) => pk);
    expect(kept).toEqual(expect.arrayContaining(run.ids(0, 1).map(id => `instance#${id}`)));
  });

  test('R-UNDO: keeps what it has still to put back, also where another run claims the instance', async () => {
    let refuses = true;
    const both = await bracket(
      { ...usual, autoScaling: null },
      {
        gates: () => [
          {
            before: ({ action }) => {
              if (refuses && action === 'RegisterTargets')
                throw new ServiceError('InvalidTarget', 'The target is not valid');
            },
          },
        ],
      },
    );
    expect(outcome(await both.before())).toBe('SUCCEEDED');
    expect(outcome(await both.before({ runId: 'other', traffic: 'leave' }))).toBe('SUCCEEDED');
    const after = await both.after();
    expect(outcome(after)).toBe('FAILED BudgetSpent');
    expect(after.cause).toContain('Not undone in its budget');
    refuses = false;
    expect(outcome(await both.after({ runId: 'other' }))).toBe('SUCCEEDED');
    expect(await both.violations()).toEqual([]);
  });

  test('R-UNDO, D10: gives nothing up while it waits for its turn to put targets back', async () => {
    const both = await bracket({ ...usual, autoScaling: null });
    expect(outcome(await both.before({ policy: { readySeconds: 60 } }))).toBe('SUCCEEDED');
    expect(outcome(await both.before({ runId: 'other', traffic: 'leave' }))).toBe('SUCCEEDED');
    const after = both.start('AfterDeploy', { runId: 'r', deployedAt: '2030-01-01T00:00:00Z' });
    await both.reaches(after, 'LetActsEnd');
    await busyFor(both, 'elasticloadbalancing', 90);
    await both.end(after);
    expect(both.path(after)).toContain('WaitForUndone');
    expect(outcome(await both.after({ runId: 'other' }))).toBe('SUCCEEDED');
    expect(await both.violations()).toEqual([]);
  });

  test('R-REREG: registers again at once what still drains', async () => {
    const run = await bracket({
      ...usual,
      targetGroups: [
        { name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '1200' } },
      ],
    });
    const before = await failBefore(run);
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(run.enteredAt(before, 'CloseRun') - run.enteredAt(before, 'Undo')).toBeLessThan(300_000);
  });

  test('R-UNDO: gives everything back also when nobody can look at it any more', async () => {
    const run = await bracket(usual, {
      gates: () => [
        {
          before: call => {
            if (call.caller.name === 'ObserveFunction' && call.service === 'ec2')
              throw new ServiceError('UnauthorizedOperation', 'by a policy of the organization', 403);
          },
        },
      ],
    });
    const before = await run.before();
    expect(outcome(before)).toBe('FAILED AccessDenied');
    expect(before.cause).toContain('The undo failed too, with AccessDenied');
    expect(run.actsOf('DeregisterTargets')).toHaveLength(1);
    // Nothing is left but the claims, which say that the undo has not been seen.
    const left = run.ids(0, 1).map(id => `4: the ledger still holds instance#${id}`);
    expect((await run.violations()).sort()).toEqual(left.sort());
  });

  test('D44: waits with an address until its deregistration delay is over', async () => {
    const run = await bracket({
      ...usual,
      autoScaling: null,
      targetGroups: [
        {
          name: 'addresses',
          port: 8080,
          targetType: 'ip',
          attributes: { 'deregistration_delay.timeout_seconds': '1200' },
        },
      ],
    });
    const before = await failBefore(run);
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(run.enteredAt(before, 'CloseRun') - run.enteredAt(before, 'Drain')).toBeGreaterThan(1_200_000);
    expect(await run.violations()).toEqual([]);
  });

  test('that has done nothing has nothing undone', async () => {
    const run = await bracket(usual, {
      gates: () => [
        {
          before: call => {
            if (call.caller.name === 'SuppressFunction' && call.action === 'DescribeApplicationStatus')
              throw new ServiceError('UnauthorizedOperation', 'by a policy of the organization', 403);
          },
        },
      ],
    });
    const before = await run.before();
    expect(outcome(before)).toBe('FAILED AccessDenied');
    expect(run.path(before)).not.toContain('Undo');
    expect(run.acts).toEqual([]);
    expect(await run.violations()).toEqual([]);
  });
});

test('R-GONE, R-UNDO: an instance that is terminated in a failing run leaves no other one suppressed', async () => {
  const run = await bracket({ ...usual, autoScaling: null });
  await run.before();
  const { account } = run.standing;
  const [gone = '', left = ''] = run.ids(0, 1);
  account.ec2.terminate(gone);
  account.ec2.instance(left)?.application.stop();
  const after = await run.after();
  expect(outcome(after)).toBe('FAILED BudgetSpent');
  expect(account.checks.overall(left).status).not.toBe('suppressed');
  // Its group does not take it back, and nothing waits for that.
  expect(run.enteredAt(after, 'CloseRun') - run.enteredAt(after, 'Undo')).toBeLessThan(300_000);
  expect(await run.violations()).toEqual([]);
});

/** What the account answers for a target group, or an Auto Scaling group, that somebody has just deleted. */
const deleted = {
  'target group': {
    calls: /^(DescribeTargetHealth|(Register|Deregister)Targets)$/,
    answer: new ServiceError('TargetGroupNotFound', 'One or more target groups not found'),
  },
  'Auto Scaling group': {
    calls: /^(ResumeProcesses|SetInstanceHealth)$/,
    answer: new ServiceError(
      'ValidationError',
      "AutoScalingGroup name not found - AutoScalingGroup 'web' not found",
    ),
  },
} as const;

describe('R-GONE: a group that is deleted while a run is in it', () => {
  test.for([
    ['target group', true],
    ['target group', false],
    ['Auto Scaling group', true],
    ['Auto Scaling group', false],
  ] as const)(
    'fails nothing and keeps nothing suppressed (%s, the run succeeds: %s)',
    async ([what, succeeds]) => {
      const { calls, answer } = deleted[what];
      let gone = false;
      const run = await bracket(usual, {
        gates: () => [
          {
            before: call => {
              if (gone && call.caller.kind === 'function' && calls.test(call.action)) throw answer;
            },
          },
        ],
      });
      expect(outcome(await run.before())).toBe('SUCCEEDED');
      gone = true;
      if (!succeeds) for (const instance of run.standing.fleet.instances) instance.application.stop();
      expect(outcome(await run.after())).toBe(succeeds ? 'SUCCEEDED' : 'FAILED BudgetSpent');
      const kinds = (await run.ledger()).map(({ pk }) => pk.split('#')[0]);
      expect(kinds.filter(kind => kind !== 'pace')).toEqual(['run']);
      for (const id of run.ids())
        expect(run.standing.account.checks.overall(id).status).not.toBe('suppressed');
    },
  );
});

test('R-GONE, R-PARTIAL: a target group that is deleted between the look at it and its registration blocks no other', async () => {
  const second = { name: 'admin', port: 9090, attributes: { 'deregistration_delay.timeout_seconds': '30' } };
  const web = { ...second, name: 'web', port: 8080 };
  let gone: string | undefined;
  const run = await bracket(
    { ...usual, targetGroups: [web, second] },
    {
      gates: () => [
        {
          before: (call, { TargetGroupArn }) => {
            if (call.action === 'RegisterTargets') gone ??= String(TargetGroupArn);
            if (gone !== undefined && TargetGroupArn === gone) throw deleted['target group'].answer;
          },
        },
      ],
    },
  );
  const before = await failBefore(run);
  expect(outcome(before)).toBe('FAILED BudgetSpent');
  expect(before.cause).not.toContain('The undo failed too');
  const registered = run.actsOf('RegisterTargets').map(({ input }) => input.TargetGroupArn);
  expect(new Set(registered).size).toBe(2);
  expect(run.stack.lambda.logs.some(({ line }) => line.includes('does not exist any more'))).toBe(true);
  const kinds = (await run.ledger()).map(({ pk }) => pk.split('#')[0]);
  expect(kinds.filter(kind => kind !== 'pace')).toEqual(['run']);
});
