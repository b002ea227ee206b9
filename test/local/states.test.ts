import { describe, expect, it } from 'vitest';
import { builtInFunctions } from '../../local/states/functions.ts';
import type { Json } from '../../local/states/json.ts';
import type { TaskRequest } from '../../local/states/tasks.ts';
import { bench, callOf, fails, machineOf, problemsOf, type States, typesOf } from './helpers/machines.ts';

const end = { End: true };
const flow = (states: States) => ({ StartAt: Object.keys(states)[0], States: states });
const never = () => new Promise<never>(() => {});
const WAITING = 'arn:aws:states:::lambda:invoke.waitForTaskToken';

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

describe('retries', () => {
  const attempts = async (seed: number) => {
    const at: number[] = [];
    const b = bench(
      {
        T: () => {
          at.push(b.world.clock.now());
          return fails('E')();
        },
      },
      { seed },
    );
    await b.run(
      machineOf({
        T: callOf('T', {
          Retry: [
            {
              ErrorEquals: ['E'],
              IntervalSeconds: 10,
              BackoffRate: 2,
              MaxAttempts: 30,
              MaxDelaySeconds: 40,
              JitterStrategy: 'FULL',
            },
          ],
          ...end,
        }),
      }),
    );
    return at.slice(1).map((time, index) => (time - (at[index] ?? 0)) / 1000);
  };

  it('R-THROTTLE: full jitter spreads each delay from zero to its bound, the same way from the same seed', async () => {
    const delays = await attempts(7);
    expect(delays).toHaveLength(30);
    expect(delays[0]).toBeLessThanOrEqual(10);
    expect(delays[1]).toBeLessThanOrEqual(20);
    expect(Math.max(...delays)).toBeLessThanOrEqual(40);
    expect(Math.max(...delays)).toBeGreaterThan(30);
    expect(Math.min(...delays)).toBeLessThan(10);
    expect(await attempts(7)).toEqual(delays);
    expect(await attempts(8)).not.toEqual(delays);
  });

  it('are counted in the Context Object, and each attempt is in the history', async () => {
    const seen: Json[] = [];
    const { run } = bench({
      T: args => {
        seen.push(args);
        return seen.length < 3 ? fails('E')() : 'done';
      },
    });
    const execution = await run(
      machineOf({
        T: callOf('T', {
          Arguments: '{% $states.context.State.RetryCount %}',
          Retry: [{ ErrorEquals: ['States.TaskFailed'] }],
          ...end,
        }),
      }),
    );
    expect(seen).toEqual([0, 1, 2]);
    expect(typesOf(execution).filter(type => type === 'TaskStateEntered')).toHaveLength(1);
    expect(typesOf(execution).filter(type => type === 'LambdaFunctionScheduled')).toHaveLength(3);
  });
});

describe('task tokens', () => {
  const waiting = (more: object = {}) =>
    machineOf({
      T: {
        Type: 'Task',
        Resource: WAITING,
        Arguments: { FunctionName: 'ask', Payload: { token: '{% $states.context.Task.Token %}' } },
        TimeoutSeconds: 3600,
        HeartbeatSeconds: 60,
        ...more,
        ...end,
      },
    });
  const asked = () => {
    const requests: TaskRequest[] = [];
    const b = bench({
      'invoke.waitForTaskToken': (_args, request) => {
        requests.push(request);
        return { StatusCode: 200 };
      },
    });
    const token = (): string => {
      const args = JSON.stringify(requests[0]?.args);
      return /"token":"([^"]+)"/.exec(args)?.[1] ?? '';
    };
    return { ...b, token };
  };

  it('R-TIMEOUT: without a heartbeat the task ends, as States.Timeout for Retry and Catch', async () => {
    const { run } = asked();
    const execution = await run(
      machineOf({
        T: {
          Type: 'Task',
          Resource: WAITING,
          HeartbeatSeconds: 60,
          Catch: [
            { ErrorEquals: ['States.TaskFailed'], Output: 'a wrong catcher', Next: 'E' },
            { ErrorEquals: ['States.Timeout'], Next: 'E' },
          ],
          Next: 'E',
        },
        E: { Type: 'Succeed' },
      }),
    );
    expect(execution.output).toMatchObject({ Error: 'States.HeartbeatTimeout' });
    expect(execution.stoppedAt).toBe(execution.startedAt + 60_000);
  });

  it('heartbeats keep it waiting until somebody answers, once', async () => {
    const { start, world, executions, token } = asked();
    const execution = start(waiting());
    for (let minute = 0; minute < 5; minute++) {
      await world.clock.pass(50_000);
      executions.tokens.holder(token()).heartbeat();
    }
    executions.tokens.holder(token()).succeed({ approved: true });
    await world.clock.runFor(execution.ended);
    expect(execution.output).toEqual({ approved: true });
    expect(typesOf(execution)).toContain('TaskSubmitted');
    expect(() => executions.tokens.holder(token())).toThrow('already been closed');
    expect(() => executions.tokens.holder('made-up')).toThrow('Invalid token');
  });

  it('a failure sent with the token is the failure of the task', async () => {
    const { start, world, executions, token } = asked();
    const execution = start(waiting());
    await world.clock.pass(1_000);
    executions.tokens.holder(token()).fail('Rejected', 'by hand');
    await world.clock.runFor(execution.ended);
    expect(execution).toMatchObject({ status: 'FAILED', error: 'Rejected', cause: 'by hand' });
  });

  it('TimeoutSeconds ends it in spite of heartbeats', async () => {
    const { start, world, executions, token } = asked();
    const execution = start(waiting({ TimeoutSeconds: 100 }));
    await world.clock.pass(50_000);
    executions.tokens.holder(token()).heartbeat();
    await world.clock.runFor(execution.ended);
    expect(execution).toMatchObject({ error: 'States.Timeout', stoppedAt: execution.startedAt + 100_000 });
  });
});

