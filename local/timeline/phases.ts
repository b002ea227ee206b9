import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import type { BatchRun, Cost, Phase, PhaseName } from './data.ts';

/** The events of one execution, as GetExecutionHistory gives them, oldest first. */
export type ExecutionHistory = readonly HistoryEvent[];

interface PhaseRule {
  readonly name: PhaseName;
  /** It lasts from the first (or last) entry of this state, */
  readonly begins: string;
  readonly beginsLast?: true;
  /** to the next (or last) entry of this one after it; without one, to the end of the execution. */
  readonly ends?: string;
  readonly endsLast?: true;
}

/** By the names of the states in before-deploy and after-deploy. */
const RULES: readonly PhaseRule[] = [
  // A queued run plans again each time it looks: its budgets count from the last plan.
  { name: 'queue', begins: 'WaitForTurn', ends: 'Plan', endsLast: true },
  { name: 'before', begins: 'Plan', beginsLast: true },
  { name: 'lead', begins: 'Lead', ends: 'LeadOver' },
  { name: 'traffic', begins: 'Deregister', ends: 'TrafficOver' },
  { name: 'ready', begins: 'ObserveReady', ends: 'NeedsRegistering' },
  { name: 'inService', begins: 'Register', ends: 'NeedsEvidence' },
  { name: 'readyAgain', begins: 'ObserveEvidence', ends: 'Release' },
  { name: 'release', begins: 'Release' },
  { name: 'undo', begins: 'Fence' },
];

/** Where a run turns from what it did to undoing it. */
const BROKEN_OFF = 'Fence';

/**
 * What a batch's executions tell of its run: before-deploy's history, then after-deploy's.
 *
 * @param until where a phase that still lasts is cut off
 */
export function readRun(
  histories: readonly ExecutionHistory[],
  until: number,
): Pick<BatchRun, 'goAheadAt' | 'error' | 'phases'> {
  const budgets = new Map(histories.flatMap(history => [...budgetsOf(history)]));
  const ends = histories.map(endOf);
  const [before, after] = histories;
  const goAheadAt = before && succeeded(before) ? ends[0] : undefined;
  const phases = histories.flatMap((history, index) => phasesOf(history, ends[index] ?? until));
  if (goAheadAt !== undefined)
    phases.push({
      name: 'deployment',
      from: goAheadAt,
      to: after ? timeOf(after[0]) : until,
      completed: after !== undefined,
    });
  return {
    ...(goAheadAt !== undefined && { goAheadAt }),
    error: histories.map(errorOf).find(error => error !== '') ?? '',
    phases: phases
      .toSorted((a, b) => a.from - b.from || b.to - a.to)
      .map(phase => {
        const budgetSeconds = budgets.get(phase.name);
        return budgetSeconds ? { ...phase, budgetSeconds } : phase;
      }),
  };
}

/** What Step Functions and Lambda count: a repeated attempt is a transition and an invocation too. */
export function costOf(histories: readonly ExecutionHistory[]): Cost {
  const events = histories.flat();
  const count = (of: (event: HistoryEvent) => boolean) => events.filter(of).length;
  const entered = count(event => event.stateEnteredEventDetails !== undefined);
  const scheduled = count(event => event.type === 'TaskScheduled');
  const tasks = count(event => event.type === 'TaskStateEntered');
  return {
    stateTransitions: entered + scheduled - tasks,
    lambdaInvocations: count(event => event.taskScheduledEventDetails?.resourceType === 'lambda'),
  };
}

interface Entered {
  readonly state: string;
  readonly at: number;
}

function phasesOf(history: ExecutionHistory, until: number): Phase[] {
  const entries: readonly Entered[] = history.flatMap(event => {
    const state = event.stateEnteredEventDetails?.name;
    return state === undefined ? [] : [{ state, at: timeOf(event) }];
  });
  const brokenOffAt = entries.find(({ state }) => state === BROKEN_OFF)?.at;
  return RULES.flatMap(({ name, begins, beginsLast, ends, endsLast }) => {
    const isBegin = ({ state }: Entered) => state === begins;
    const from = beginsLast ? entries.findLastIndex(isBegin) : entries.findIndex(isBegin);
    const start = entries[from];
    if (!start) return [];
    const later = entries.slice(from + 1).filter(({ state }) => state === ends);
    const end = endsLast ? later.at(-1) : later[0];
    if (end) return [{ name, from: start.at, to: end.at, completed: true }];
    if (begins === BROKEN_OFF) return [{ name, from: start.at, to: until, completed: true }];
    return [{ name, from: start.at, to: brokenOffAt ?? until, completed: succeeded(history) }];
  });
}

const planned = z.object({ budgets: z.record(z.string(), z.number()) });

/** The budgets, in seconds by phase, that the plan gave the run. */
function budgetsOf(history: ExecutionHistory): ReadonlyMap<string, number> {
  const output = history.findLast(event => event.stateExitedEventDetails?.name === 'Plan')
    ?.stateExitedEventDetails?.output;
  const read = planned.safeParse(output === undefined ? undefined : JSON.parse(output));
  return new Map(read.success ? Object.entries(read.data.budgets) : []);
}

const timeOf = (event: HistoryEvent | undefined): number => event?.timestamp?.getTime() ?? 0;

const END_EVENTS: ReadonlySet<string> = new Set([
  'ExecutionSucceeded',
  'ExecutionFailed',
  'ExecutionTimedOut',
  'ExecutionAborted',
]);

function endOf(history: ExecutionHistory): number | undefined {
  const last = history.at(-1);
  return last?.type && END_EVENTS.has(last.type) ? timeOf(last) : undefined;
}

const succeeded = (history: ExecutionHistory): boolean => history.at(-1)?.type === 'ExecutionSucceeded';

function errorOf(history: ExecutionHistory): string {
  const last = history.at(-1);
  if (endOf(history) === undefined || succeeded(history)) return '';
  return (
    last?.executionFailedEventDetails?.error ??
    last?.executionAbortedEventDetails?.error ??
    last?.executionTimedOutEventDetails?.error ??
    last?.type ??
    ''
  );
}
