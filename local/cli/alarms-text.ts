import { percentOf, type QuotaUsage, type Target } from '../../functions/core/domain/monitoring.ts';
import type { AlarmReport, AlarmsReport } from './alarms-report.ts';
import { counted, grouped, hours, list, table, wrap } from './format.ts';

const WIDTH = 98;
/** A group of fifty instances has hundreds of alarms: `--json` has all of them. */
const SHOWN = 40;

/** The alarms as a person reads them. */
export function describeAlarms(report: AlarmsReport): string {
  const { groups, alarms, foreign, quotas, unmonitored } = report;
  const changes = alarms.filter(({ change }) => change !== 'keep');
  const ringing = alarms.filter(({ state }) => state === 'ALARM');
  const paragraphs = [
    wrap(summaryOf(report), WIDTH),
    groups.length === 0
      ? ['No check with the tag reports on an instance.']
      : table([
          ['group', 'instances', 'checks', 'watched by'],
          ...groups.map(({ name, instances, checks, watchedBy }) => [
            name ?? '(no group)',
            grouped(instances),
            grouped(checks),
            watchedBy,
          ]),
        ]),
    ringing.length === 0 ? ['Nothing rings.'] : alarmTable('rings', ringing),
    alarmTable('change', changes),
    foreign.map(name => `! ${name} is somebody else's: it is left alone, and ours is missing.`),
    quotaTable(quotas),
    quotas.filter(isTight).map(quotaSentence),
    ...(unmonitored.length > 0 ? [wrap(unmonitoredSentence(unmonitored), WIDTH)] : []),
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `${lines.join('\n')}\n`)
    .join('\n');
}

function summaryOf({ prefix, kept, alarms, costPerMonth, changeSeconds }: AlarmsReport): string {
  const count = (change: AlarmReport['change']) => alarms.filter(one => one.change === change).length;
  const wanted = alarms.length - count('remove');
  const todo = (['make', 'change', 'remove'] as const).filter(change => count(change) > 0);
  const said =
    todo.length === 0
      ? 'nothing is to be changed'
      : `${todo.map(change => `${grouped(count(change))} to ${change}`).join(', ')}, in ${hours(changeSeconds * 1000)} at the least`;
  const cost = `about ${costPerMonth.toFixed(2)} US dollars a month`;
  const state = kept === 'Disabled' ? ' The stack keeps none: its parameter Alarms is Disabled.' : '';
  return `${prefix}*: ${counted(wanted, 'alarm')} there should be, ${cost}; ${said}.${state}`;
}

function alarmTable(what: 'rings' | 'change', alarms: readonly AlarmReport[]): string[] {
  const rows = alarms
    .slice(0, SHOWN)
    .map(({ name, change, state }) => [what === 'rings' ? 'rings' : change, name, state ?? 'not there yet']);
  const more = alarms.length - rows.length;
  return [...table(rows, 'to the left'), ...(more > 0 ? [`and ${grouped(more)} more: --json has them`] : [])];
}

const quotaTable = (quotas: readonly QuotaUsage[]): string[] =>
  table([
    ['quota', 'used', 'of'],
    ...quotas.map(({ quota, used, of }) => [QUOTAS[quota], grouped(used), grouped(of)]),
  ]);

/** As QuotaAlarm: four fifths. */
const isTight = (usage: QuotaUsage): boolean => percentOf(usage) >= 80;

const quotaSentence = ({ quota, used, of }: QuotaUsage): string =>
  `! ${grouped(used)} of ${grouped(of)} ${QUOTAS[quota]} ${used > of ? 'are more than the quota: what is beyond is not monitored, or the quota given is wrong' : 'are used'}.`;

const QUOTAS: Readonly<Record<QuotaUsage['quota'], string>> = {
  checks: 'checks',
  associations: 'associations',
  associationsPerCheck: 'associations of a check',
  targets: 'targets',
};

function unmonitoredSentence(unmonitored: readonly Target[]): string {
  const named = unmonitored.map(({ instanceId, checkId }) => `${instanceId} under ${checkId}`);
  return `! EC2 reports nothing on ${counted(unmonitored.length, 'target')}: ${list(named, 10)}. Nobody replaces what fails there: the quota of targets is used up. Ask AWS for a higher one, or disassociate other checks.`;
}
