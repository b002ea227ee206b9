import * as client from '@aws-sdk/client-cloudwatch';
import { type Service, ServiceError } from '../wire/contract.ts';
import type { CloudWatch, MetricName } from './cloud-watch.ts';
import { refuseOthers } from './ec2-request.ts';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const statistics: Readonly<Record<client.Statistic, (values: readonly number[]) => number>> = {
  SampleCount: values => values.length,
  Sum: sum,
  Average: values => sum(values) / values.length,
  Minimum: values => Math.min(...values),
  Maximum: values => Math.max(...values),
};

/** API: the most queries of one GetMetricData request. */
const MOST_QUERIES = 500;

/** CloudWatch's operations on metrics. */
export function cloudWatchApi(cloudWatch: CloudWatch) {
  return {
    PutMetricData(input: client.PutMetricDataInput): object {
      const { Namespace, MetricData, ...rest } = input;
      refuseOthers('PutMetricData', rest);
      for (const datum of MetricData ?? []) {
        // The unit is not kept: no simulated operation selects by it.
        const { MetricName, Dimensions, Timestamp, Value, Values, Counts, Unit: _, ...others } = datum;
        refuseOthers('PutMetricData', others);
        const name = metricName(Namespace, MetricName, Dimensions);
        const values = Values?.flatMap((value, index) => Array<number>(Counts?.[index] ?? 1).fill(value));
        for (const value of values ?? [required('Value', Value)])
          cloudWatch.put({ ...name, value, ...(Timestamp && { at: Timestamp.getTime() }) });
      }
      return {};
    },

    GetMetricData(input: client.GetMetricDataInput): client.GetMetricDataOutput {
      const { MetricDataQueries = [], StartTime, EndTime, ScanBy, ...rest } = input;
      refuseOthers('GetMetricData', rest);
      if (MetricDataQueries.length > MOST_QUERIES)
        throw new ServiceError('ValidationError', `At most ${MOST_QUERIES} queries are allowed.`);
      const { start, end } = timeRange(StartTime, EndTime);
      const asked = MetricDataQueries.filter(({ ReturnData }) => ReturnData !== false);
      const MetricDataResults = asked.map(({ Id, MetricStat, Label, ReturnData: _, ...others }) => {
        refuseOthers('GetMetricData', others);
        const { Metric, Period, Stat, ...further } = required('MetricStat', MetricStat);
        refuseOthers('GetMetricData', further);
        const statistic = statistics[statisticNamed(Stat)];
        const name = metricName(Metric?.Namespace, Metric?.MetricName, Metric?.Dimensions);
        const found = cloudWatch.periods(name, start, end, milliseconds(Period));
        const ordered = ScanBy === 'TimestampAscending' ? found : found.toReversed();
        return {
          Id,
          Label: Label ?? name.name,
          Timestamps: ordered.map(period => new Date(period.start)),
          Values: ordered.map(({ values }) => statistic(values)),
          StatusCode: 'Complete' as const,
        };
      });
      return { MetricDataResults };
    },

    GetMetricStatistics(input: client.GetMetricStatisticsInput): client.GetMetricStatisticsOutput {
      const { Namespace, MetricName, Dimensions, StartTime, EndTime, Period, Statistics, ...rest } = input;
      refuseOthers('GetMetricStatistics', rest);
      const { start, end } = timeRange(StartTime, EndTime);
      const asked = required('Statistics', Statistics).map(statisticNamed);
      const name = metricName(Namespace, MetricName, Dimensions);
      const found = cloudWatch.periods(name, start, end, milliseconds(Period));
      const Datapoints = found.map(
        (period): client.Datapoint => ({
          Timestamp: new Date(period.start),
          ...Object.fromEntries(asked.map(statistic => [statistic, statistics[statistic](period.values)])),
        }),
      );
      return { Label: name.name, Datapoints };
    },
  };
}

export const cloudWatchService = (cloudWatch: CloudWatch): Service => ({
  name: 'cloudwatch',
  client,
  protocol: { kind: 'json', target: 'GraniteServiceVersion20100801', jsonVersion: '1.0' },
  operations: cloudWatchApi(cloudWatch),
});

function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new ServiceError('MissingParameter', `The parameter ${name} is required.`);
  return value;
}

const metricName = (
  namespace: string | undefined,
  name: string | undefined,
  dimensions: readonly client.Dimension[] | undefined,
): MetricName => ({
  namespace: required('Namespace', namespace),
  name: required('MetricName', name),
  dimensions: Object.fromEntries((dimensions ?? []).map(({ Name, Value }) => [Name ?? '', Value ?? ''])),
});

function timeRange(
  from: Date | undefined,
  to: Date | undefined,
): { readonly start: number; readonly end: number } {
  const start = required('StartTime', from).getTime();
  const end = required('EndTime', to).getTime();
  if (start >= end)
    throw new ServiceError(
      'ValidationError',
      'The parameter StartTime must be less than the parameter EndTime.',
    );
  return { start, end };
}

function milliseconds(periodSeconds: number | undefined): number {
  const seconds = required('Period', periodSeconds);
  if (seconds <= 0 || seconds % 60 !== 0)
    throw new ServiceError('ValidationError', `The period ${seconds} is not a multiple of 60 seconds.`);
  return seconds * 1000;
}

function statisticNamed(name: string | undefined): client.Statistic {
  const known = Object.keys(statistics).find(
    (statistic): statistic is client.Statistic => statistic === name,
  );
  if (!known)
    throw new ServiceError('ValidationError', `The simulated CloudWatch has no statistic '${name}'.`);
  return known;
}
