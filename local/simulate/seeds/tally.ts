import type { FaultKind } from '../fault-spec.ts';
import type { SeedResult } from './seed-run.ts';

/** What many seeds came to. */
export interface Tally {
  readonly seeds: number;
  /** How many deployments ended how, by outcome and error. */
  readonly runs: Readonly<Record<string, number>>;
  readonly injected: Partial<Readonly<Record<FaultKind, number>>>;
  readonly checkedInstants: number;
  readonly virtualHours: number;
  readonly broken: readonly SeedResult[];
}

export function tallyOf(results: readonly SeedResult[]): Tally {
  return {
    seeds: results.length,
    runs: summed(results.map(({ runs }) => runs)),
    injected: summed(results.map(({ injected }) => injected)),
    checkedInstants: sum(results.map(({ checkedInstants }) => checkedInstants)),
    virtualHours: sum(results.map(({ virtualMinutes }) => virtualMinutes)) / 60,
    broken: results.filter(({ breaches }) => breaches.length > 0).sort((a, b) => a.seed - b.seed),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Largest first. */
function summed(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const all = new Map<string, number>();
  for (const [name, count] of counts.flatMap(Object.entries<number>))
    all.set(name, (all.get(name) ?? 0) + count);
  return Object.fromEntries([...all].sort(([, a], [, b]) => b - a));
}
