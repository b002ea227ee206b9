import type { MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { ServiceError } from '../wire/contract.ts';
import { type CloudWatch, type MetricName, nameKey, seriesKey } from './cloud-watch.ts';
import { metricName, periodMs, required } from './cloud-watch-request.ts';
import { refuseOthers } from './ec2-request.ts';
import { compileMath, type Points } from './metric-math.ts';
import { statisticNamed, statistics } from './metric-statistics.ts';
import { compileInsights, type InsightsQuery, isInsights } from './metrics-insights.ts';

/** A span of time, its end not included. Milliseconds since the epoch. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** One time series of a query's result. A query without GROUP BY has one, and no attributes. */
export interface QueriedSeries {
  readonly attributes: Readonly<Record<string, string>>;
  readonly points: Points;
}

export interface CompiledQuery {
  readonly periodMs: number;
  /** Keys of what it reads (`seriesKey` of a metric, `nameKey` of all metrics of a name). */
  readonly watches: readonly string[];
  /** May it return several series? */
  readonly grouped: boolean;
  /** One point a window. A grouped query leaves out series without any. */
  read(store: CloudWatch, windows: readonly Window[]): readonly QueriedSeries[];
}

/** CloudWatch's quota: the most metrics of one query's result; series beyond are not returned. */
const MOST_SERIES = 500;

/**
 * Compiles the queries of one request, which may refer to each other.
 *
 * @throws ServiceError ValidationError, UnsupportedOperation
 */
export function compileQueries(queries: readonly MetricDataQuery[]): ReadonlyMap<string, CompiledQuery> {
  const compiled = new Map<string, CompiledQuery>();
  const byId = new Map(queries.map(query => [required('Id', query.Id), query]));
  const compile = (id: string, within: readonly string[]): CompiledQuery => {
    const known = compiled.get(id);
    if (known) return known;
    const query = byId.get(id);
    if (!query || within.includes(id))
      throw new ServiceError('ValidationError', `The expression refers to '${id}', which has no value.`);
    const ready = compileQuery(query, {
      of: other => compile(other, [...within, id]),
      metricIds: queries.flatMap(({ Id, MetricStat }) => (Id && MetricStat ? [Id] : [])),
    });
    compiled.set(id, ready);
    return ready;
  };
  for (const id of byId.keys()) compile(id, []);
  return compiled;
}

interface OtherQueries {
  of(id: string): CompiledQuery;
  readonly metricIds: readonly string[];
}

function compileQuery(query: MetricDataQuery, others: OtherQueries): CompiledQuery {
  const { Id: _id, Label: _label, ReturnData: _return, MetricStat, Expression, Period, ...rest } = query;
  refuseOthers('CloudWatch', rest);
  if (MetricStat) {
    const { Metric, Period: period, Stat, Unit: _unit, ...further } = MetricStat;
    refuseOthers('CloudWatch', further);
    const name = metricName(Metric?.Namespace, Metric?.MetricName, Metric?.Dimensions);
    return ofMetric(name, statistics[statisticNamed(Stat)], periodMs(period));
  }
  const expression = required('Expression', Expression);
  return isInsights(expression)
    ? ofInsights(compileInsights(expression), periodMs(Period))
    : ofMath(expression, others);
}

/** A query of one metric. */
export function ofMetric(
  metric: MetricName,
  statistic: (values: readonly number[]) => number,
  period: number,
): CompiledQuery {
  const read = (store: CloudWatch, windows: readonly Window[]) => {
    const points = windows.map(({ start, end }) => {
      const values = store.valuesIn(metric, start, end);
      return values.length === 0 ? undefined : statistic(values);
    });
    return [{ attributes: {}, points }];
  };
  return { periodMs: period, watches: [seriesKey(metric)], grouped: false, read };
}

function ofMath(expression: string, others: OtherQueries): CompiledQuery {
  const math = compileMath(expression);
  const ids = [...new Set([...math.ids, ...(math.usesMetrics ? others.metricIds : [])])];
  const operands = new Map(ids.map(id => [id, others.of(id)]));
  const periods = new Set([...operands.values()].map(operand => operand.periodMs));
  const [period, another] = periods;
  if (period === undefined || another !== undefined)
    throw new ServiceError('ValidationError', `All metrics of '${expression}' need the same period.`);
  for (const [id, { grouped }] of operands)
    if (grouped) throw new ServiceError('ValidationError', `'${id}' may return more than one time series.`);
  return {
    periodMs: period,
    watches: [...operands.values()].flatMap(({ watches }) => watches),
    grouped: false,
    read(store, windows) {
      const series = (id: string): Points => operands.get(id)?.read(store, windows)[0]?.points ?? [];
      const points = math.evaluate({ series, metrics: () => others.metricIds.map(series) });
      return [{ attributes: {}, points }];
    },
  };
}

function ofInsights(query: InsightsQuery, period: number): CompiledQuery {
  const { groupBy, statistic } = query;
  const grouped = groupBy.length > 0;
  const inGroups = (store: CloudWatch): readonly (readonly MetricName[])[] => {
    const found = store.named(query.namespace, query.name).filter(metric => query.matches(metric));
    if (!grouped) return [found];
    const key = ({ dimensions }: MetricName) => groupBy.map(name => dimensions[name] ?? 'Other').join('\n');
    return [...Map.groupBy(found, key).values()];
  };
  return {
    periodMs: period,
    watches: [nameKey(query)],
    grouped,
    read(store, windows) {
      const series = inGroups(store).map(metrics => ({
        attributes: Object.fromEntries(groupBy.map(name => [name, metrics[0]?.dimensions[name] ?? 'Other'])),
        points: windows.map(({ start, end }) => {
          const values = metrics.flatMap(metric => store.valuesIn(metric, start, end));
          return values.length === 0 ? undefined : statistic(values);
        }),
      }));
      const real = grouped
        ? series.filter(({ points }) => points.some(point => point !== undefined))
        : series;
      return real.slice(0, MOST_SERIES);
    },
  };
}
