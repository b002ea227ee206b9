import { describe, expect, it } from 'vitest';
import { callOf, end, flow, machineOf, pass, problemsOf } from './helpers/machines.ts';

/** What the Amazon States Language specification forbids, by its sections: see states-conformance.test.ts. */
const task = (more: object) => ({ T: callOf('T', { End: true, ...more }) });
const only = (state: object) => ({ S: { End: true, ...state } });

const refusals: readonly { readonly section: string; readonly machine: unknown; readonly says: RegExp }[] = [
  {
    section: 'Top-level fields',
    machine: { States: {}, StartAt: 'A', QueryLanguage: 'JSONata' },
    says: /StartAt names 'A'/,
  },
  {
    section: 'Top-level fields',
    machine: machineOf({ A: pass(1) }, { TimeoutSeconds: '{% 5 %}' }),
    says: /TimeoutSeconds must be a positive integer and takes no JSONata/,
  },
  {
    section: 'Top-level fields',
    machine: machineOf({ A: pass(1) }, { QueryLanguage: 'JSONPath' }),
    says: /only QueryLanguage JSONata/,
  },
  {
    section: 'Top-level fields',
    machine: { StartAt: 'A', States: { A: pass(1) } },
    says: /QueryLanguage is missing/,
  },
  {
    section: 'Top-level fields',
    machine: machineOf({ A: pass(1) }, { Colour: 'red' }),
    says: /field Colour/,
  },
  { section: 'States', machine: machineOf({ [`${'n'.repeat(81)}`]: pass(1) }), says: /longer than 80/ },
  {
    section: 'States',
    machine: machineOf({ A: { Type: 'Jump', ...end } }),
    says: /'A': Jump is not a state type/,
  },
  {
    section: 'States',
    machine: machineOf({ A: { Type: 'Parallel', Branches: [flow({ A: pass(1) })], ...end } }),
    says: /another state of the machine has this name/,
  },
  {
    section: 'Transitions',
    machine: machineOf({ A: pass(1, { Next: 'B' }) }),
    says: /'A': there is no state 'B'/,
  },
  { section: 'Transitions', machine: machineOf({ A: pass(1, {}) }), says: /exactly one of Next and/ },
  {
    section: 'Transitions',
    machine: machineOf({ A: pass(1), B: pass(1) }),
    says: /'B': no transition leads to it/,
  },
  {
    section: 'Parallel State',
    machine: machineOf({
      A: { Type: 'Parallel', Branches: [flow({ B: pass(1, { Next: 'C' }) })], Next: 'C' },
      C: pass(1),
    }),
    says: /'B': there is no state 'C'/,
  },
  {
    section: 'State Machine Variables',
    machine: machineOf(only({ Type: 'Pass', Assign: { states: 1 } })),
    says: /states is reserved/,
  },
  {
    section: 'State Machine Variables',
    machine: machineOf(only({ Type: 'Pass', Assign: { 'a.b': 1 } })),
    says: /not an identifier/,
  },
  {
    section: 'State Machine Variables',
    machine: machineOf({ S: { Type: 'Succeed', Assign: { a: 1 } } }),
    says: /field Assign/,
  },
  {
    section: 'Variable Scope',
    machine: machineOf({
      M: {
        Type: 'Map',
        ItemProcessor: flow({ I: { Type: 'Pass', Assign: { x: 1 }, ...end } }),
        Next: 'After',
      },
      After: { Type: 'Pass', Assign: { x: 2 }, ...end },
    }),
    says: /'I': the variable x belongs to an outer scope/,
  },
  {
    section: 'Variable Scope',
    machine: machineOf({
      P: {
        Type: 'Parallel',
        Branches: [
          flow({ A: { Type: 'Pass', Assign: { mine: 1 }, ...end } }),
          flow({ B: pass('{% $mine %}') }),
        ],
        ...end,
      },
    }),
    says: /'B', Output: \$mine is neither/,
  },
  {
    section: 'Using Arguments and Output',
    machine: machineOf(task({ Arguments: '{% $states.result %}' })),
    says: /Arguments: \$states.result does not exist here/,
  },
  {
    section: 'Using Arguments and Output',
    machine: machineOf(task({ Output: '{% $states.errorOutput %}' })),
    says: /\$states.errorOutput does not exist here/,
  },
  {
    section: 'Using Arguments and Output',
    machine: machineOf(only({ Type: 'Pass', Output: '{% $states.result %}' })),
    says: /\$states.result does not exist here/,
  },
  {
    section: 'JSONata Restrictions',
    machine: machineOf({ A: pass('{% $ %}') }),
    says: /'\$' at the top level/,
  },
  {
    section: 'JSONata Restrictions',
    machine: machineOf({ A: pass('{% $$.a %}') }),
    says: /'\$\$' names the input document/,
  },
  {
    section: 'JSONata Restrictions',
    machine: machineOf({ A: pass('{% total %}') }),
    says: /'total' at the top level/,
  },
  { section: 'JSONata Evaluation', machine: machineOf({ A: pass('{% $sum( %}') }), says: /does not parse/ },
  {
    section: 'Retrying after error',
    machine: machineOf({ A: { Type: 'Pass', Retry: [], ...end } }),
    says: /field Retry/,
  },
  {
    section: 'Retrying after error',
    machine: machineOf(task({ Retry: [{ ErrorEquals: [] }] })),
    says: /ErrorEquals must be an array/,
  },
  {
    section: 'Retrying after error',
    machine: machineOf(task({ Retry: [{ ErrorEquals: ['E'], BackoffRate: 0.5 }] })),
    says: /BackoffRate must be a number of at least 1.0/,
  },
  {
    section: 'Retrying after error',
    machine: machineOf(task({ Retry: [{ ErrorEquals: ['E'], IntervalSeconds: '{% 1 %}' }] })),
    says: /IntervalSeconds must be a positive integer and takes no JSONata/,
  },
  {
    section: 'Retrying after error',
    machine: machineOf(task({ Retry: [{ ErrorEquals: ['States.ALL'] }, { ErrorEquals: ['E'] }] })),
    says: /States.ALL must stand alone, and last/,
  },
  {
    section: 'Fallback states',
    machine: machineOf(task({ Catch: [{ ErrorEquals: ['States.ALL', 'E'], Next: 'T' }] })),
    says: /States.ALL must stand alone, and last/,
  },
  {
    section: 'Fallback states',
    machine: machineOf(task({ Catch: [{ ErrorEquals: ['E'], Next: 'Gone' }] })),
    says: /no state 'Gone'/,
  },
  {
    section: 'Error representation',
    machine: machineOf(task({ Catch: [{ ErrorEquals: ['States.Timedout'], Next: 'T' }] })),
    says: /States.Timedout is not a predefined Error Name/,
  },
  {
    section: 'Table of State Types and Fields',
    machine: machineOf(task({ InputPath: '$.a' })),
    says: /InputPath belongs to JSONPath/,
  },
  {
    section: 'Timeouts',
    machine: machineOf({
      T: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
        TimeoutSeconds: 60,
        HeartbeatSeconds: 60,
        ...end,
      },
    }),
    says: /HeartbeatSeconds must be smaller/,
  },
  {
    section: 'Choice State',
    machine: machineOf({ C: { Type: 'Choice', Choices: [] } }),
    says: /Choices must be an array that is not empty/,
  },
  {
    section: 'Choice State',
    machine: machineOf({
      C: { Type: 'Choice', Choices: [{ Condition: true, Next: 'E' }], End: true },
      E: { Type: 'Succeed' },
    }),
    says: /field End/,
  },
  {
    section: 'JSONata Choice Rules',
    machine: machineOf({
      C: { Type: 'Choice', Choices: [{ Variable: '$.a', Next: 'E' }] },
      E: { Type: 'Succeed' },
    }),
    says: /Condition is missing/,
  },
  {
    section: 'JSONata Wait State',
    machine: machineOf(only({ Type: 'Wait', Seconds: 1, Timestamp: '2016-03-14T01:59:00Z' })),
    says: /exactly one of Seconds and Timestamp/,
  },
  {
    section: 'Timestamps',
    machine: machineOf(only({ Type: 'Wait', Timestamp: '2016-03-14t01:59:00z' })),
    says: /Timestamp must be a timestamp/,
  },
  { section: 'Fail State', machine: machineOf({ F: { Type: 'Fail', Output: 1 } }), says: /field Output/ },
];

describe('what the specification forbids is refused when the machine is created', () => {
  it.each(refusals)('$section: $says', ({ machine, says }) => {
    expect(problemsOf(machine).join('\n')).toMatch(says);
  });
});
