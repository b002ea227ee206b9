import type { AdoptionRecord } from '../../functions/core/ledger/adoptions.ts';
import type { Demotion } from '../../functions/core/ledger/demotions.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import type { RefusalRecord } from '../../functions/core/ledger/refusals.ts';
import type { RetirementRecord } from '../../functions/core/ledger/retirements.ts';
import { evidenceInWords } from './adoption-report.ts';
import { counted, instant, table, targetGroupName, wrap } from './format.ts';
import { endsBy, type InstanceStatus, type RunStatus, type StatusReport } from './status-report.ts';

/** What the ledger holds, as a person reads it. */
export function describeStatus({
  runs,
  instances,
  holds,
  targetGroups,
  hooks,
  adoptions,
  demotions,
  retirements,
}: StatusReport): string {
  const sections = [
    section(
      ['live run', 'phase', 'began', 'ends by', 'go-ahead', 'instances', 'execution'],
      runs.map(runRow),
    ),
    section(['instance', 'claimed by', 'claim ends', 'traffic', 'to be put back'], instances.flatMap(rowsOf)),
    section(
      ['held instance', 'by', 'since', 'because'],
      instances.flatMap(({ instanceId, claims }) =>
        claims.flatMap(({ runId, fate }) =>
          fate?.how === 'held' ? [[instanceId, runId, instant(fate.since), fate.reason]] : [],
        ),
      ),
    ),
    section(
      ['Auto Scaling group', 'suspended', 'for'],
      holds.map(({ group, suspended, runs }) => [group, suspended.join(', ') || '-', runs.join(', ')]),
    ),
    section(
      ['target group', 'taken out', 'by'],
      targetGroups
        .filter(({ targets }) => targets > 0)
        .map(({ targetGroupArn, targets, runs }) => [
          targetGroupName(targetGroupArn),
          counted(targets, 'target'),
          runs.join(', '),
        ]),
    ),
    section(
      ['hook of', 'answered by', 'decided by'],
      hooks.map(({ deploymentId, deadline, executionArn }) => [
        deploymentId,
        instant(deadline),
        executionArn,
      ]),
    ),
    section(['Auto Scaling group', 'check', 'adoption', 'begun', 'evidence'], adoptions.map(adoptionRow)),
    demotionLines(demotions),
    section(
      ['retirement of', 'status', 'begun', 'interfaces', 'security groups', 'execution'],
      retirements.map(retirementRow),
    ),
  ].filter(lines => lines.length > 0);
  if (sections.length === 0) return 'The ledger holds nothing: no run is live.\n';
  return sections.map(lines => `${lines.join('\n')}\n`).join('\n');
}

function section(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : table([heads, ...rows], 'to the left');
}

const runRow = ({ runId, phase, owner, createdAt, deadline, goAheadAt, instances }: RunStatus): string[] => [
  runId,
  phase,
  instant(createdAt),
  instant(deadline),
  goAheadAt === undefined ? '-' : instant(goAheadAt),
  String(instances),
  nameOf(owner),
];

const adoptionRow = ({
  group,
  checkId,
  status,
  outcome,
  error,
  createdAt,
  evidence,
}: AdoptionRecord): string[] => [
  group,
  checkId ?? '-',
  status === 'ended' ? (error ?? outcome ?? 'failed') : status,
  instant(createdAt),
  evidence ? evidenceInWords(evidence) : '-',
];

/** Below the table why: the cause has the diagnosis. */
function demotionLines(demotions: readonly Demotion[]): string[] {
  const rows = demotions.map(({ checkId, status, at, groups, includedBy }) => [
    checkId,
    DEMOTIONS[status],
    instant(at),
    groups.join(', '),
    includedBy ?? '-',
  ]);
  return [
    ...section(
      ['check in a loop', 'loop breaker', 'since', 'Auto Scaling groups', 'included again by'],
      rows,
    ),
    ...demotions.flatMap(({ checkId, cause }) =>
      wrap(`${checkId}: ${cause}`, 98).map((line, index) => `${index === 0 ? '! ' : '  '}${line}`),
    ),
  ];
}