describe('JSONata as Step Functions has it', () => {
  const evaluate = async (expression: string, input: Json = {}, seed = 1) => {
    const { run } = bench({}, { seed, startsAt: Date.UTC(2026, 0, 2, 3, 4, 5) });
    const execution = await run(
      machineOf({ P: { Type: 'Pass', Output: `{% ${expression} %}`, ...end } }),
      input,
    );
    return execution.output ?? { error: execution.error };
  };
  const failure = { error: 'States.QueryEvaluationError' };

  it.each<[string, Json]>([
    ['$partition([1,2,3,4,5,6,7,8,9], 4)', [[1, 2, 3, 4], [5, 6, 7, 8], [9]]],
    ['$range(1, 9, 2)', [1, 3, 5, 7, 9]],
    ['$range(3, 1, -1)', [3, 2, 1]],
    ['$range(0, 5000, 1)', failure],
    ["$hash('input data', 'SHA-1')", 'aaff4a450a104cd177d28d18d74485e8cae074b7'],
    ["$hash('input data', 'CRC')", failure],
    ['$parse(\'{"number": 20}\')', { number: 20 }],
    ["$parse('{')", failure],
    ['$now()', '2026-01-02T03:04:05.000Z'],
    ['$millis()', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['$random(5) = $random(5)', true],
    ['$sort($shuffle([3, 1, 2]))', [1, 2, 3]],
    ['$sum', failure],
    ['{"a": $states.input.absent, "b": 1}', { b: 1 }],
    ['$states.input.one ? "yes" : "no"', 'yes'],
  ])('%s', async (expression, expected) => {
    expect(await evaluate(expression, { one: 1 })).toEqual(expected);
  });

  it('draws from the seed of the world', async () => {
    const drawn = '[$uuid(), $random(), $shuffle([1..50])]';
    expect(await evaluate(drawn, {}, 3)).toEqual(await evaluate(drawn, {}, 3));
    expect(await evaluate(drawn, {}, 3)).not.toEqual(await evaluate(drawn, {}, 4));
    expect(await evaluate('$uuid()')).toMatch(
      /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
    );
  });

  it('has every function that references are checked against', async () => {
    const types = await evaluate(`[${[...builtInFunctions].map(name => `$type($${name})`)}]`);
    expect(types).toEqual([...builtInFunctions].map(() => 'function'));
  });

  it('shows the Context Object', async () => {
    const { run } = bench();
    const execution = await run(machineOf({ P: { Type: 'Pass', Output: '{% $states.context %}', ...end } }), {
      a: 1,
    });
    expect(execution.output).toEqual({
      Execution: {
        Id: execution.arn,
        Input: { a: 1 },
        Name: 'execution-1',
        RedriveCount: 0,
        StartTime: '2026-11-30T09:00:00.000Z',
      },
      StateMachine: { Id: execution.machine.arn, Name: 'machine-1' },
      State: { EnteredTime: '2026-11-30T09:00:00.000Z', Name: 'P', RetryCount: 0 },
    });
  });

  it('a failed evaluation tells the state, the field and the expression', async () => {
    const { run } = bench();
    const execution = await run(
      machineOf({ P: { Type: 'Pass', Output: { a: ['{% $states.input.b %}'] }, ...end } }),
    );
    expect(execution.history.events()).toContainEqual(
      expect.objectContaining({
        type: 'EvaluationFailed',
        evaluationFailedEventDetails: {
          error: 'States.QueryEvaluationError',
          location: 'Output/a[0]',
          state: 'P',
          cause:
            "An error occurred while executing the state 'P' (entered at the event id #2). The JSONata expression '$states.input.b' specified for the field 'Output/a[0]' returned nothing (undefined).",
        },
      }),
    );
  });
});

describe('what is not implemented is refused when the machine is created', () => {
  const map = (more: object) => ({
    M: { Type: 'Map', ItemProcessor: flow({ I: { Type: 'Succeed' } }), ...more, ...end },
  });
  it.each<[string, States, RegExp]>([
    [
      '.sync',
      { T: { Type: 'Task', Resource: 'arn:aws:states:::states:startExecution.sync:2', ...end } },
      /the Resource arn:aws:states:::states:startExecution.sync:2 is not implemented/,
    ],
    [
      'a misspelt integration',
      { T: { Type: 'Task', Resource: 'arn:aws:states:::lambda:invok', ...end } },
      /lambda:invok is not implemented/,
    ],
    [
      'JSONata as a Resource',
      { T: { Type: 'Task', Resource: '{% $f %}', ...end } },
      /Resource must be a string and takes no JSONata/,
    ],
    [
      'a distributed Map',
      map({
        ItemProcessor: {
          ...flow({ I: { Type: 'Succeed' } }),
          ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        },
      }),
      /Mode DISTRIBUTED is not implemented/,
    ],
    ['ItemReader', map({ ItemReader: {} }), /the field ItemReader is not implemented/],
    ['ResultWriter', map({ ResultWriter: {} }), /the field ResultWriter is not implemented/],
    [
      'Credentials',
      { T: callOf('T', { Credentials: {}, ...end }) },
      /the field Credentials is not implemented/,
    ],
    [
      'a heartbeat that nobody can send',
      { T: callOf('T', { HeartbeatSeconds: 5, ...end }) },
      /HeartbeatSeconds is implemented for .waitForTaskToken only/,
    ],
    ['$eval', { P: { Type: 'Pass', Output: "{% $eval('1') %}", ...end } }, /\$eval is not available/],
    [
      'a variable that nobody assigns',
      { P: { Type: 'Pass', Output: '{% $runid %}', ...end } },
      /'P', Output: \$runid is neither a variable/,
    ],
    [
      'a member that $states does not have',
      { P: { Type: 'Pass', Output: '{% $states.inputs %}', ...end } },
      /\$states.inputs does not exist here/,
    ],
    [
      'JSONata 2.1',
      { P: { Type: 'Pass', Output: '{% $states.input.a ?? 1 %}', ...end } },
      /JSONata does not parse/,
    ],
    ['an open expression', { P: { Type: 'Pass', Output: '{% 1 ', ...end } }, /must end with %}/],
  ])('%s', (_what, states, says) => {
    expect(problemsOf(machineOf(states)).join('\n')).toMatch(says);
  });

  it('with all problems at once', () => {
    const problems = problemsOf(
      machineOf({ A: { Type: 'Pass', Result: 1, Next: 'Gone' }, B: { Type: 'Wait', Seconds: -1, ...end } }),
    );
    expect(problems).toHaveLength(4);
  });
});

it('a fault of the simulation in a task ends the simulation, not just the execution', async () => {
  const { run } = bench();
  await expect(
    run(
      machineOf({
        T: callOf('T', { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'E' }], ...end }),
        E: { Type: 'Succeed' },
      }),
    ),
  ).rejects.toThrow('the test has no function T');
});

it('tasks cannot change what the execution holds', async () => {
  const { run } = bench({
    T: args => {
      if (typeof args === 'object') Object.assign(args ?? {}, { a: 'changed' });
      return 'done';
    },
  });
  const execution = await run(machineOf({ T: callOf('T', { Output: '{% $states.input %}', ...end }) }), {
    a: 'kept',
  });
  expect(execution.output).toEqual({ a: 'kept' });
});
