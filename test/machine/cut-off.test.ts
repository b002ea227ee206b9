import { describe, expect, test } from 'vitest';
import { scenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { NoAnswer } from '../../local/wire/contract.ts';
import { bracket, outcome, usual } from './helpers/bracket.ts';
import { failBefore } from './helpers/fail-before.ts';

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

/** Calls from one death to the next that is tried; EVERY_STATE=1 tries a death at each, and `npm run call-sites` both kinds. */
const BETWEEN_DEATHS = process.env.EVERY_STATE ? 1 : 7;

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
      // By turns before the call is made and after it took effect.
      for (let call = 0; call < (calls.get(fn) ?? 0); call += BETWEEN_DEATHS) {
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
