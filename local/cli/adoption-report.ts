import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import type { MonthlyCost } from '../../functions/core/domain/precheck.ts';
import type { AdoptionEvidence, AdoptionRecord } from '../../functions/core/ledger/adoptions.ts';
import { plannedBudgets } from './budgets.ts';
import { costLines, type ExecutionCost, executionCost } from './execution-cost.ts';
import { type Ended, endOf } from './execution-history.ts';
import { ExecutionPhases } from './execution-phases.ts';
import { counted, instant, wrap } from './format.ts';
import { type PhaseReport, phaseTable, reportPhases } from './phase-report.ts';

/** What `quiesce adopt --json` prints, and `quiesce report --json` of an execution of promote-check. */
export interface AdoptionTold {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.adoption/1';
  readonly autoScalingGroupName: string;
  readonly executionArn: string;
  readonly status: Ended['status'] | 'RUNNING';
  /** The named error and its sentence; empty unless it failed. */
  readonly error: string;
  readonly cause: string;
  /** Null while it is not known: the execution's output and the ledger's record name it. */
  readonly checkId: string | null;
  /** Why the check was included; null when it was not, or when only the ledger's record could tell. */
  readonly evidence: AdoptionEvidence | null;
  /** What the check costs in a month at the most; null until the plan is made. */
  readonly monthlyCost: MonthlyCost | null;
  /** What the plan found that is no reason to refuse it. */
  readonly warnings: readonly string[];
  /** ISO 8601. */
  readonly startedAt: string;
  readonly phases: readonly PhaseReport[];
  readonly cost: ExecutionCost;
}

const started = z.object({ autoScalingGroupName: z.string(), runId: z.never().optional() });

const concluded = z.object({
  checkId: z.string(),
  evidence: z.object({ instances: z.number(), evaluations: z.number(), evaluatedAt: z.number() }),
});

const planned = z.object({
  cost: z.object({ interfaces: z.number(), metrics: z.number(), usDollars: z.number() }),
  warnings: z.array(z.string()),
  verdict: z.literal('planned'),
});

/** The Auto Scaling group of an execution of promote-check; undefined when the history is another machine's. */
export function groupOf([first]: readonly HistoryEvent[]): string | undefined {
  const input = JSON.parse(first?.executionStartedEventDetails?.input ?? 'null');
  return started.safeParse(input).data?.autoScalingGroupName;
}

/** An execution of promote-check by its history. */
export interface AdoptionHistory {
  readonly executionArn: string;
  readonly autoScalingGroupName: string;
  readonly events: readonly HistoryEvent[];
  /** The group's latest adoption: it counts when it is this execution's. */
  readonly record?: AdoptionRecord | undefined;
  /** Where what still lasts is cut off, in milliseconds since the epoch. */
  readonly now: number;
}

export function tellAdoption(history: AdoptionHistory): AdoptionTold {
  const { executionArn, autoScalingGroupName, events, record, now } = history;
  const last = events.at(-1);
  const phases = new ExecutionPhases();
  for (const event of events) phases.hear(event);
  const startedAt = events[0]?.timestamp?.getTime() ?? 0;
  const ended = endOf(last);
  const output = concluded.safeParse(JSON.parse(last?.executionSucceededEventDetails?.output ?? 'null'));
  const known = output.data ?? (record?.owner === executionArn ? record : undefined);
  const plan = events.find(({ stateExitedEventDetails: exit }) => exit?.name === 'Plan');
  const { cost, warnings } =
    planned.safeParse(JSON.parse(plan?.stateExitedEventDetails?.output ?? 'null')).data ?? {};
  return {
    format: 'quiesce.adoption/1',
    autoScalingGroupName,
    executionArn,
    ...(ended ?? { status: 'RUNNING', error: '', cause: '' }),
    checkId: known?.checkId ?? null,
    evidence: known?.evidence ?? null,
    monthlyCost: cost ?? null,
    warnings: warnings ?? [],
    startedAt: new Date(startedAt).toISOString(),
    phases: reportPhases(phases.all, plannedBudgets(events), {
      startedAt,
      now: ended ? (last?.timestamp?.getTime() ?? now) : now,
    }),
    cost: executionCost([events]),
  };
}

/** An adoption as a person reads it. */
export function describeAdoption(told: AdoptionTold): string {
  const {
    autoScalingGroupName,
    status,
    startedAt,
    executionArn,
    error,
    cause,
    checkId,
    evidence,
    monthlyCost,
    warnings,
    phases,
    cost,
  } = told;
  const paragraphs = [
    [
      `${checkId ?? 'A check'} and Auto Scaling group ${autoScalingGroupName}: ${OUTCOMES[status]}, begun ${startedAt.slice(0, 19).replace('T', ' ')} UTC`,
      `  ${executionArn}`,
      ...(evidence ? [`  ${evidenceInWords(evidence)}`] : []),
      ...(monthlyCost ? [`  ${costInWords(monthlyCost)}`] : []),
    ],
    warnings.flatMap(warning =>
      wrap(warning, 98).map((line, index) => `${index === 0 ? '! ' : '  '}${line}`),
    ),
    error === '' ? [] : [`${error}:`, ...wrap(cause, 98).map(line => `  ${line}`)],
    phaseTable(phases),
    costLines(cost),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

const costInWords = ({ interfaces, metrics, usDollars }: MonthlyCost): string =>
  `at most ${usDollars.toFixed(2)} US dollars a month: ${counted(interfaces, 'interface')}, ${counted(metrics, 'metric')}`;

const OUTCOMES: Readonly<Record<AdoptionTold['status'], string>> = {
  RUNNING: 'it is being adopted',
  SUCCEEDED: 'adopted, included and watched',
  FAILED: 'not adopted',
  TIMED_OUT: 'timed out, and is undone',
  ABORTED: 'stopped, and is undone',
};

/** Why a check was included. */
export const evidenceInWords = ({ instances, evaluations, evaluatedAt }: AdoptionEvidence): string =>
  `${counted(instances, 'instance')} passed ${counted(evaluations, 'evaluation')} in a row, the last at ${instant(evaluatedAt / 1000)}`;
