import type { Budgets } from '../../functions/core/domain/budgets.ts';
import type { Member } from '../../functions/core/domain/fleet.ts';
import type { PlannedGroup } from '../../functions/core/domain/plan.ts';
import { counted, hours, instant, table, targetGroupName, wrap } from './format.ts';
import type { Blindness, NamedRefusal, PlanFacts, PlanReport } from './plan-report.ts';
import { hanging } from './timing-text.ts';

const WIDTH = 100;

/** A plan as a person reads it. */
export function describePlan({ runId, ledger, stack, refusals, plan }: PlanReport): string {
  const paragraphs = [
    [
      ledger === null ? NO_LEDGER : `Run ${runId}, with what the ledger ${ledger} knows of other runs.`,
      stack === null
        ? NO_STACK
        : `Where the request says nothing: the stack's DefaultPolicy ${stack.defaultPolicy}.`,
    ],
    ...(plan ? describeFacts(plan) : []),
    ...refusals.map(describeRefusal),
    ...(refusals.length === 0 ? [['The run would begin.']] : []),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

const NO_LEDGER = 'No ledger was named (--table): planned as if there were no other runs and no zone event.';

const NO_STACK =
  "No stack was named (--machine): planned with Quiesce's own policy where the request says nothing.";

function describeFacts(plan: PlanFacts): string[][] {
  return [
    table(
      [
        ['instance', 'zone', 'group', 'suppression', 'checks', 'is taken out of'],
        ...plan.members.map(memberRow),
      ],
      'to the left',
    ),
    plan.bystanders.map(({ instanceId, reason }) => `${instanceId} is left alone: it ${reason}.`),
    groupTable(plan.targetGroups),
    plan.holdings.map(({ group, mode, processes }) =>
      mode === 'hold'
        ? `Auto Scaling group ${group}: ${processes.join(', ')} are suspended meanwhile.`
        : `Auto Scaling group ${group}: its instances are in Standby, and ${processes.join(', ')} are suspended.`,
    ),
    budgetTable(plan.budgets),
    describeBlindness(plan.blindness),
    plan.remarks.flatMap(remark => wrap(remark, WIDTH)),
    plan.contradictions.flatMap(hanging),
  ];
}

function memberRow(member: Member): string[] {
  const { includedChecks, excludedChecks, memberships } = member;
  const checks = [
    ...(includedChecks.length > 0 ? [`${includedChecks.length} included`] : []),
    ...(excludedChecks.length > 0 ? [`${excludedChecks.length} excluded`] : []),
  ];
  const targets = memberships.map(
    ({ targetGroupArn, target }) =>
      `${targetGroupName(targetGroupArn)}${target.port === undefined ? '' : `:${target.port}`}`,
  );
  return [
    member.instanceId,
    member.zone,
    member.autoScalingGroup ?? '-',
    suppressionOf(member),
    checks.join(', ') || 'none',
    targets.join(', ') || '-',
  ];
}

function suppressionOf({ suppression, othersUntil }: Member): string {
  switch (suppression) {
    case 'ours':
      return 'for the run';
    case 'others':
      return othersUntil === undefined ? "somebody else's" : `somebody else's until ${instant(othersUntil)}`;
    case 'none':
      return 'none';
  }
}

function groupTable(groups: readonly PlannedGroup[]): string[] {
  if (groups.length === 0) return [];
  const rows = groups.map(({ name, targetType, deregistrationDelaySeconds, floor, serves }) => [
    name,
    targetType,
    hours(deregistrationDelaySeconds * 1000),
    serves
      ? `${floor.minHealthyPercent} % of ${floor.crossZone ? 'all zones' : 'each zone'}`
      : 'none: serves nothing',
  ]);
  return table([['target group', 'targets', 'drains for', 'stays in traffic'], ...rows], 'to the left');
}

const BUDGETS: readonly (readonly [keyof Budgets, string])[] = [
  ['lead', 'the suppression spreads'],
  ['traffic', 'the floors permit, the targets drain'],
  ['before', 'before-deploy, to the go-ahead'],
  ['deployment', 'the deployment itself'],
  ['ready', 'the checks pass again'],
  ['inService', 'the targets are healthy again'],
  ['readyAgain', 'the checks pass under traffic'],
  ['release', 'the release spreads'],
  ['after', 'after-deploy'],
  ['undo', 'what was done is undone, if it fails'],
  ['whole', 'before-deploy, deployment and after-deploy'],
];

function budgetTable(budgets: Budgets): string[] {
  const rows = BUDGETS.map(([name, about]) => [name, hours(budgets[name] * 1000), about]);
  return table([['budget', 'at most', 'for'], ...rows], 'to the left');
}

function describeBlindness(blindness: Blindness): string[] {
  const { instances, suppressedInstanceMinutes, blindInstanceMinutes } = blindness;
  if (instances === 0) return ['Blindness: none, for nothing is suppressed.'];
  return wrap(
    `Blindness: ${counted(instances, 'instance')} suppressed for at most ${suppressedInstanceMinutes.toFixed(0)} instance-minutes, ${blindInstanceMinutes.toFixed(0)} of them while nobody deploys. A second wave costs as much again.`,
    WIDTH,
  );
}

const describeRefusal = ({ error, cause }: NamedRefusal): string[] => [
  `Refused: ${error}`,
  ...wrap(cause, WIDTH - 2).map(line => `  ${line}`),
];
