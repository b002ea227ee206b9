import {
  type CompositeAlarm,
  DeleteAlarmsCommand,
  DescribeAlarmsCommand,
  type MetricAlarm,
  PutCompositeAlarmCommand,
  PutMetricAlarmCommand,
} from '@aws-sdk/client-cloudwatch';
import {
  type AlarmDefinition,
  childrenOf,
  type ExistingAlarm,
  type MetricAlarmDefinition,
} from '../domain/alarm-definition.ts';
import { AwsFailure } from '../errors.ts';
import { ALARMS_PER_CALL } from '../limits.ts';
import { isolating, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { cloudWatch } from './clients.ts';

const LISTING = 'cloudwatch:DescribeAlarms';

/** Every alarm whose name begins so, of both types (R-PAGE). */
export async function alarmsWithPrefix(prefix: string): Promise<ExistingAlarm[]> {
  return pages(async next => {
    const command = new DescribeAlarmsCommand({
      AlarmNamePrefix: prefix,
      // Without types only metric alarms are listed.
      AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
      MaxRecords: ALARMS_PER_CALL,
      NextToken: next,
    });
    const {
      MetricAlarms = [],
      CompositeAlarms = [],
      NextToken,
    } = await send(LISTING, () => cloudWatch().send(command));
    return {
      items: [...MetricAlarms.map(existingMetric), ...CompositeAlarms.map(existingComposite)],
      next: NextToken,
    };
  });
}

/** Makes an alarm, or changes it. Its tags are only given when it is made: CloudWatch ignores them later (D18). */
export async function putAlarm(
  alarm: AlarmDefinition,
  actionsEnabled: boolean,
  tags: Readonly<Record<string, string>>,
): Promise<void> {
  const common = {
    AlarmName: alarm.name,
    AlarmDescription: alarm.description,
    ActionsEnabled: actionsEnabled,
    AlarmActions: [...alarm.alarmActions],
    OKActions: [...alarm.okActions],
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  };
  if (alarm.kind === 'composite') {
    const command = new PutCompositeAlarmCommand({ ...common, AlarmRule: alarm.rule });
    await send('cloudwatch:PutCompositeAlarm', () => cloudWatch().send(command));
    return;
  }
  const command = new PutMetricAlarmCommand({
    ...common,
    ...watching(alarm),
    EvaluationPeriods: alarm.evaluationPeriods,
    DatapointsToAlarm: alarm.datapointsToAlarm,
    Threshold: alarm.threshold,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: alarm.missingData,
  });
  await send('cloudwatch:PutMetricAlarm', () => cloudWatch().send(command));
}

/**
 * Deletes alarms; those that are not there are success. At most 100, and at most one composite alarm.
 *
 * @returns those that CloudWatch keeps, because a composite alarm of somebody else's names them
 */
export async function deleteAlarms(names: readonly string[]): Promise<string[]> {
  const blames = (error: unknown) =>
    isNotFound(error) || (error instanceof AwsFailure && error.code === 'ValidationError');
  const { failed } = await isolating(names, blames, async some => {
    const command = new DeleteAlarmsCommand({ AlarmNames: [...some] });
    await send('cloudwatch:DeleteAlarms', () => cloudWatch().send(command));
    return some;
  });
  return failed.filter(({ reason }) => !/NotFound/.test(reason)).map(({ item }) => item);
}

const ID = 'failing';

function watching({ watches, periodSeconds }: MetricAlarmDefinition) {
  if ('query' in watches)
    return { Metrics: [{ Id: ID, Expression: watches.query, Period: periodSeconds, ReturnData: true }] };
  return {
    Namespace: watches.namespace,
    MetricName: watches.metric,
    Dimensions: Object.entries(watches.dimensions).map(([Name, Value]) => ({ Name, Value })),
    Statistic: 'Maximum' as const,
    Period: periodSeconds,
  };
}

function stateOf(alarm: MetricAlarm | CompositeAlarm) {
  const name = given(alarm.AlarmName, LISTING, 'AlarmName');
  const at = given(alarm.AlarmConfigurationUpdatedTimestamp, LISTING, 'AlarmConfigurationUpdatedTimestamp');
  return {
    name,
    description: alarm.AlarmDescription ?? '',
    state: given(alarm.StateValue, LISTING, 'StateValue'),
    configuredAt: Math.floor(at.getTime() / 1000),
    actionsEnabled: alarm.ActionsEnabled ?? true,
  };
}

const actionsOf = ({ AlarmActions = [], OKActions = [] }: MetricAlarm | CompositeAlarm) => ({
  alarmActions: AlarmActions,
  okActions: OKActions,
});

function existingComposite(alarm: CompositeAlarm): ExistingAlarm {
  const { AlarmRule: rule = '', InsufficientDataActions = [], ActionsSuppressor } = alarm;
  const state = stateOf(alarm);
  const { name, description } = state;
  const isOfOurs = InsufficientDataActions.length === 0 && !ActionsSuppressor;
  return {
    ...state,
    kind: 'composite',
    children: childrenOf(rule),
    definition: isOfOurs ? { kind: 'composite', name, description, ...actionsOf(alarm), rule } : undefined,
  };
}

function existingMetric(alarm: MetricAlarm): ExistingAlarm {
  const state = stateOf(alarm);
  const { name, description } = state;
  const watched = watchedBy(alarm);
  const { InsufficientDataActions = [], ComparisonOperator, TreatMissingData } = alarm;
  const isOfOurs =
    InsufficientDataActions.length === 0 && ComparisonOperator === 'GreaterThanOrEqualToThreshold';
  const missingData =
    TreatMissingData === 'missing' || TreatMissingData === 'ignore' ? TreatMissingData : undefined;
  return {
    ...state,
    kind: 'metric',
    children: [],
    definition:
      isOfOurs && watched && missingData
        ? {
            kind: 'metric',
            name,
            description,
            ...actionsOf(alarm),
            ...watched,
            evaluationPeriods: alarm.EvaluationPeriods ?? 0,
            datapointsToAlarm: alarm.DatapointsToAlarm ?? 0,
            threshold: alarm.Threshold ?? 0,
            missingData,
          }
        : undefined,
  };
}

function watchedBy(alarm: MetricAlarm): Pick<MetricAlarmDefinition, 'watches' | 'periodSeconds'> | undefined {
  const { Namespace, MetricName, Dimensions = [], Statistic, Period, Metrics = [] } = alarm;
  if (Namespace && MetricName && Statistic === 'Maximum' && Period !== undefined) {
    const dimensions = Object.fromEntries(Dimensions.map(({ Name = '', Value = '' }) => [Name, Value]));
    return { watches: { namespace: Namespace, metric: MetricName, dimensions }, periodSeconds: Period };
  }
  const [query, ...more] = Metrics;
  if (!query?.Expression || query.Period === undefined || more.length > 0) return undefined;
  return { watches: { query: query.Expression }, periodSeconds: query.Period };
}
