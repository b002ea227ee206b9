import { describe, expect, it } from 'vitest';
import type { Json } from '../../local/states/json.ts';
import { bench, callOf, end, fails, flow, machineOf, typesOf } from './helpers/machines.ts';

const never = () => new Promise<never>(() => {});

describe('work that nobody waits for', () => {
  const slow = () => {
    const done: number[] = [];
    const b = bench({
      slow: async (_args, { signal }) => {
        await b.world.clock.sleep(60_000);
        done.push(b.world.clock.now());
        return signal.aborted;
      },
      quick: fails('Quick'),
    });
    return { ...b, done };
  };

  it('D5: goes on after its task has timed out', async () => {
    const { run, world, done } = slow();
    const execution = await run(machineOf({ T: callOf('slow', { TimeoutSeconds: 10, ...end }) }));
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect(done).toEqual([]);
    await world.clock.pass(60_000);
    expect(done).toEqual([execution.startedAt + 60_000]);
  });

  it('D5: goes on after a sibling has failed, and the branch enters no further state', async () => {
    const { run, world, done } = slow();
    const execution = await run(
      machineOf({
        P: {
          Type: 'Parallel',
          Branches: [
            flow({ Slow: callOf('slow', { Next: 'Never' }), Never: { Type: 'Succeed' } }),
            flow({ Rest: { Type: 'Wait', Seconds: 1, Next: 'Quick' }, Quick: callOf('quick', end) }),
          ],
          Catch: [{ ErrorEquals: ['Quick'], Next: 'Undo' }],
          Next: 'Undo',
        },
        Undo: { Type: 'Wait', Seconds: 120, ...end },
      }),
    );
    expect(execution.status).toBe('SUCCEEDED');
    expect(done).toEqual([execution.startedAt + 60_000]);
    const entered = world.journal.entries.flatMap(e => (e.type === 'state-entered' ? [e.state] : []));
    expect(entered).toEqual(['P', 'Slow', 'Rest', 'Quick', 'Undo']);
    expect(execution.transitions).toBe(5);
    expect(typesOf(execution)).toEqual([
      'ExecutionStarted',
      'ParallelStateEntered',
      'ParallelStateStarted',
      'TaskStateEntered',
      'WaitStateEntered',
      'LambdaFunctionScheduled',
      'LambdaFunctionStarted',
      'WaitStateExited',
      'TaskStateEntered',
      'LambdaFunctionScheduled',
      'LambdaFunctionStarted',
      'LambdaFunctionFailed',
      'TaskStateAborted',
      'ParallelStateFailed',
      'ParallelStateExited',
      'WaitStateEntered',
      'WaitStateExited',
      'ExecutionSucceeded',
    ]);
  });

  it('D5: iterations that stop because of a failed one are in the history', async () => {
    const { run } = slow();
    const execution = await run(
      machineOf({
        M: {
          Type: 'Map',
          ItemProcessor: flow({
            C: {
              Type: 'Choice',
              Choices: [{ Condition: '{% $states.input = 2 %}', Next: 'F' }],
              Default: 'W',
            },
            W: { Type: 'Wait', Seconds: 60, ...end },
            F: { Type: 'Fail', Error: 'Two' },
          }),
          ...end,
        },
      }),
      [1, 2],
    );
    expect(typesOf(execution).slice(-5)).toEqual([
      'MapIterationFailed',
      'WaitStateAborted',
      'MapIterationAborted',
      'MapStateFailed',
      'ExecutionFailed',
    ]);
  });

  it('D5: goes on after its execution was stopped, without a Catch', async () => {
    const { start, executions, world, done } = slow();
    const ended: string[] = [];
    executions.onEnd(execution => ended.push(execution.status));
    const execution = start(
      machineOf({
        T: callOf('slow', { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Undo' }], ...end }),
        Undo: { Type: 'Succeed' },
      }),
    );
    await world.clock.pass(5_000);
    executions.stop(execution.arn, 'Deployment', 'stopped by hand');
    executions.stop(execution.arn, 'Again');
    await world.clock.pass(60_000);
    expect(execution).toMatchObject({
      status: 'ABORTED',
      error: 'Deployment',
      cause: 'stopped by hand',
      stoppedAt: execution.startedAt + 5_000,
      transitions: 1,
    });
    expect(typesOf(execution).at(-1)).toBe('ExecutionAborted');
    expect(ended).toEqual(['ABORTED']);
    expect(done).toHaveLength(1);
  });
});

describe('limits of an execution', () => {
  it('D15: the time-out of the machine ends it without a Catch', async () => {
    const { run, world } = bench({ T: never });
    const machine = machineOf(
      {
        P: {
          Type: 'Parallel',
          Branches: [flow({ T: callOf('T', end) })],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Undo' }],
          ...end,
        },
        Undo: { Type: 'Succeed' },
      },
      { TimeoutSeconds: 3600 },
    );
    const execution = await run(machine);
    expect(execution).toMatchObject({ status: 'TIMED_OUT', error: 'States.Timeout', transitions: 2 });
    expect(execution.stoppedAt).toBe(execution.startedAt + 3_600_000);
    const statuses = world.journal.entries.flatMap(e => (e.type === 'execution' ? [e.status] : []));
    expect(statuses).toEqual(['RUNNING', 'TIMED_OUT']);
  });

  it('R-HISTORY: dies uncaught at 25,000 events', async () => {
    const { run } = bench();
    const execution = await run(
      machineOf({
        P: {
          Type: 'Parallel',
          Branches: [flow({ A: { Type: 'Pass', Next: 'B' }, B: { Type: 'Wait', Seconds: 10, Next: 'A' } })],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Undo' }],
          ...end,
        },
        Undo: { Type: 'Succeed' },
      }),
    );
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    expect(execution.history.events().at(-1)).toMatchObject({ id: 25_000, type: 'ExecutionFailed' });
  });

  const big = (kib: number): Json => 'x'.repeat(kib * 1024);

  it.each([
    {
      what: 'a state output',
      state: { Type: 'Pass', Output: '{% $join([$states.input.a, $states.input.a]) %}' },
    },
    {
      what: 'a variable',
      state: { Type: 'Pass', Assign: { v: '{% $join([$states.input.a, $states.input.a]) %}' } },
    },
    {
      what: 'an Assign',
      state: {
        Type: 'Pass',
        Assign: { a: '{% $states.input.a %}', b: '{% $states.input.b %}', c: '{% $states.input.b %}' },
      },
    },
    {
      what: 'arguments',
      state: callOf('T', { Arguments: '{% $join([$states.input.a, $states.input.a]) %}' }),
    },
    { what: 'a result', state: callOf('T', { Arguments: 1, Output: 1 }) },
  ])('R-PAYLOAD: $what over 256 KiB is not caught by States.ALL', async ({ state }) => {
    const { run } = bench({ T: args => (args === 1 ? big(257) : 'small') });
    const execution = await run(
      machineOf({
        P: {
          Type: 'Parallel',
          Branches: [flow({ S: { ...state, ...end } })],
          Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Undo' }],
          ...end,
        },
        Undo: { Type: 'Succeed' },
      }),
      { a: big(150), b: big(90) },
    );
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded', transitions: 2 });
  });

  it.each([
    { bytes: 262_144, status: 'SUCCEEDED' },
    { bytes: 262_145, status: 'FAILED' },
  ])('R-PAYLOAD: a result of $bytes bytes: $status', async ({ bytes, status }) => {
    // Two quotation marks and one character of two bytes.
    const { run } = bench({ T: () => `é${'x'.repeat(bytes - 4)}` });
    expect((await run(machineOf({ T: callOf('T', end) }))).status).toBe(status);
  });

  it('R-PAYLOAD: States.DataLimitExceeded is caught by its own name', async () => {
    const { run } = bench({ T: () => big(257) });
    const Catch = [{ ErrorEquals: ['States.DataLimitExceeded'], Output: 'caught', Next: 'E' }];
    const execution = await run(machineOf({ T: callOf('T', { Catch, Next: 'E' }), E: { Type: 'Succeed' } }));
    expect(execution.output).toBe('caught');
  });
});
