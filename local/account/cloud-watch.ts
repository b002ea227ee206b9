import type { Metrics } from './neighbours.ts';
import type { World } from './world.ts';

/** What names a metric. */
export interface MetricName {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The values of one period, which begins at `start` (milliseconds since the epoch). */
export interface Period {
  readonly start: number;
  readonly values: readonly number[];
}

interface Series {
  readonly metric: MetricName;
  readonly key: string;
  readonly nameKey: string;
  /** In order; the values are beside them. */
  readonly times: number[];
  readonly values: number[];
}

/** Metrics Insights alarms look no further back. */
const INSIGHTS_RETENTION_MS = 3 * 3_600_000;
/** Old points go in strides, so that keeping one costs the same however many there are. */
const STRIDE = 64;

/** The metrics of the account: their points of the last three hours, or of as long as an alarm looks back. */
export class CloudWatch implements Metrics {
  readonly world: World;
  readonly #series = new Map<string, Series>();
  readonly #byName = new Map<string, Series[]>();
  readonly #listeners: ((key: string, name: string) => void)[] = [];
  #oldest = Number.POSITIVE_INFINITY;
  #retentionMs = INSIGHTS_RETENTION_MS;

  constructor(world: World) {
    this.world = world;
  }

  /** @param metric `at`: its instant in milliseconds, now by default */
  put(metric: MetricName & { readonly value: number; readonly at?: number }): void {
    const now = this.world.clock.now();
    const series = this.#seriesOf(metric);
    const { times, values } = series;
    const at = metric.at ?? now;
    this.#oldest = Math.min(this.#oldest, at);
    const place = at >= (times.at(-1) ?? at) ? times.length : firstFrom(times, at + 1);
    times.splice(place, 0, at);
    values.splice(place, 0, metric.value);
    if (times.length % STRIDE === 0) {
      const stale = firstFrom(times, now - this.#retentionMs);
      times.splice(0, stale);
      values.splice(0, stale);
    }
    for (const hear of this.#listeners) hear(series.key, series.nameKey);
  }

  /** Calls `hear` for every later point, with the keys of its metric and of all metrics of that name. */
  onPut(hear: (key: string, name: string) => void): void {
    this.#listeners.push(hear);
  }

  /** No point is older. Milliseconds since the epoch; infinite while there is none. */
  get oldest(): number {
    return this.#oldest;
  }

  /** Keeps points at least this long from now on. */
  keepFor(ms: number): void {
    this.#retentionMs = Math.max(this.#retentionMs, ms);
  }

  /** The metric's values from `start` to just before `end`, the oldest first. */
  valuesIn(metric: MetricName, start: number, end: number): readonly number[] {
    const series = this.#series.get(seriesKey(metric));
    if (!series) return [];
    return series.values.slice(firstFrom(series.times, start), firstFrom(series.times, end));
  }

  /** The metric's values from `start` to just before `end`, by periods, the oldest first; empty periods are left out. */
  periods(metric: MetricName, start: number, end: number, periodMs: number): readonly Period[] {
    const series = this.#series.get(seriesKey(metric));
    if (!series) return [];
    const found = new Map<number, number[]>();
    const last = firstFrom(series.times, end);
    for (let index = firstFrom(series.times, start); index < last; index++) {
      const begin = Math.floor((series.times[index] ?? 0) / periodMs) * periodMs;
      const inside = found.get(begin) ?? [];
      inside.push(series.values[index] ?? 0);
      found.set(begin, inside);
    }
    return Array.from(found, ([begin, inside]) => ({ start: begin, values: inside }));
  }

  /** Every metric of this name that has had a point, whatever its dimensions. */
  named(namespace: string, name: string): readonly MetricName[] {
    return (this.#byName.get(nameKey({ namespace, name })) ?? []).map(({ metric }) => metric);
  }

  /** Every metric that has had a point. */
  all(): readonly MetricName[] {
    return Array.from(this.#series.values(), ({ metric }) => metric);
  }

  #seriesOf({ namespace, name, dimensions }: MetricName): Series {
    const metric = { namespace, name, dimensions };
    const key = seriesKey(metric);
    const known = this.#series.get(key);
    if (known) return known;
    const fresh: Series = { metric, key, nameKey: nameKey(metric), times: [], values: [] };
    this.#series.set(key, fresh);
    const namesakes = this.#byName.get(fresh.nameKey) ?? [];
    namesakes.push(fresh);
    this.#byName.set(fresh.nameKey, namesakes);
    return fresh;
  }
}

/** One text for each metric, whatever the order of its dimensions. */
export function seriesKey({ namespace, name, dimensions }: MetricName): string {
  const pairs = Object.entries(dimensions).map(([key, value]) => `${key}=${value}`);
  return [namespace, name, ...pairs.sort()].join('\n');
}

/** One text for all metrics of a name. */
export const nameKey = ({ namespace, name }: Pick<MetricName, 'namespace' | 'name'>): string =>
  `${namespace}\n${name}\n*`;

/** The index of the first time that is not before `from`. */
function firstFrom(times: readonly number[], from: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
