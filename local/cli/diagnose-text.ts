import type { Diagnosis, Finding } from '../../functions/core/domain/diagnosis.ts';
import { togetherOf } from '../../functions/core/domain/diagnosis-words.ts';
import type {
  ObservedFleet,
  ObservedGroup,
  ObservedInstance,
} from '../../functions/core/domain/observed-fleet.ts';
import { counted, table, wrap } from './format.ts';

const WIDTH = 100;

/** A diagnosis as a person reads it: what was seen of each instance, what is wrong, and what is not. */
export function describeDiagnosis(fleet: ObservedFleet, diagnosis: Diagnosis): string {
  const { findings, remarks, well } = diagnosis;
  const paragraphs = [
    ...(fleet.instances.length > 0
      ? [table([['instance', 'zone', 'checks', 'targets'], ...fleet.instances.map(row)], 'to the left')]
      : []),
    zoneTable(fleet.groups),
    ...findings.map(describeFinding),
    togetherOf(diagnosis, fleet.groups).flatMap(sentence => wrap(sentence, WIDTH)),
    remarks.flatMap(remark => wrap(remark, WIDTH)),
    [
      well
        ? `Nothing is wrong with ${counted(fleet.instances.length, 'instance')}.`
        : `${counted(findings.length, 'thing')} ${findings.length === 1 ? 'is' : 'are'} wrong.`,
    ],
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

/** Where the targets that load balancers send requests to are. */
function zoneTable(groups: readonly ObservedGroup[]): string[] {
  const rows = groups
    .filter(({ serves }) => serves)
    .flatMap(({ name, zones }) =>
      zones.map(({ zone, registered, healthy, receiving }) => [
        name,
        zone,
        ...[registered, healthy, receiving].map(String),
      ]),
    );
  return rows.length === 0
    ? []
    : table([['target group', 'zone', 'registered', 'healthy', 'receiving'], ...rows], 'to the left');
}

function row({ instanceId, zone, checks, targets, suppressed, notInService }: ObservedInstance): string[] {
  const seen = checks.map(({ checkId, status, code, statusCode }) => {
    const why =
      code === undefined || code === 'ResponseCodeMatched' ? '' : ` (${code}${answered(statusCode)})`;
    return `${checkId} ${status}${why}`;
  });
  const listed = targets.map(
    ({ group, port, state }) => `${group}${port === undefined ? '' : `:${port}`} ${state}`,
  );
  const standing = [
    ...(notInService === undefined ? [] : [notInService]),
    ...(suppressed ? ['suppressed'] : []),
  ];
  return [instanceId, zone, [...seen, ...standing].join(', ') || '-', listed.join(', ') || '-'];
}

/** On connection errors the status code is 0 or absent, and means nothing. */
const answered = (statusCode: number | undefined): string => (statusCode ? ` ${statusCode}` : '');

function describeFinding({ symptom, summary, evidence }: Finding): string[] {
  return [
    `Wrong: ${symptom}`,
    ...wrap(summary, WIDTH - 2).map(line => `  ${line}`),
    ...evidence.flatMap(sentence =>
      wrap(sentence, WIDTH - 4).map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`),
    ),
  ];
}
