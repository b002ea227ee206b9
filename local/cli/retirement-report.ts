import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import { readOrFaults } from '../../functions/core/faults.ts';
import {
  abandonedRetirement,
  retirementRequest,
  subjectOf,
} from '../../functions/core/retirement-request.ts';
import { plannedBudgets } from './budgets.ts';
import { type Ended, endOf } from './execution-history.ts';
import { ExecutionPhases } from './execution-phases.ts';
import { counted, list, wrap } from './format.ts';
import { type PhaseReport, phaseTable, reportPhases } from './phase-report.ts';

const planned = z.object({
  verdict: z.enum(['planned', 'nothing']),
  deletesCheck: z.boolean(),
  interfaceIds: z.array(z.string()),
  groupIds: z.array(z.string()),
  shared: z.array(z.object({ interfaceId: z.string(), checkIds: z.array(z.string()) })),
  usDollarsPerHour: z.number(),
});

/** What `quiesce retire --json` prints, and `quiesce report --json` of an execution of retire-check. */
export interface RetirementTold {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.retirement/1';
  /** The check, or the security groups where no check was named. */
  readonly subject: string;
  /** Is the check to stay, and only to be retired what it does not need? */
  readonly keepsCheck: boolean;
  /** Had it been started before? */
  readonly joined: boolean;
  readonly executionArn: string;
  readonly status: Ended['status'] | 'RUNNING';
  /** The named error and its sentence; empty unless it failed. */
  readonly error: string;
  readonly cause: string;
  /** What the plan has found; null when it was refused, or is not made yet. */
  readonly plan: z.output<typeof planned> | null;
  readonly phases: readonly PhaseReport[];
}

/** An execution of retire-check by its history. */
export interface RetirementHistory {
  readonly subject: string;
  readonly executionArn: string;
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  readonly joined: boolean;
  /** Where what still lasts is cut off, in milliseconds since the epoch. */
  readonly now: number;
}

/** What an execution of retire-check retires; undefined when the history is another machine's. */
export function retiredBy([first]: readonly HistoryEvent[]): string | undefined {
  const input = inputOf(first);
  const asked = readOrFaults(retirementRequest, input);
  if (!asked.faults) return subjectOf(asked.data);
  const resumed = readOrFaults(abandonedRetirement, input);
  return resumed.faults ? undefined : resumed.data.subject;
}

const inputOf = (first: HistoryEvent | undefined): unknown =>
  JSON.parse(first?.executionStartedEventDetails?.input ?? 'null');

export function tellRetirement(history: RetirementHistory): RetirementTold {
  const { subject, executionArn, events, joined, now } = history;
  const phases = new ExecutionPhases();
  for (const event of events) phases.hear(event);
  const last = events.at(-1);
  const ended = endOf(last);
  const startedAt = events[0]?.timestamp?.getTime() ?? 0;
  return {
    format: 'quiesce.retirement/1',
    subject,
    keepsCheck: Object(inputOf(events[0])).keepCheck === true,
    joined,
    executionArn,
    ...(ended ?? { status: 'RUNNING', error: '', cause: '' }),
    plan: events.map(planOf).find(plan => plan !== undefined) ?? null,
    phases: reportPhases(phases.all, plannedBudgets(events), {
      startedAt,
      now: ended ? (last?.timestamp?.getTime() ?? now) : now,
    }),
  };
}

/** What the plan answered, in the event that ends it. */
function planOf({ stateExitedEventDetails: exit }: HistoryEvent) {
  return exit?.name === 'Plan' ? planned.safeParse(JSON.parse(exit.output ?? 'null')).data : undefined;
}

const look = z.object({ reasons: z.array(z.string()) });

/** Of each event in turn: what the plan has found, and what is waited for whenever that has changed. */
export function whatIsWaitedFor(): (event: HistoryEvent) => readonly string[] {
  let known: readonly string[] = [];
  return event => {
    const plan = planOf(event);
    if (plan) return planInWords(plan, 'RUNNING');
    const { name, output } = event.stateExitedEventDetails ?? {};
    if (name !== 'ObserveLeft') return [];
    const { reasons } = look.parse(JSON.parse(output ?? 'null'));
    const news = reasons.filter(reason => !known.includes(reason));
    known = reasons;
    return news.map(reason => `waits: ${reason}`);
  };
}

/** A retirement as a person reads it. */
export function describeRetirement(told: RetirementTold): string {
  const { subject, status, error, cause, plan, phases } = told;
  const paragraphs = [
    error === ''
      ? wrap(`${subject}: ${status === 'RUNNING' ? 'is being retired' : outcomeOf(told)}`, 98)
      : [`${error}:`, ...wrap(cause, 98).map(line => `  ${line}`)],
    plan ? planInWords(plan, status) : [],
    phaseTable(phases),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `\n${lines.join('\n')}\n`)
    .join('');
}

function outcomeOf({ subject, plan, keepsCheck }: RetirementTold): string {
  if (plan?.verdict !== 'nothing') return 'retired';
  return subject.startsWith('asc-') && !keepsCheck
    ? 'nothing to retire, there is no such check: deleted before, or mistyped?'
    : 'nothing was left to retire';
}

const UNDONE = { gone: 'that it was to wait for', deleted: 'that it was to delete' };
const PLAN_WORDS: Readonly<Record<RetirementTold['status'], typeof UNDONE>> = {
  RUNNING: { gone: 'to wait for', deleted: 'to delete' },
  SUCCEEDED: { gone: 'gone', deleted: 'deleted' },
  FAILED: UNDONE,
  TIMED_OUT: UNDONE,
  ABORTED: UNDONE,
};

/** While it goes on what is to come, and at its end what has been. */
function planInWords(
  { interfaceIds, groupIds, shared, usDollarsPerHour }: z.output<typeof planned>,
  status: RetirementTold['status'],
): string[] {
  const { gone, deleted } = PLAN_WORDS[status];
  const cost = `${usDollarsPerHour.toFixed(2)} US dollars an hour`;
  return [
    ...(interfaceIds.length > 0
      ? [`${counted(interfaceIds.length, 'interface')} ${gone}, ${cost}: ${list(interfaceIds)}`]
      : []),
    ...(groupIds.length > 0
      ? [`${counted(groupIds.length, 'security group')} ${deleted}: ${list(groupIds)}`]
      : []),
    ...shared.map(
      one =>
        `${one.interfaceId} stays: ${list(one.checkIds)} ${one.checkIds.length === 1 ? 'needs' : 'need'} it`,
    ),
  ];
}
