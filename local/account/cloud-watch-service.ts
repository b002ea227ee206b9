import * as client from '@aws-sdk/client-cloudwatch';
import { type Service, ServiceError } from '../wire/contract.ts';
import { alarmsApi } from './alarm-operations.ts';
import type { Alarms } from './alarms.ts';
import type { CloudWatch } from './cloud-watch.ts';
import { metricName, periodMs, required } from './cloud-watch-request.ts';
import { refuseOthers } from './ec2-request.ts';
import { compileQueries, type Window } from './metric-queries.ts';
import { statisticNamed, statistics } from './metric-statistics.ts';
import { pageOf } from './paging.ts';

/** API: the most queries of one GetMetricData request. */
const MOST_QUERIES = 500;
/** API: the most metrics of one page of ListMetrics. */
const MOST_LISTED = 500;

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
      const compiled = compileQueries(MetricDataQueries);
      const asked = MetricDataQueries.filter(({ ReturnData }) => ReturnData !== false);
      const MetricDataResults = asked.flatMap(({ Id = '', Label, MetricStat, Expression }) => {
        const query = compiled.get(Id);
        if (!query) return [];
        const windows = windowsOf(Math.max(start, Math.min(end, cloudWatch.oldest)), end, query.periodMs);
        return query.read(cloudWatch, windows).map(({ attributes, points }) => {
          const found = points.flatMap((value, index) =>
            value === undefined ? [] : [{ value, start: windows[index]?.start ?? start }],
          );
          const ordered = ScanBy === 'TimestampAscending' ? found : found.toReversed();
          const series = Object.values(attributes).join(' ');
          return {
            Id,
            Label: Label ?? (series || (MetricStat?.Metric?.MetricName ?? Expression ?? Id)),
            Timestamps: ordered.map(point => new Date(point.start)),
            Values: ordered.map(({ value }) => value),
            StatusCode: 'Complete' as const,
          };
        });
      });
      return { MetricDataResults };
    },

    ListMetrics(input: client.ListMetricsInput): client.ListMetricsOutput {
      const { Namespace, MetricName, Dimensions = [], NextToken, ...rest } = input;
      refuseOthers('ListMetrics', rest);
      const found = cloudWatch
        .all()
        .filter(({ namespace }) => Namespace === undefined || namespace === Namespace)
        .filter(({ name }) => MetricName === undefined || name === MetricName)
        .filter(({ dimensions }) =>
          Dimensions.every(({ Name = '', Value }) =>
            Value === undefined ? Object.hasOwn(dimensions, Name) : dimensions[Name] === Value,
          ),
        );
      const { items, nextToken } = pageOf(found, NextToken, MOST_LISTED, 'InvalidNextToken');
      return {
        Metrics: items.map(({ namespace, name, dimensions }) => ({
          Namespace: namespace,
          MetricName: name,
          Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
        })),
        ...(nextToken !== undefined && { NextToken: nextToken }),
      };
    },

    GetMetricStatistics(input: client.GetMetricStatisticsInput): client.GetMetricStatisticsOutput {
      const { Namespace, MetricName, Dimensions, StartTime, EndTime, Period, Statistics, ...rest } = input;
      refuseOthers('GetMetricStatistics', rest);
      const { start, end } = timeRange(StartTime, EndTime);
      const asked = required('Statistics', Statistics).map(statisticNamed);
      const name = metricName(Namespace, MetricName, Dimensions);
      const found = cloudWatch.periods(name, start, end, periodMs(Period));
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

export const cloudWatchService = (cloudWatch: CloudWatch, alarms: Alarms): Service => ({
  name: 'cloudwatch',
  client,
  protocol: { kind: 'json', target: 'GraniteServiceVersion20100801', jsonVersion: '1.0' },
  operations: { ...cloudWatchApi(cloudWatch), ...alarmsApi(alarms) },
});

/** The periods that begin within the time range, aligned to the clock as CloudWatch aligns them. */
function windowsOf(start: number, end: number, period: number): readonly Window[] {
  const first = Math.floor(start / period) * period;
  return Array.from({ length: Math.ceil((end - first) / period) }, (_, index) => ({
    start: first + index * period,
    end: Math.min(end, first + (index + 1) * period),
  }));
}

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
