import { costLines } from './execution-cost.ts';
import { wrap } from './format.ts';
import { phaseTable } from './phase-report.ts';
import type { RunTold } from './run-report.ts';

/** A run as a person reads it. */
export function describeReport(report: RunTold): string {
  const { runId, outcome, startedAt, executions, instanceIds, held, phases, cost } = report;
  const paragraphs = [
    [
      `Run ${runId}: ${outcome.status}, begun ${startedAt.slice(0, 19).replace('T', ' ')} UTC`,
      ...executions.map(({ executionArn, status }) => `  ${executionArn} ${status}`),
      ...(instanceIds.length > 0 ? wrap(instanceIds.join(', '), 98).map(line => `  ${line}`) : []),
    ],
    outcome.error === '' ? [] : [`${outcome.error}:`, ...wrap(outcome.cause, 98).map(line => `  ${line}`)],
    phaseTable(phases),
    held.map(
      ({ group, processes }) => `Auto Scaling group ${group}: ${processes.join(', ')} were suspended.`,
    ),
    costLines(cost),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}
