import { describe, expect, test } from 'vitest';
import { scenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import type { Execution } from '../../local/states/execution.ts';
import { NoAnswer, ServiceError } from '../../local/wire/contract.ts';
import { type Bracket, bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

/** Somebody lifts the suppression while it spreads, so that before-deploy gives up when the budget of its lead is spent. */
async function failBefore(of: Bracket): Promise<Execution> {
  const before = of.startBefore();
  await of.clock.pass(MINUTE);
  of.liftByHand(of.ids(0));
  await of.end(before);
  return before;
}

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
  expect(outcome(await run.after())).toBe('FAILED BudgetSpent');
  expect(account.checks.overall(left).status).not.toBe('suppressed');
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

describe('D5: a function of a failed branch that is still running', () => {
  test('does nothing after the fence', async () => {
    let held = false;
    const run = await bracket(
      { ...usual, broken: [3], autoScaling: null },
      {
        gates: ({ world: { clock } }) => [
          {
            async before(call) {
              // The floor permits at last, in the last look before the lead's budget is spent, which takes 50 s.
              const late = clock.now() - startedAt > 588_000;
              if (call.caller.name !== 'DeregisterFunction' || call.action !== 'DescribeTargetHealth') return;
              if (!late || held) return;
              held = true;
              run.standing.fleet.instances[3]?.application.suffer(undefined);
              await clock.sleep(50_000);
            },
          },
        ],
      },
    );
    const startedAt = run.clock.now();
    const before = await failBefore(run);
    expect(held).toBe(true);
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(run.actsOf('DeregisterTargets')).toEqual([]);
    const told = run.stack.lambda.logs.filter(({ line }) => line.includes('"name":"RunEnded"'));
    expect(told.map(line => line.function)).toContain('DeregisterFunction');
    expect(told[0]?.at).toBeGreaterThan(run.enteredAt(before, 'LetActsEnd'));
    expect(told[0]?.at).toBeLessThan(run.enteredAt(before, 'Undo'));
    expect(await run.violations()).toEqual([]);
  });

  test('whose last act takes effect after the fence is undone all the same', async () => {
    let held = false;
    const run = await bracket(
      { ...usual, autoScaling: null, broken: [3] },
      {
        gates: ({ world: { clock } }) => [
          {
            async before(call) {
              if (clock.now() - startedAt > 555_000)
                run.standing.fleet.instances[3]?.application.suffer(undefined);
              if (call.action !== 'DeregisterTargets' || held) return;
              held = true;
              // The call itself was made before the fence.
              await clock.sleep(30_000);
            },
          },
        ],
      },
    );
    const startedAt = run.clock.now();
    const before = await failBefore(run);
    const [out] = run.actsOf('DeregisterTargets');
    expect(outcome(before)).toBe('FAILED BudgetSpent');
    expect(out?.at).toBeLessThan(run.enteredAt(before, 'Fence'));
    const draining = run.entries('target').find(({ state }) => state === 'draining');
    expect(draining?.at).toBeGreaterThan(run.enteredAt(before, 'Fence'));
    expect(await run.violations()).toEqual([]);
  });
});

describe('R-TIMEOUT', () => {
  test('a call that is never answered is made again', async () => {
    let lost = 0;
    const run = await bracket(usual, {
      gates: () => [
        {
          after: call => {
            if (call.action === 'EnableApplicationStatusCheckSuppression' && lost++ < 2)
              throw new NoAnswer('lost');
          },
        },
      ],
    });
    expect(outcome(await run.before())).toBe('SUCCEEDED');
    expect(lost).toBe(3);
    expect(run.entries('suppression').filter(({ state }) => state === 'spreading')).toHaveLength(2);
    await run.after();
    expect(await run.violations()).toEqual([]);
  });

  test('a function that hangs ends by its own time-out, and its step is taken again', async () => {
    let hung = false;
    const run = await bracket(usual, {
      gates: ({ world: { clock } }) => [
        {
          async after(call) {
            if (call.action !== 'DeregisterTargets' || hung) return;
            hung = true;
            await clock.sleep(300_000);
          },
        },
      ],
    });
    const before = await run.before();
    expect(outcome(before)).toBe('SUCCEEDED');
    await run.after();
    expect(await run.violations()).toEqual([]);
  });
});

describe('R-IDEMP: nothing is done twice or left when a function dies in the middle of a run that', () => {
  const fleet = { ...usual, instances: 2 };
  const spec = { batches: 1, instances: [0] };
  const runs = {
    succeeds: { name: 'dies', fleet, deployment: spec },
    fails: {
      name: 'dies',
      fleet,
      deployment: spec,
      events: [{ atSeconds: 60, do: 'release-suppression' }],
    },
  };

  test.for([
    ['succeeds', ['Plan', 'Suppress', 'Deregister', 'Observe', 'Conclude', 'Register', 'Release']],
    ['fails', ['Fence', 'Undo', 'Conclude']],
  ] as const)('%s', async ([name, steps]) => {
    const tried = scenario.parse(runs[name]);
    const calls = new Map<string, number>();
    const whole = await simulate({
      scenario: tried,
      dies: ({ function: fn }, call) => {
        calls.set(fn, Math.max(calls.get(fn) ?? 0, call + 1));
        return undefined;
      },
    });
    for (const fn of steps.map(step => `${step}Function`)) {
      expect(calls.get(fn)).toBeGreaterThan(0);
      // At every third call, by turns before it is made and after it took effect.
      for (let call = 0; call < (calls.get(fn) ?? 0); call += 3) {
        const when = call % 2 === 0 ? 'after' : 'before';
        let dead: string | undefined;
        const { deployment, violations } = await simulate({
          scenario: tried,
          dies: (invocation, at) => {
            if (invocation.function !== fn || at !== call) return undefined;
            dead ??= invocation.requestId;
            return invocation.requestId === dead ? when : undefined;
          },
        });
        expect([deployment.outcome, deployment.error, violations], `${fn} ${when} call ${call}`).toEqual([
          whole.deployment.outcome,
          whole.deployment.error,
          [],
        ]);
      }
    }
  });
});
