import { stringify } from 'yaml';
import type { Breach } from '../simulate/seeds/attempt.ts';
import type { SeedResult } from '../simulate/seeds/seed-run.ts';
import type { Shrunk } from '../simulate/seeds/shrink.ts';
import type { Tally } from '../simulate/seeds/tally.ts';

/** A seed that broke something, as short as it could be made, and where that stands. */
export interface Finding {
  readonly result: SeedResult;
  readonly shrunk: Shrunk;
  /** The scenario's file. */
  readonly path: string;
}

/** The table at the end. */
export function describeTally(tally: Tally, seconds: number): string {
  const deployments = Object.entries(tally.runs).map(([name, count]): Row => [name, count]);
  const faults = Object.entries(tally.injected).map(([name, count]): Row => [name, count]);
  return [
    ...section('deployments', deployments),
    ...section('faults', faults),
    ...section('in all', [
      ['seeds', tally.seeds],
      ['instants checked', tally.checkedInstants],
      ['virtual hours', Math.round(tally.virtualHours)],
      ['seconds', Math.round(seconds)],
      ['seeds that broke something', tally.broken.length],
    ]),
  ].join('\n');
}

type Row = readonly [name: string, count: number];

function section(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const figures = rows.map(([, count]) => count.toLocaleString('en'));
  const width = Math.max(...figures.map(figure => figure.length));
  return [title, ...rows.map(([name], at) => `  ${(figures[at] ?? '').padStart(width)}  ${name}`), ''];
}

export function describeBreach({ invariant, what, atSeconds }: Breach): string {
  const broke = invariant === undefined ? 'the simulation failed' : `invariant ${invariant} broke`;
  const when = atSeconds === undefined ? '' : ` ${Math.round(atSeconds)} s after the start`;
  return `${broke}${when}: ${what}`;
}

export function describeFinding({ result: { seed, profile }, shrunk, path }: Finding): string {
  const { breach, scenario, tried } = shrunk;
  return [
    `Seed ${seed} with the faults ${profile}: ${describeBreach(breach)}`,
    `The shortest history of ${tried} that were tried:`,
    '',
    stringify(scenario).replace(/^/gm, '    ').trimEnd(),
    '',
    `Replay: npx quiesce simulate ${path}`,
    '',
  ].join('\n');
}
