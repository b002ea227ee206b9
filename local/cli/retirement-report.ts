import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import { counted, list, wrap } from './format.ts';
import { phaseTable } from './phase-report.ts';
import type { RunReport } from './run-machine.ts';

const planned = z.object({
  verdict: z.enum(['planned', 'nothing']),
  deletesCheck: z.boolean(),
  interfaceIds: z.array(z.string()),
  groupIds: z.array(z.string()),
  shared: z.array(z.object({ interfaceId: z.string(), checkIds: z.array(z.string()) })),
  usDollarsPerHour: z.number(),
});

/** What `quiesce retire --json` prints. */
export interface RetirementTold extends Omit<RunReport, 'format' | 'runId'> {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.retirement/1';
  /** The check, or the security groups where no check was named. */
  readonly subject: string;
  /** What the plan has found; null when it was refused. */
  readonly plan: z.output<typeof planned> | null;
}

export function tellRetirement(
  { format: _, runId: subject, ...report }: RunReport,
  events: readonly HistoryEvent[],
): RetirementTold {
  const plan = events.find(({ stateExitedEventDetails: exit }) => exit?.name === 'Plan');
  const read = planned.safeParse(JSON.parse(plan?.stateExitedEventDetails?.output ?? 'null'));
  return { format: 'quiesce.retirement/1', subject, plan: read.data ?? null, ...report };
}

/** A retirement as a person reads it. */
export function describeRetirement({ subject, status, error, cause, plan, phases }: RetirementTold): string {
  const paragraphs = [
    status === 'SUCCEEDED'
      ? [`${subject}: ${plan?.verdict === 'nothing' ? 'nothing was left to retire' : 'retired'}`]
      : [`${error}:`, ...wrap(cause, 98).map(line => `  ${line}`)],
    plan ? planInWords(plan) : [],
    phaseTable(phases),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `\n${lines.join('\n')}\n`)
    .join('');
}

const planInWords = ({ interfaceIds, groupIds, shared, usDollarsPerHour }: z.output<typeof planned>) => [
  ...(interfaceIds.length > 0
    ? [
        `${counted(interfaceIds.length, 'interface')} to wait for, ${usDollarsPerHour.toFixed(2)} US dollars an hour: ${list(interfaceIds)}`,
      ]
    : []),
  ...(groupIds.length > 0
    ? [`${counted(groupIds.length, 'security group')} to delete: ${list(groupIds)}`]
    : []),
  ...shared.map(
    one =>
      `${one.interfaceId} stays: ${list(one.checkIds)} ${one.checkIds.length === 1 ? 'needs' : 'need'} it`,
  ),
];
