import { describe, expect, it } from 'vitest';
import type { Json } from '../../local/states/json.ts';
import {
  bench,
  callOf,
  end,
  type Functions,
  fails,
  failsInTurn,
  flow,
  machineOf,
  pass,
  type States,
} from './helpers/machines.ts';

/**
 * What the Amazon States Language specification (https://states-language.net, with JSONata, November 2024) says, by its
 * sections. Expectations come from its text and examples.
 */
interface Case {
  readonly section: string;
  readonly says: string;
  readonly states: States;
  readonly input?: Json;
  readonly functions?: Functions;
  /** The output, or the Error Name. */
  readonly gives: { readonly output: Json } | { readonly error: string };
  readonly afterSeconds?: number;
}

const out = (output: Json) => ({ output });
const err = (error: string) => ({ error });
const sampleData = {
  student: {
    name: 'Scotland',
    course: [{ grade: 34 }, { grade: 99 }, { grade: 76 }, { grade: 96 }],
  },
  class: { teacher: 'Bert' },
  two: 'the number 2',
};
const dispatch: States = {
  Read: {
    Type: 'Pass',
    Assign: { value: '{% $states.input.value %}', range: 'none' },
    Next: 'DispatchEvent',
  },
  DispatchEvent: {
    Type: 'Choice',
    Choices: [
      { Condition: "{% $states.input.type != 'Private' %}", Next: 'Public' },
      {
        Condition: "{% $exists($value) and $type($value)='number' and $value>=20 and $value<30 %}",
        Assign: { range: 'twenties' },
        Next: 'ValueInTwenties',
      },
      {
        Condition: '{% $states.input.rating >= $states.input.auditThreshold %}',
        Output: { excess: '{% $states.input.rating - $states.input.auditThreshold %}' },
        Next: 'StartAudit',
      },
    ],
    Default: 'RecordEvent',
    Assign: { range: 'default' },
  },
  Public: pass('public'),
  ValueInTwenties: pass({ range: '{% $range %}', input: '{% $states.input %}' }),
  StartAudit: pass({ range: '{% $range %}', input: '{% $states.input %}' }),
  RecordEvent: pass({ range: '{% $range %}' }),
};
const complexRetry = (functions: Functions): Pick<Case, 'states' | 'functions'> => ({
  functions,
  states: {
    X: callOf('X', {
      Next: 'Y',
      Retry: [
        { ErrorEquals: ['ErrorA', 'ErrorB'], IntervalSeconds: 1, BackoffRate: 2, MaxAttempts: 2 },
        { ErrorEquals: ['ErrorC'], IntervalSeconds: 5 },
      ],
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Z' }],
    }),
    Y: { Type: 'Succeed' },
    Z: { Type: 'Succeed', Output: { caught: '{% $states.input.Error %}' } },
  },
});
const timeoutRetry = (
  more: object,
  Retry: readonly object[] = [
    { ErrorEquals: ['States.Timeout'], IntervalSeconds: 3, MaxAttempts: 2, BackoffRate: 2, ...more },
  ],
) => ({
  states: { X: callOf('X', { TimeoutSeconds: 10, Retry, End: true }) },
  functions: { X: () => new Promise(() => {}) },
});
const catching = (functions: Functions): Pick<Case, 'states' | 'functions'> => ({
  functions,
  states: {
    Work: callOf('Work', {
      Next: 'Done',
      Catch: [
        {
          ErrorEquals: ['java.lang.Exception'],
          Output: "{% $merge([ $states.input, {'error-info': $states.errorOutput} ]) %}",
          Next: 'RecoveryState',
        },
        {
          ErrorEquals: ['States.ALL'],
          Assign: { isCritical: '{% $contains($lowercase($states.errorOutput.Error), /.*fatal.*/) %}' },
          Next: 'EndMachine',
        },
      ],
    }),
    Done: { Type: 'Succeed' },
    RecoveryState: { Type: 'Succeed' },
    EndMachine: { Type: 'Succeed', Output: ['{% $isCritical %}', '{% $states.input %}'] },
  },
});
const shipped = [
  { prod: 'R31', 'dest-code': 9511, quantity: 1344 },
  { prod: 'S39', 'dest-code': 9511, quantity: 40 },
];
const shipping = { 'delivery-partner': 'UQS', detail: { shipped } };

