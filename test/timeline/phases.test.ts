import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { expect, test } from 'vitest';
import { costOf, readRun } from '../../local/timeline/phases.ts';

const second = (at: number) => new Date(at * 1000);

/** A history in which each named state is entered at its second, tasks with one attempt unless more are said. */
function history(
  states: readonly (readonly [name: string, at: number, attempts?: number])[],
  end: Partial<HistoryEvent> & { readonly at: number },
  planOutput?: string,
): HistoryEvent[] {
  const { at, ...last } = end;
  const events: HistoryEvent[] = [
    event({ timestamp: second(states[0]?.[1] ?? 0), type: 'ExecutionStarted' }),
  ];
  for (const [name, entered, attempts = 0] of states) {
    const timestamp = second(entered);
    events.push(
      event({
        timestamp,
        type: attempts > 0 ? 'TaskStateEntered' : 'WaitStateEntered',
        stateEnteredEventDetails: { name },
      }),
    );
    for (let attempt = 0; attempt < attempts; attempt++)
      events.push(
        event({
          timestamp,
          type: 'TaskScheduled',
          taskScheduledEventDetails: {
            resourceType: 'lambda',
            resource: 'invoke',
            region: undefined,
            parameters: '{}',
          },
        }),
      );
    if (name === 'Plan')
      events.push(
        event({ timestamp, type: 'TaskStateExited', stateExitedEventDetails: { name, output: planOutput } }),
      );
  }
  return [...events, event({ timestamp: second(at), ...last })];
}

const event = (told: Partial<HistoryEvent>): HistoryEvent => ({
  timestamp: undefined,
  type: undefined,
  id: 0,
  ...told,
});

const BUDGETS = JSON.stringify({
  budgets: { lead: 600, traffic: 120, before: 660, deployment: 3600, ready: 900 },
});

const before = history(
  [
    ['Plan', 0, 1],
    ['Suppress', 1, 1],
    ['Lead', 2],
    ['Deregister', 2, 2],
    ['TrafficOver', 62],
    ['LeadOver', 200],
    ['GoAhead', 201, 1],
  ],
  { at: 202, type: 'ExecutionSucceeded' },
  BUDGETS,
);

test('R-BUDGET: each phase is told with its use and the budget that the plan gave it', () => {
  const after = history(
    [
      ['Resume', 500, 1],
      ['ObserveReady', 501, 1],
      ['NeedsRegistering', 560],
      ['Release', 561, 1],
    ],
    { at: 700, type: 'ExecutionSucceeded' },
  );
  const { phases, goAheadAt, error } = readRun([before, after], 0);
  expect({ goAheadAt, error }).toEqual({ goAheadAt: 202_000, error: '' });
  expect(
    phases.map(({ name, from, to, budgetSeconds }) => [name, from / 1000, to / 1000, budgetSeconds]),
  ).toEqual([
    ['before', 0, 202, 660],
    ['lead', 2, 200, 600],
    ['traffic', 2, 62, 120],
    ['deployment', 202, 500, 3600],
    ['ready', 501, 560, 900],
    ['release', 561, 700, undefined],
  ]);
  expect(phases.every(({ completed }) => completed)).toBe(true);
});

test('R-FAIL: a run that is undone shows the phase that broke off, the undo, and its named error', () => {
  const after = history(
    [
      ['Resume', 500, 1],
      ['ObserveReady', 501, 1],
      ['Fence', 1401, 1],
    ],
    {
      at: 1500,
      type: 'ExecutionFailed',
      executionFailedEventDetails: { error: 'BudgetSpent', cause: 'The check still fails.' },
    },
  );
  const { phases, error } = readRun([before, after], 0);
  expect(error).toBe('BudgetSpent');
  expect(phases.filter(({ from }) => from >= 501_000)).toEqual([
    { name: 'ready', from: 501_000, to: 1_401_000, budgetSeconds: 900, completed: false },
    { name: 'undo', from: 1_401_000, to: 1_500_000, completed: true },
  ]);
});

test('a refused run has no go-ahead and no deployment', () => {
  const refused = history([['Plan', 0, 1]], {
    at: 2,
    type: 'ExecutionFailed',
    executionFailedEventDetails: { error: 'BelowFloor' },
  });
  const run = readRun([refused], 99_000);
  expect(run.error).toBe('BelowFloor');
  expect(run).not.toHaveProperty('goAheadAt');
  expect(run.phases).toEqual([{ name: 'before', from: 0, to: 2000, completed: false }]);
});

test('a run whose deployment was lost ends its deployment where the timeline ends', () => {
  const { phases } = readRun([before], 300_000);
  expect(phases.find(({ name }) => name === 'deployment')).toMatchObject({ to: 300_000, completed: false });
});

test('D37: the wait for another run is told apart, and the budgets count from the plan that ended it', () => {
  const queued = history(
    [
      ['Plan', 0, 1],
      ['WaitForTurn', 1],
      ['Plan', 61, 1],
      ['WaitForTurn', 62],
      ['Plan', 122, 1],
      ['Suppress', 123, 1],
    ],
    { at: 300, type: 'ExecutionSucceeded' },
    BUDGETS,
  );
  const times = readRun([queued], 300_000).phases.map(({ name, from, to }) => [name, from / 1000, to / 1000]);
  expect(times).toEqual([
    ['queue', 1, 122],
    ['before', 122, 300],
    ['deployment', 300, 300],
  ]);
});

test('a repeated attempt is a state transition and an invocation of its own', () => {
  expect(costOf([before])).toEqual({ stateTransitions: 8, lambdaInvocations: 5 });
});
