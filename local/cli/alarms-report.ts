import { DescribeStateMachineCommand } from '@aws-sdk/client-sfn';
import { z } from 'zod';
import { type Monitoring, readMonitoring } from '../../functions/core/alarms/monitoring.ts';
import { alarmSettings } from '../../functions/core/alarms/settings.ts';
import { haveAlarms, reportedInstances, watchedGroups } from '../../functions/core/alarms/watched.ts';
import { alarmsWithPrefix } from '../../functions/core/aws/alarms.ts';
import { given, send } from '../../functions/core/aws/call.ts';
import { stepFunctions } from '../../functions/core/aws/clients.ts';
import { isAsDesired, isOurs } from '../../functions/core/domain/alarm-changes.ts';
import type { AlarmDefinition, ExistingAlarm } from '../../functions/core/domain/alarm-definition.ts';
import { subjectOf } from '../../functions/core/domain/alarm-names.ts';
import {
  type AlarmSettings,
  desiredAlarms,
  shapesOf,
  type WatchedGroup,
} from '../../functions/core/domain/alarms.ts';
import type { CheckQuotas } from '../../functions/core/domain/monitoring.ts';
import { ALARM_PRICES, ALARM_WRITES_PER_SECOND, ALARMS_PER_CALL } from '../../functions/core/limits.ts';
import { alarmParameters } from '../../functions/core/payloads.ts';
import { optInTag } from '../../functions/core/settings.ts';
import { UsageError } from './command.ts';

/** What `quiesce alarms --json` prints. */
export interface AlarmsReport extends Monitoring {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.alarms/1';
  /** Of the names of the stack's alarms. */
  readonly prefix: string;
  readonly kept: 'Enabled' | 'Disabled';
  readonly groups: readonly GroupReport[];
  readonly alarms: readonly AlarmReport[];
  /** Alarms of others under these names: they are left alone, and ours are missing there. */
  readonly foreign: readonly string[];
  /** How long the changes take at the least, at the pace of the account. */
  readonly changeSeconds: number;
  /** US dollars a month, of all that there should be. */
  readonly costPerMonth: number;
}

export interface GroupReport {
  /** Null for instances without an Auto Scaling group. */
  readonly name: string | null;
  readonly instances: number;
  readonly checks: number;
  readonly watchedBy: 'instance' | 'check';
}

export interface AlarmReport {
  readonly name: string;
  /** `keep`: it is as it should be. */
  readonly change: 'make' | 'change' | 'remove' | 'keep';
  /** Null while there is none. */
  readonly state: ExistingAlarm['state'] | null;
}

/** Compares the alarms that there are with those that there should be, as reconcile-alarms does. */
export async function reportAlarms(machineArn: string, quotas: CheckQuotas): Promise<AlarmsReport> {
  const { optInTagValue, alarms: parameters } = await parametersOf(machineArn);
  const settings = alarmSettings(parameters);
  const { prefix, kept } = settings;
  const tag = optInTag(optInTagValue);
  const [reported, existing, monitoring] = await Promise.all([
    reportedInstances(tag),
    alarmsWithPrefix(prefix),
    readMonitoring(tag, quotas),
  ]);
  const ours = existing.filter(alarm => isOurs(prefix, alarm));
  const groups = watchedGroups(reported, haveAlarms(prefix, ours));
  const foreign = existing
    .filter(alarm => !isOurs(prefix, alarm) && subjectOf(prefix, alarm.name))
    .map(({ name }) => name);
  const desired = desiredAlarms(groups, settings, foreign);
  const alarms = changesOf(ours, desired);
  const removed = alarms.filter(({ change }) => change === 'remove').length;
  return {
    format: 'quiesce.alarms/1',
    prefix,
    kept,
    groups: reportGroups(groups, settings),
    alarms,
    foreign,
    changeSeconds: Math.ceil(
      (alarms.filter(({ change }) => change === 'make' || change === 'change').length +
        Math.ceil(removed / ALARMS_PER_CALL)) /
        ALARM_WRITES_PER_SECOND,
    ),
    costPerMonth: costOf(desired, groups, settings),
    ...monitoring,
  };
}

function changesOf(ours: readonly ExistingAlarm[], desired: readonly AlarmDefinition[]): AlarmReport[] {
  const known = new Map(ours.map(alarm => [alarm.name, alarm]));
  const wanted = new Set(desired.map(({ name }) => name));
  return [
    ...desired.map((alarm): AlarmReport => {
      const there = known.get(alarm.name);
      const change = isAsDesired(there, alarm) ? 'keep' : there ? 'change' : 'make';
      return { name: alarm.name, state: there?.state ?? null, change };
    }),
    ...ours
      .filter(({ name }) => !wanted.has(name))
      .map(({ name, state }): AlarmReport => ({ name, state, change: 'remove' })),
  ];
}

function reportGroups(groups: readonly WatchedGroup[], settings: AlarmSettings): GroupReport[] {
  const { narrow, wide } = shapesOf(groups, settings);
  const report = ({ name, instances }: WatchedGroup, watchedBy: GroupReport['watchedBy']): GroupReport => ({
    name: name ?? null,
    instances: instances.length,
    checks: new Set(instances.flatMap(({ checks }) => checks.map(({ checkId }) => checkId))).size,
    watchedBy,
  });
  return [...narrow.map(group => report(group, 'instance')), ...wide.map(group => report(group, 'check'))];
}

/** A Metrics Insights alarm is paid for by the metrics that it analyses: here, those of the large groups. */
function costOf(
  desired: readonly AlarmDefinition[],
  groups: readonly WatchedGroup[],
  settings: AlarmSettings,
): number {
  const { wide } = shapesOf(groups, settings);
  const analysed = wide.reduce((sum, { instances }) => sum + instances.length, 0);
  return desired.reduce((sum, alarm) => {
    if (alarm.kind === 'composite') return sum + ALARM_PRICES.composite;
    return sum + ALARM_PRICES.metric * ('query' in alarm.watches ? analysed : 1);
  }, 0);
}

/**
 * The parameters of the stack, which the definition of reconcile-alarms carries.
 *
 * @throws UsageError when it is another machine
 */
async function parametersOf(stateMachineArn: string) {
  const action = 'states:DescribeStateMachine';
  const { definition } = await send(action, () =>
    stepFunctions().send(new DescribeStateMachineCommand({ stateMachineArn })),
  );
  const read = reconcileAlarms.safeParse(JSON.parse(given(definition, action, 'definition')));
  if (!read.success) throw new UsageError(`${stateMachineArn} is not reconcile-alarms of Quiesce.`);
  return read.data.States.Reconcile.Arguments.Payload;
}

/** Numbers are written as expressions. */
const inExpression = z
  .string()
  .transform(text => Number(/^\{%\s*(\d+)\s*%\}$/.exec(text)?.[1] ?? Number.NaN));

const payload = z.object({
  optInTagValue: z.string(),
  alarms: z.object({ instancesPerGroup: inExpression }).loose().pipe(alarmParameters),
});

const reconcileAlarms = z.object({
  States: z.object({ Reconcile: z.object({ Arguments: z.object({ Payload: payload }) }) }),
});