const DEMOTIONS: Readonly<Record<Demotion['status'], string>> = {
  demoted: 'demoted it',
  observed: 'observes it',
  over: 'found it well again',
};

const retirementRow = ({ subject, status, outcome, error, createdAt, plan, owner }: RetirementRecord) => [
  subject,
  status === 'ended' ? ((error || outcome) ?? 'failed') : status,
  instant(createdAt),
  plan.interfaceIds.join(', ') || '-',
  plan.groupIds.join(', ') || '-',
  nameOf(owner),
];

/** A row a claim; a record without a claim has one that says so. */
function rowsOf({ instanceId, claims, traffic, memberships, releasing }: InstanceStatus): string[][] {
  const groups = [...new Set(memberships.map(({ targetGroupArn }) => targetGroupName(targetGroupArn)))];
  const listed = claims.length > 0 ? claims : [undefined];
  return listed.map(claim => {
    const moves = claim !== undefined && traffic === claim.runId;
    return [
      instanceId,
      claim?.runId ?? '-',
      claim ? instant(claim.until) : '-',
      moves ? 'moved by it' : '-',
      moves && memberships.length > 0
        ? `${counted(memberships.length, 'target')} in ${groups.join(', ')}`
        : '-',
      ...(claim !== undefined && releasing === claim.runId ? ['is releasing'] : []),
    ];
  });
}

/** One run, or why there is none. `now` is in seconds since the epoch. */
export function describeRun(runId: string, known: RunRecord | RefusalRecord, now: number): string {
  if (!('plan' in known)) return `Run ${runId} was refused: ${known.error}\n${indented(known.cause)}`;
  const { status, phase, owner, createdAt, goAheadAt, endedAt, outcome, plan } = known;
  // A run whose policy holds nothing has a time in it once its undo has given back what might have been held.
  const heldUntil = known.request.policy.afterFailure === 'held' ? known.heldUntil : undefined;
  const facts = [
    ['status', status === 'live' ? `live, ${phase}` : `ended${outcome ? ` (${outcome})` : ''}`],
    ['began', instant(createdAt)],
    ...(goAheadAt === undefined ? [] : [['go-ahead', instant(goAheadAt)]]),
    endedAt === undefined ? ['ends by', instant(endsBy(known))] : ['ended', instant(endedAt)],
    ...(heldUntil === undefined
      ? []
      : [[heldUntil > now ? 'holds until' : 'held until', instant(heldUntil)]]),
    ['execution', owner],
    ...doings(known),
    ['instances', plan.instanceIds.join(', ')],
  ];
  const why = known.error ? `\n${known.error}\n${indented(known.cause ?? '')}` : '';
  return `${runId}\n${table(facts, 'to the left')
    .map(line => `  ${line}`)
    .join('\n')}\n${why}`;
}

/** What it does, or has done: an ended run holds nothing any more. */
function doings({ status, acted, plan }: RunRecord): string[][] {
  if (status === 'ended' && !acted) return [['did', 'nothing: it ended before its first act']];
  const [suppresses, drains, suspends] =
    status === 'live' ? ['suppresses', 'drains', 'suspends'] : ['suppressed', 'drained', 'suspended'];
  return [
    [suppresses, counted(plan.suppressing, 'instance')],
    [drains, counted(plan.draining, 'instance')],
    ...plan.holdings.map(({ group, mode, processes }) => [
      suspends,
      `${processes.join(', ')} of Auto Scaling group ${group}${mode === 'standby' ? ', its instances in Standby' : ''}`,
    ]),
  ];
}

const indented = (text: string): string =>
  wrap(text, 98)
    .map(line => `  ${line}\n`)
    .join('');

const nameOf = (executionArn: string): string => executionArn.slice(executionArn.lastIndexOf(':') + 1);
