import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import type { Hold, Outcome } from '../timeline/data.ts';
import { plannedBudgets } from './budgets.ts';
import { type ExecutionCost, executionCost } from './execution-cost.ts';
import { type Ended, endOf } from './execution-history.ts';
import { ExecutionPhases } from './execution-phases.ts';
import { type PhaseReport, reportPhases } from './phase-report.ts';
import type { Phase } from './phases.ts';

/** One execution of a run, as GetExecutionHistory tells it. */
export interface ToldExecution {
  readonly executionArn: string;
  readonly phase: 'before' | 'after';
  readonly runId: string;
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  /** Undefined while it runs. */
  readonly ended: Ended | undefined;
  /** The instances, where the request names them. */
  readonly instanceIds: readonly string[];
}

/** What `quiesce report --json` prints. */
export interface RunTold {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.report/1';
  readonly runId: string;
  readonly outcome: Outcome;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly executions: readonly {
    readonly executionArn: string;
    readonly status: Ended['status'] | 'RUNNING';
    readonly startedAt: string;
  }[];
  /** Empty when neither the request nor the ledger names them. */
  readonly instanceIds: readonly string[];
  /** Auto Scaling groups whose processes stood still; known from the ledger. */
  readonly held: readonly Pick<Hold, 'group' | 'processes'>[];
  readonly phases: readonly PhaseReport[];
  readonly cost: ExecutionCost;
}

/** @returns undefined when the history is not one of before-deploy or after-deploy */
export function tellExecution(
  executionArn: string,
  events: readonly HistoryEvent[],
): ToldExecution | undefined {
  const input = z
    .object({
      runId: z.string(),
      fleet: z
        .object({ instanceIds: z.array(z.string()) })
        .optional()
        .catch(undefined),
    })
    .safeParse(JSON.parse(events[0]?.executionStartedEventDetails?.input ?? '{}'));
  const first = events.find(
    event =>
      event.stateEnteredEventDetails?.name === 'Plan' || event.stateEnteredEventDetails?.name === 'Resume',
  );
  if (!input.success || !first) return undefined;
  const last = events.at(-1);
  const ended = endOf(last);
  return {
    executionArn,
    phase: first.stateEnteredEventDetails?.name === 'Plan' ? 'before' : 'after',
    runId: input.data.runId,
    events,
    startedAt: timeOf(events[0]),
    endedAt: ended && timeOf(last),
    ended,
    instanceIds: input.data.fleet?.instanceIds ?? [],
  };
}

/**
 * @param executions of one run: before-deploy, after-deploy or both, in this order
 * @param now where what still lasts is cut off, in milliseconds since the epoch
 */
export function reportOnRun(
  executions: readonly [ToldExecution, ...ToldExecution[]],
  record: RunRecord | undefined,
  now: number,
): RunTold {
  const [first] = executions;
  const { startedAt } = first;
  const histories = executions.map(({ events }) => events);
  const budgets = executions.map(({ events }) => plannedBudgets(events)).find(one => one !== undefined);
  return {
    format: 'quiesce.report/1',
    runId: first.runId,
    outcome: outcomeOf(executions, record),
    startedAt: new Date(startedAt).toISOString(),
    executions: executions.map(one => ({
      executionArn: one.executionArn,
      status: one.ended?.status ?? 'RUNNING',
      startedAt: new Date(one.startedAt).toISOString(),
    })),
    instanceIds: record?.plan.instanceIds ?? first.instanceIds,
    held: (record?.plan.holdings ?? []).map(({ group, processes }) => ({ group, processes })),
    phases: reportPhases(phasesOf(executions, endOfRun(record)), budgets, { startedAt, now }),
    cost: executionCost(histories),
  };
}

const timeOf = (event: HistoryEvent | undefined): number => event?.timestamp?.getTime() ?? 0;

/** When the ledger says that the run ended, in milliseconds since the epoch. */
const endOfRun = (record: RunRecord | undefined): number | undefined =>
  record?.endedAt === undefined ? undefined : record.endedAt * 1000;

/**
 * A run that fails before its go-ahead is refused; one with a go-ahead goes on until after-deploy has ended, or until the ledger
 * says that it was undone.
 */
function outcomeOf(executions: readonly ToldExecution[], record: RunRecord | undefined): Outcome {
  const last = executions.at(-1);
  if (last?.phase === 'before' && last.ended?.status === 'SUCCEEDED' && record?.outcome === 'failed')
    return { status: 'failed', error: record.error ?? '', cause: record.cause ?? '' };
  const { status, error, cause } = last?.ended ?? { status: 'RUNNING', error: '', cause: '' };
  if (status === 'RUNNING') return { status: 'running', error, cause };
  if (status !== 'SUCCEEDED')
    return { status: last?.phase === 'before' ? 'refused' : 'failed', error, cause };
  return { status: last?.phase === 'before' ? 'running' : 'succeeded', error, cause };
}

/** The phases of both executions, and the deployment between them. */
function phasesOf(executions: readonly ToldExecution[], runEndedAt: number | undefined): Phase[] {
  const [before, after] = executions.map(({ events }) => {
    const phases = new ExecutionPhases();
    for (const event of events) phases.hear(event);
    return phases.all;
  });
  const [first, second] = executions;
  const goAheadAt =
    first?.phase === 'before' && first.ended?.status === 'SUCCEEDED' ? first.endedAt : undefined;
  const deploying: Phase[] =
    goAheadAt === undefined
      ? []
      : [{ name: 'deploying', began: goAheadAt, ended: second?.startedAt ?? runEndedAt }];
  return [...(before ?? []), ...deploying, ...(after ?? [])];
}