const cases: readonly Case[] = [
  {
    section: 'Data',
    says: 'numbers are JSON texts: adding 3 and 4 gives 7',
    states: { Add: callOf('Add', end) },
    functions: { Add: args => Object.values(args ?? {}).reduce((sum, each) => sum + each, 0) },
    input: { val1: 3, val2: 4 },
    gives: out(7),
  },
  {
    section: 'Assigning State Machine Variables',
    says: 'a later state refers to assigned variables',
    states: {
      FirstState: {
        Type: 'Pass',
        Assign: { make: 'Infiniti', model: 'G35', year: 2006 },
        Next: 'SecondState',
      },
      SecondState: pass("{% $year & ' ' & $make & ' ' & $model %}"),
    },
    gives: out('2006 Infiniti G35'),
  },
  {
    section: 'Assigning State Machine Variables',
    says: 'Assign and Output see the values of the state entry',
    states: {
      Before: { Type: 'Pass', Assign: { x: 5 }, Next: 'Assigning' },
      Assigning: {
        Type: 'Pass',
        Assign: { x: 42, newOrOld: '{% $x %}' },
        Output: '{% $x %}',
        Next: 'Referencing',
      },
      Referencing: pass(['{% $x %}', '{% $newOrOld %}', '{% $states.input %}']),
    },
    gives: out([42, 5, 5]),
  },
  {
    section: 'Variable Scope',
    says: 'an iteration reads the outer variable and the outer state assigns it again',
    states: {
      'Get Greeting': { Type: 'Pass', Assign: { outer: 'hello' }, Next: 'Greet Everyone' },
      'Greet Everyone': {
        Type: 'Map',
        ItemProcessor: flow({
          Begin: { Type: 'Pass', Assign: { inner: 'world', hi: '{% $outer %}' }, Next: 'End' },
          End: { Type: 'Succeed', Output: '{% $hi %}' },
        }),
        Assign: { outer: 2 },
        Next: 'Goodbye',
      },
      Goodbye: { Type: 'Succeed', Output: ['{% $states.input %}', '{% $outer %}'] },
    },
    input: [1],
    gives: out([['hello'], 2]),
  },
  {
    section: 'Variable Scope',
    says: 'iterations keep separate values',
    states: {
      M: {
        Type: 'Map',
        ItemProcessor: flow({
          Keep: { Type: 'Pass', Assign: { mine: '{% $states.input %}' }, Next: 'Rest' },
          Rest: { Type: 'Wait', Seconds: 1, Next: 'Give' },
          Give: pass('{% $mine %}'),
        }),
        ...end,
      },
    },
    input: ['a', 'b', 'c'],
    gives: out(['a', 'b', 'c']),
  },
  {
    section: 'Expressions',
    says: 'an expression has functions of its own',
    states: { P: pass('{% ($product := function($x, $y) {$x * $y}; $reduce([1..5], $product)) %}') },
    gives: out(120),
  },
  {
    section: 'JSONata Evaluation',
    says: 'Arguments, at any depth, and Output are evaluated',
    states: {
      GetSampleData: { Type: 'Pass', Assign: sampleData, Next: 'A Task' },
      'A Task': callOf('DoTheTask', {
        Arguments: {
          student: '{% $student.name %}',
          classInfo: { teacher: '{% $class.teacher %}' },
          values: [1, '{% $two %}', 'three'],
        },
        Assign: { sent: '{% $states.result %}' },
        Output: "{% { 'avg': $average($student.course.grade), 'num': $count($student.course) } %}",
        Next: 'Process the result',
      }),
      'Process the result': pass(['{% $sent %}', '{% $states.input %}']),
    },
    functions: { DoTheTask: args => args },
    gives: out([
      { student: 'Scotland', classInfo: { teacher: 'Bert' }, values: [1, 'the number 2', 'three'] },
      { avg: 76.25, num: 4 },
    ]),
  },
  {
    section: 'Using Arguments and Output',
    says: 'without Arguments a task gets the state input, without Output the state gives the result',
    states: { T: callOf('T', end) },
    functions: { T: args => ({ got: args }) },
    input: { a: 1 },
    gives: out({ got: { a: 1 } }),
  },
  {
    section: 'JSONata Runtime Errors',
    says: 'a type error is States.QueryEvaluationError',
    states: { P: pass('{% $states.input.a + 1 %}') },
    input: { a: 'text' },
    gives: err('States.QueryEvaluationError'),
  },
  {
    section: 'JSONata Runtime Errors',
    says: 'an undefined result is States.QueryEvaluationError',
    states: { P: pass('{% $states.input.thisFieldDoesNotExist %}') },
    gives: err('States.QueryEvaluationError'),
  },
  {
    section: 'JSONata Runtime Errors',
    says: 'TimeoutSeconds that is a string is States.QueryEvaluationError, and can be caught',
    states: {
      T: callOf('T', {
        TimeoutSeconds: '{% $states.input %}',
        Catch: [{ ErrorEquals: ['States.QueryEvaluationError'], Output: 'caught', Next: 'E' }],
        End: true,
      }),
      E: { Type: 'Succeed' },
    },
    input: 'soon',
    gives: out('caught'),
  },
  {
    section: 'JSONata Runtime Errors',
    says: 'a negative ToleratedFailurePercentage is States.QueryEvaluationError',
    states: {
      M: { Type: 'Map', ToleratedFailurePercentage: '{% -1 %}', ItemProcessor: flow({ I: pass(1) }), ...end },
    },
    input: [1],
    gives: err('States.QueryEvaluationError'),
  },
  {
    section: 'JSONata Restrictions',
    says: '$ and bare names may stand inside an expression',
    states: { P: pass('{% $states.input.order[$.total > 10][total < 30].id %}') },
    input: {
      order: [
        { id: 'a', total: 5 },
        { id: 'b', total: 20 },
        { id: 'c', total: 40 },
      ],
    },
    gives: out('b'),
  },
  {
    section: 'Retrying after error',
    says: 'two retries, after 3 and 6 seconds',
    ...timeoutRetry({}),
    gives: err('States.Timeout'),
    afterSeconds: 10 + 3 + 10 + 6 + 10,
  },
  {
    section: 'Retrying after error',
    says: 'MaxDelaySeconds limits the interval',
    ...timeoutRetry({ MaxDelaySeconds: 4 }),
    gives: err('States.Timeout'),
    afterSeconds: 10 + 3 + 10 + 4 + 10,
  },
  {
    section: 'Retrying after error',
    says: 'MaxAttempts 0 never retries, whatever follows',
    ...timeoutRetry({}, [
      { ErrorEquals: ['States.Timeout'], MaxAttempts: 0 },
      { ErrorEquals: ['States.ALL'] },
    ]),
    gives: err('States.Timeout'),
    afterSeconds: 10,
  },
  {
    section: 'Retrying after error',
    says: 'the defaults are 3 attempts, from 1 second, doubling',
    states: { X: callOf('X', { Retry: [{ ErrorEquals: ['States.ALL'] }], End: true }) },
    functions: { X: fails('Broken') },
    gives: err('Broken'),
    afterSeconds: 1 + 2 + 4,
  },
  {
    section: 'Complex retry scenarios',
    says: 'each Retrier counts its own: A, B, C, B ends in the Catcher',
    ...complexRetry({ X: failsInTurn(['ErrorA', 'ErrorB', 'ErrorC', 'ErrorB']) }),
    gives: out({ caught: 'ErrorB' }),
    afterSeconds: 1 + 2 + 5,
  },
  {
    section: 'Complex retry scenarios',
    says: 'success after retries goes on',
    ...complexRetry({ X: failsInTurn(['ErrorA', 'ErrorC', 'ErrorB'], 'fine') }),
    gives: out('fine'),
    afterSeconds: 1 + 5 + 2,
  },
  {
    section: 'Complex retry scenarios',
    says: 'a transition resets the Retriers',
    states: {
      X: callOf('X', { Retry: [{ ErrorEquals: ['E'], MaxAttempts: 1 }], Next: 'Again' }),
      Again: {
        Type: 'Choice',
        Choices: [{ Condition: "{% $states.input = 'more' %}", Next: 'X' }],
        Default: 'Done',
      },
      Done: { Type: 'Succeed' },
    },
    functions: {
      X: (
        turns => () =>
          turns.shift()?.()
      )([fails('E'), () => 'more', fails('E'), () => 'enough']),
    },
    gives: out('enough'),
    afterSeconds: 2,
  },
  {
    section: 'JSONata Catchers',
    says: 'the first matching Catcher shapes its output from input and errorOutput',
    ...catching({ Work: fails('java.lang.Exception', 'out of memory') }),
    input: { a: 1 },
    gives: out({ a: 1, 'error-info': { Error: 'java.lang.Exception', Cause: 'out of memory' } }),
  },
  {
    section: 'JSONata Catchers',
    says: 'a Catcher assigns; without Output the output is the Error Output',
    ...catching({ Work: fails('FatalThing', 'why') }),
    gives: out([true, { Error: 'FatalThing', Cause: 'why' }]),
  },
  {
    section: 'Error output',
    says: "the Catcher's Assign is used instead of the state's",
    states: {
      A: { Type: 'Pass', Assign: { x: 'before' }, Next: 'T' },
      T: callOf('T', {
        Assign: { x: 'succeeded' },
        Catch: [{ ErrorEquals: ['States.TaskFailed'], Next: 'E' }],
        Next: 'E',
      }),
      E: { Type: 'Succeed', Output: '{% $x %}' },
    },
    functions: { T: fails('Any') },
    gives: out('before'),
  },
  {
    section: 'JSONata Choice Rules',
    says: 'the second rule assigns and passes its input through',
    states: dispatch,
    input: { type: 'Private', value: 23 },
    gives: out({ range: 'twenties', input: { type: 'Private', value: 23 } }),
  },
  {
    section: 'JSONata Choice Rules',
    says: "the third rule's Output is used, and the state's Assign is not",
    states: dispatch,
    input: { type: 'Private', value: 1, rating: 9, auditThreshold: 4 },
    gives: out({ range: 'none', input: { excess: 5 } }),
  },
  {
    section: 'JSONata Choice Rules',
    says: "without a match the state's Assign and Default are used",
    states: dispatch,
    input: { type: 'Private', value: 1, rating: 1, auditThreshold: 4 },
    gives: out({ range: 'default' }),
  },
  {
    section: 'JSONata Choice Rules',
    says: 'a Condition that is not a boolean is an error',
    states: {
      C: { Type: 'Choice', Choices: [{ Condition: "{% 'true' %}", Next: 'E' }] },
      E: { Type: 'Succeed' },
    },
    gives: err('States.QueryEvaluationError'),
  },
  {
    section: 'JSONPath Choice Rules (Default)',
    says: 'no match and no Default is States.NoChoiceMatched',
    states: { C: { Type: 'Choice', Choices: [{ Condition: false, Next: 'E' }] }, E: { Type: 'Succeed' } },
    gives: err('States.NoChoiceMatched'),
  },
  {
    section: 'Wait State',
    says: 'Seconds delays, and the input passes through',
    states: { W: { Type: 'Wait', Seconds: 10, ...end } },
    input: 'kept',
    gives: out('kept'),
    afterSeconds: 10,
  },
  {
    section: 'JSONata Wait State',
    says: 'Timestamp is an absolute time',
    states: { W: { Type: 'Wait', Timestamp: '{% $states.input.expirydate %}', Output: 'woken', ...end } },
    input: { expirydate: '2026-11-30T10:00:00+00:00' },
    gives: out('woken'),
    afterSeconds: 3600,
  },
  {
    section: 'JSONata Wait State',
    says: 'Seconds must be a non-negative integer',
    states: { W: { Type: 'Wait', Seconds: '{% 1.5 %}', ...end } },
    gives: err('States.QueryEvaluationError'),
  },
  {
    section: 'JSONata Fail State',
    says: 'Error and Cause are taken from the input',
    states: { F: { Type: 'Fail', Error: '{% $states.input.Error %}', Cause: '{% $states.input.Cause %}' } },
    input: { Error: 'ErrorA', Cause: 'Kaiju attack' },
    gives: err('ErrorA'),
  },
  {
    section: 'Parallel State',
    says: 'the outputs stand in the order of the branches',
    states: {
      FunWithMath: {
        Type: 'Parallel',
        Branches: [flow({ Add: callOf('Add', end) }), flow({ Subtract: callOf('Subtract', end) })],
        ...end,
      },
    },
    functions: {
      Add: args => (Array.isArray(args) ? args[0] + args[1] : null),
      Subtract: args => (Array.isArray(args) ? args[0] - args[1] : null),
    },
    input: [3, 2],
    gives: out([5, 1]),
  },
  {
    section: 'Parallel State',
    says: 'Arguments are the input of each branch, and a Succeed ends its branch alone',
    states: {
      P: {
        Type: 'Parallel',
        Arguments: { n: '{% $states.input + 1 %}' },
        Branches: [
          flow({ S: { Type: 'Succeed' } }),
          flow({ W: { Type: 'Wait', Seconds: 5, Next: 'L' }, L: pass('{% $states.input.n * 10 %}') }),
        ],
        Output: '{% $states.result %}',
        ...end,
      },
    },
    input: 1,
    gives: out([{ n: 2 }, 20]),
    afterSeconds: 5,
  },
  {
    section: 'Parallel State',
    says: 'a failed branch fails the state, which can be retried and caught',
    states: {
      P: {
        Type: 'Parallel',
        Branches: [
          flow({ F: { Type: 'Fail', Error: 'E', Cause: 'c' } }),
          flow({ W: { Type: 'Wait', Seconds: 99, End: true } }),
        ],
        Retry: [{ ErrorEquals: ['E'], IntervalSeconds: 2, MaxAttempts: 1 }],
        Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Z' }],
        Next: 'Z',
      },
      Z: { Type: 'Succeed' },
    },
    gives: out({ Error: 'E', Cause: 'c' }),
    afterSeconds: 2,
  },
  {
    section: 'JSONata Map State',
    says: 'Items, ItemSelector and Output',
    states: {
      'Validate-All': {
        Type: 'Map',
        Items: '{% $states.input.detail.shipped %}',
        MaxConcurrency: 0,
        ItemSelector: {
          parcel: '{% $states.context.Map.Item.Value %}',
          courier: "{% $lookup($states.input, 'delivery-partner') %}",
          index: '{% $states.context.Map.Item.Index %}',
        },
        ItemProcessor: flow({ Validate: callOf('ship-val', end) }),
        Assign: { shipped: '{% $states.result %}' },
        Output: { numItemsProcessed: '{% $count($states.input.detail.shipped) %}' },
        Next: 'Show',
      },
      Show: pass(['{% $shipped %}', '{% $states.input %}']),
    },
    functions: { 'ship-val': args => args },
    input: shipping,
    gives: out([
      [
        { parcel: shipped[0] ?? null, courier: 'UQS', index: 0 },
        { parcel: shipped[1] ?? null, courier: 'UQS', index: 1 },
      ],
      { numItemsProcessed: 2 },
    ]),
  },
  {
    section: 'Selecting Items',
    says: 'without Items the input must be an array',
    states: { M: { Type: 'Map', ItemProcessor: flow({ I: pass(1) }), ...end } },
    input: { not: 'an array' },
    gives: err('States.QueryEvaluationError'),
  },
  {
    section: 'Map State concurrency',
    says: 'MaxConcurrency 1 is one after the other',
    states: {
      M: {
        Type: 'Map',
        MaxConcurrency: 1,
        ItemProcessor: flow({ W: { Type: 'Wait', Seconds: 3, ...end } }),
        ...end,
      },
    },
    input: [1, 2, 3],
    gives: out([1, 2, 3]),
    afterSeconds: 9,
  },
  {
    section: 'Map State concurrency',
    says: 'no more than MaxConcurrency at once',
    states: {
      M: {
        Type: 'Map',
        MaxConcurrency: '{% 2 %}',
        ItemProcessor: flow({ W: { Type: 'Wait', Seconds: '{% $states.input %}', ...end } }),
        ...end,
      },
    },
    input: [4, 1, 1, 3],
    gives: out([4, 1, 1, 3]),
    afterSeconds: 5,
  },
  {
    section: 'Map State ItemProcessor definition',
    says: 'a failed iteration fails the state with its error',
    states: {
      M: {
        Type: 'Map',
        ItemProcessor: flow({
          C: { Type: 'Choice', Choices: [{ Condition: '{% $states.input = 2 %}', Next: 'F' }], Default: 'W' },
          W: { Type: 'Wait', Seconds: 60, ...end },
          F: { Type: 'Fail', Error: 'Two' },
        }),
        ...end,
      },
    },
    input: [1, 2, 3],
    gives: err('Two'),
    afterSeconds: 0,
  },
  ...[
    { tolerated: { ToleratedFailurePercentage: 50 }, gives: out([1, 3]) },
    { tolerated: { ToleratedFailureCount: 1 }, gives: err('States.ExceedToleratedFailureThreshold') },
    {
      tolerated: { ToleratedFailureCount: 3, ToleratedFailurePercentage: '{% 49 %}' },
      gives: err('States.ExceedToleratedFailureThreshold'),
    },
  ].map(
    ({ tolerated, gives }): Case => ({
      section: 'Map State Failure Tolerance',
      says: `${JSON.stringify(tolerated)} with two failures of four`,
      states: { M: { Type: 'Map', ...tolerated, ItemProcessor: flow({ T: callOf('T', end) }), ...end } },
      functions: { T: args => (Number(args) % 2 === 0 ? fails('Even')() : args) },
      input: [1, 2, 3, 4],
      gives,
    }),
  ),
  {
    section: 'Timeouts',
    says: 'a task that runs longer than TimeoutSeconds fails with States.Timeout',
    states: {
      T: callOf('T', {
        TimeoutSeconds: '{% 300 %}',
        Catch: [
          { ErrorEquals: ['States.TaskFailed'], Output: 'a wrong catcher', Next: 'E' },
          { ErrorEquals: ['States.Timeout'], Output: '{% $states.errorOutput.Error %}', Next: 'E' },
        ],
        End: true,
      }),
      E: { Type: 'Succeed' },
    },
    functions: { T: () => new Promise(() => {}) },
    gives: out('States.Timeout'),
    afterSeconds: 300,
  },
];

describe('the States Language specification', () => {
  it.each(cases)('$section: $says', async ({ states, input, functions, gives, afterSeconds }) => {
    const { run } = bench(functions);
    const execution = await run(machineOf(states), input);
    expect('output' in gives ? { output: execution.output } : { error: execution.error }).toEqual(gives);
    expect(execution.status).toBe('output' in gives ? 'SUCCEEDED' : 'FAILED');
    if (afterSeconds !== undefined) {
      expect(((execution.stoppedAt ?? 0) - execution.startedAt) / 1000).toBe(afterSeconds);
    }
  });
});
