import { grouped, hours, list, table, wrap } from './format.ts';
import { phaseTable } from './phase-report.ts';
import type { BatchReport, DeploymentReport, SimulationReport } from './simulation-report.ts';

/** The end of a simulation as a person reads it, in lines of at most `width` columns. */
export function describeSimulation(report: SimulationReport, width: number): string {
  const { withQuiesce, without, invariants } = report;
  const asked = report[report.asked];
  const paragraphs = [
    ...asked.batches.map(describeBatch),
    describeOutcome(asked, width),
    table([
      ['', 'with Quiesce', 'without'],
      ['outcome', withQuiesce.outcome, without.outcome],
      ['replaced instances', grouped(withQuiesce.replacedInstances), grouped(without.replacedInstances)],
      ['failed requests', grouped(withQuiesce.requestsFailed), grouped(without.requestsFailed)],
      ['minutes', withQuiesce.minutes.toFixed(1), without.minutes.toFixed(1)],
    ]),
    [
      `Blind instance-minutes with Quiesce: ${withQuiesce.blindInstanceMinutes.toFixed(1)} (suppressed, and nobody at work)`,
      `Seed: ${report.seed}`,
      ...describeInvariants(invariants, width),
    ],
    report.passed ? [] : ['Not as expected:', ...report.differences.map(difference => `  ${difference}`)],
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `\n${lines.join('\n')}\n`)
    .join('');
}

function describeBatch({ runId, instanceIds, phases }: BatchReport): string[] {
  const title = `${runId}: ${list(instanceIds)}`;
  return [title, ...phaseTable(phases)];
}

function describeOutcome({ outcome, error, cause }: DeploymentReport, width: number): string[] {
  if (outcome === 'succeeded') return [];
  return [
    `The deployment ${outcome === 'refused' ? 'was refused' : 'failed'}: ${error}`,
    ...wrap(cause, width - 2).map(line => `  ${line}`),
  ];
}

function describeInvariants(
  { checkedInstants, violations }: SimulationReport['invariants'],
  width: number,
): string[] {
  const checked = `checked at ${grouped(checkedInstants)} instants`;
  if (violations.length === 0) return [`Invariants: all 7 held, ${checked}`];
  const told = violations.flatMap(({ atSeconds, invariant, what }) => {
    const place = `  +${hours(atSeconds * 1000)}  ${invariant}. `;
    return wrap(what, width - place.length).map((line, index) =>
      index === 0 ? place + line : ' '.repeat(place.length) + line,
    );
  });
  return [`Invariants: ${violations.length} violations, ${checked}`, ...told];
}
