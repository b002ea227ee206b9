import type { MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { alarmTime, type Reason } from './alarm-reasons.ts';
import type { AlarmSettings, MetricAlarmSettings } from './alarm-settings.ts';
import type { AlarmState } from './alarm-verdict.ts';
import type { EventDetail, ServiceEvent } from './neighbours.ts';

/** A state that an alarm, or one contributor of it, has entered. `at` is in milliseconds. */
export interface EnteredState extends Reason {
  readonly value: AlarmState;
  readonly at: number;
}

/** One of the time series of an alarm that watches several. */
export interface ContributorName {
  readonly id: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface StateChange {
  readonly arn: string;
  readonly settings: AlarmSettings;
  readonly previous: EnteredState;
  readonly state: EnteredState;
  /** Whose state it is, when it is not the whole alarm's. */
  readonly contributor: ContributorName | undefined;
}

/** What an action brings to its target, which picks the form that is its own. */
export interface AlarmAction {
  /** The topic or function. */
  readonly arn: string;
  readonly alarmArn: string;
  /** The event that a function gets. */
  readonly event: EventDetail;
  /** What is published to a topic; the message as JSON. */
  readonly notification: { readonly subject: string; readonly message: EventDetail };
}

interface Place {
  readonly accountId: string;
  readonly region: string;
}

/** The event that EventBridge gets. */
export const stateChangeEvent = (change: StateChange): ServiceEvent => ({
  source: 'aws.cloudwatch',
  'detail-type': change.contributor
    ? 'CloudWatch Alarm Contributor State Change'
    : 'CloudWatch Alarm State Change',
  resources: [change.arn],
  detail: alarmData(change),
});

export function actionOf(target: string, change: StateChange, { accountId, region }: Place): AlarmAction {
  const { settings, state, previous, arn, contributor } = change;
  return {
    arn: target,
    alarmArn: arn,
    event: {
      source: 'aws.cloudwatch',
      alarmArn: arn,
      accountId,
      time: alarmTime(state.at),
      region,
      alarmData: alarmData(change),
    },
    notification: {
      // SNS takes no longer one.
      subject: `${state.value}: "${settings.name}" in ${region}`.slice(0, 100),
      message: {
        AlarmName: settings.name,
        AlarmDescription: settings.description ?? null,
        AWSAccountId: accountId,
        NewStateValue: state.value,
        NewStateReason: state.reason,
        StateChangeTime: alarmTime(state.at),
        Region: region,
        AlarmArn: arn,
        OldStateValue: previous.value,
        ...(contributor && {
          AlarmContributorId: contributor.id,
          AlarmContributorAttributes: contributor.attributes,
        }),
        ...(settings.kind === 'metric'
          ? { Trigger: triggerOf(settings) }
          : { AlarmRule: settings.input.AlarmRule ?? '' }),
      },
    },
  };
}

function alarmData({ settings, state, previous, contributor }: StateChange): EventDetail {
  return {
    alarmName: settings.name,
    ...(contributor && { alarmContributor: { id: contributor.id, attributes: contributor.attributes } }),
    state: written(state),
    // Documented examples of contributors have no previous state.
    ...(!contributor && { previousState: written(previous) }),
    configuration: configurationOf(settings),
  };
}

const written = ({ value, reason, data, at }: EnteredState): EventDetail => ({
  value,
  reason,
  ...(data !== undefined && { reasonData: data }),
  timestamp: alarmTime(at),
});

function configurationOf(settings: AlarmSettings): EventDetail {
  const description = settings.description === undefined ? {} : { description: settings.description };
  if (settings.kind === 'composite') return { ...description, alarmRule: settings.input.AlarmRule ?? '' };
  return { ...description, metrics: queriesOf(settings).map(queryOf) };
}

/** An alarm on one metric is described as one query as well. */
function queriesOf({ input, query }: MetricAlarmSettings): readonly MetricDataQuery[] {
  if (input.Metrics) return input.Metrics;
  const { Namespace, MetricName, Dimensions, Statistic } = input;
  const Metric = { Namespace, MetricName, Dimensions };
  return [{ Id: 'm1', MetricStat: { Metric, Period: query.periodMs / 1000, Stat: Statistic } }];
}

function queryOf({ Id, Expression, Label, MetricStat, Period, ReturnData }: MetricDataQuery): EventDetail {
  return {
    id: Id ?? '',
    ...(Expression !== undefined && { expression: Expression }),
    ...(Label !== undefined && { label: Label }),
    ...(Period !== undefined && { period: Period }),
    ...(MetricStat && {
      metricStat: {
        metric: {
          namespace: MetricStat.Metric?.Namespace ?? '',
          name: MetricStat.Metric?.MetricName ?? '',
          dimensions: Object.fromEntries(
            (MetricStat.Metric?.Dimensions ?? []).map(({ Name, Value }) => [Name ?? '', Value ?? '']),
          ),
        },
        period: MetricStat.Period ?? 0,
        stat: MetricStat.Stat ?? '',
      },
    }),
    returnData: ReturnData !== false,
  };
}

function triggerOf({ input, query, threshold, ...settings }: MetricAlarmSettings): EventDetail {
  const { MetricName, Namespace, Statistic, Dimensions = [], ComparisonOperator, Metrics } = input;
  return {
    Period: query.periodMs / 1000,
    EvaluationPeriods: settings.evaluationPeriods,
    DatapointsToAlarm: settings.datapointsToAlarm,
    ComparisonOperator: ComparisonOperator ?? '',
    Threshold: threshold,
    TreatMissingData: settings.treatMissingData,
    ...(Metrics
      ? { Metrics: queriesOf({ input, query, threshold, ...settings }).map(queryOf) }
      : {
          MetricName: MetricName ?? '',
          Namespace: Namespace ?? '',
          StatisticType: 'Statistic',
          Statistic: Statistic ?? '',
          Dimensions: Dimensions.map(({ Name, Value }) => ({ name: Name ?? '', value: Value ?? '' })),
        }),
  };
}
