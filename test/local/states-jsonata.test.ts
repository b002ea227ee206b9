import { describe, expect, it } from 'vitest';
import { builtInFunctions } from '../../local/states/functions.ts';
import type { Json } from '../../local/states/json.ts';
import { bench, callOf, end, flow, machineOf, problemsOf, type States } from './helpers/machines.ts';

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
