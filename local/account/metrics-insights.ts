import { ServiceError } from '../wire/contract.ts';
import type { MetricName } from './cloud-watch.ts';
import { statistics } from './metric-statistics.ts';

/** A Metrics Insights query: `SELECT MAX(name) FROM SCHEMA("namespace", dimension) WHERE ... GROUP BY dimension`. */
export interface InsightsQuery {
  readonly namespace: string;
  readonly name: string;
  /** The dimensions of GROUP BY; none for one series over all that matches. */
  readonly groupBy: readonly string[];
  readonly statistic: (values: readonly number[]) => number;
  matches(metric: MetricName): boolean;
}

const FUNCTIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  AVG: statistics.Average,
  COUNT: statistics.SampleCount,
  MAX: statistics.Maximum,
  MIN: statistics.Minimum,
  SUM: statistics.Sum,
};

const NAME = String.raw`("[^"]+"|[\w/]+)`;
const NAMES = String.raw`(?:${NAME.replace('(', '(?:')}\s*,?\s*)+`;
const QUERY = new RegExp(
  String.raw`^\s*SELECT\s+(\w+)\(\s*${NAME}\s*\)\s+FROM\s+(?:SCHEMA\(\s*(${NAMES})\)|${NAME})` +
    String.raw`(?:\s+WHERE\s+(.+?))?(?:\s+GROUP\s+BY\s+(${NAMES}?))?(?:\s+ORDER\s+BY\s+.+)?\s*$`,
  'i',
);
const CONDITION = new RegExp(String.raw`^\s*${NAME}\s*(=|!=)\s*'([^']*)'\s*$`);

/** Is the expression of a query such a SELECT, rather than metric math? */
export const isInsights = (expression: string): boolean => /^\s*SELECT\s/i.test(expression);

/**
 * Reads a query. ORDER BY has no effect: there are no limits here to which it would matter.
 *
 * @throws ServiceError ValidationError on what CloudWatch, or this part of it, does not know
 */
export function compileInsights(text: string): InsightsQuery {
  const [, fn = '', metric = '', schema, from = '', where, grouping] = QUERY.exec(text) ?? [];
  const statistic = FUNCTIONS[fn.toUpperCase()];
  if (!statistic) throw invalid(`the query '${text}' is not understood`);
  const [namespace = '', ...dimensions] = schema === undefined ? [bare(from)] : names(schema);
  const conditions = (where?.split(/\s+AND\s+/i) ?? []).map(readCondition);
  return {
    namespace,
    name: bare(metric),
    groupBy: grouping === undefined ? [] : names(grouping),
    statistic,
    matches(candidate) {
      const exact = schema === undefined || sameDimensions(candidate, dimensions);
      return exact && conditions.every(holds => holds(candidate));
    },
  };
}

const bare = (name: string): string => name.replaceAll('"', '');

const names = (list: string): readonly string[] =>
  list
    .split(',')
    .map(name => bare(name.trim()))
    .filter(Boolean);

/** SCHEMA matches the metrics that have exactly these dimensions. */
function sameDimensions({ dimensions }: MetricName, expected: readonly string[]): boolean {
  const own = Object.keys(dimensions);
  return own.length === expected.length && expected.every(name => Object.hasOwn(dimensions, name));
}

function readCondition(text: string): (metric: MetricName) => boolean {
  const [, name = '', operator, value] = CONDITION.exec(text) ?? [];
  if (operator === undefined) throw invalid(`the condition '${text}' is not understood`);
  return ({ dimensions }) => (dimensions[bare(name)] === value) === (operator === '=');
}

const invalid = (message: string): ServiceError => new ServiceError('ValidationError', `Error: ${message}.`);
