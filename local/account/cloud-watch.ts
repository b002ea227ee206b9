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
  readonly times: number[];
  readonly values: number[];
}

/** Metrics Insights alarms look no further back. */
const RETENTION_MS = 3 * 3_600_000;
/** Old points go in strides, so that keeping one costs the same however many there are. */
const STRIDE = 64;

/** The metrics of the account, for three hours. */
export class CloudWatch implements Metrics {
  readonly world: World;
  readonly #series = new Map<string, Series>();

  constructor(world: World) {
    this.world = world;
  }

  /** @param metric `at`: its instant in milliseconds, now by default */
  put(metric: MetricName & { readonly value: number; readonly at?: number }): void {
    const now = this.world.clock.now();
    const { times, values } = this.#seriesOf(metric);
    times.push(metric.at ?? now);
    values.push(metric.value);
    if (times.length % STRIDE !== 0) return;
    const stale = times.findIndex(time => time >= now - RETENTION_MS);
    times.splice(0, stale);
    values.splice(0, stale);
  }

  /** The metric's values from `start` to just before `end`, by periods, the oldest first; empty periods are left out. */
  periods(metric: MetricName, start: number, end: number, periodMs: number): readonly Period[] {
    const { times, values } = this.#seriesOf(metric);
    const found = new Map<number, number[]>();
    for (const [index, time] of times.entries()) {
      if (time < start || time >= end) continue;
      const begin = Math.floor(time / periodMs) * periodMs;
      const inside = found.get(begin) ?? [];
      inside.push(values[index] ?? 0);
      found.set(begin, inside);
    }
    return Array.from(found, ([begin, inside]) => ({ start: begin, values: inside })).sort(
      (a, b) => a.start - b.start,
    );
  }

  #seriesOf({ namespace, name, dimensions }: MetricName): Series {
    const pairs = Object.entries(dimensions).map(([key, value]) => `${key}=${value}`);
    const key = [namespace, name, ...pairs.sort()].join('\n');
    const known = this.#series.get(key);
    if (known) return known;
    const fresh: Series = { times: [], values: [] };
    this.#series.set(key, fresh);
    return fresh;
  }
}
