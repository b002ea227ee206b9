import { type Figure, meets } from './figures.ts';
import type { BenchResult } from './measure-run.ts';

const count = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const money = new Intl.NumberFormat('en', { minimumFractionDigits: 4, maximumFractionDigits: 4 });
const exact = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const formats: { readonly [unit in Figure['unit']]?: Intl.NumberFormat } = {
  s: fine,
  '%': fine,
  min: fine,
  USD: money,
};

const amount = (value: number, unit: Figure['unit']): string => {
  const text = formats[unit]?.format(value) ?? count.format(value);
  return unit === '' ? text : `${text} ${unit}`;
};

const goalOf = ({ goal, unit }: Figure): string => {
  if (!goal) return '';
  return `<= ${goal.of === 'ratio' ? exact.format(goal.atMost) : amount(goal.atMost, unit)}`;
};

/** A line a figure; measured, bound and ratio; then the goal and what missed it. */
interface Column {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/** One table over all sizes. */
export const benchTable = (results: readonly BenchResult[], what = 'one run of'): string =>
  figureTable(
    what,
    results.map(({ instances, figures }) => ({ title: count.format(instances), figures })),
  );

export function figureTable(what: string, results: readonly Column[]): string {
  const names = [...new Set(results.flatMap(({ figures }) => figures.map(figure => figure.name)))];
  const head = [what, ...results.flatMap(({ title }) => [title, 'bound', 'ratio']), 'goal'];
  const rows = names.map(name => {
    const figures = results.map(result => result.figures.find(figure => figure.name === name));
    const cells = figures.flatMap(figure => [
      figure ? amount(figure.measured, figure.unit) : '',
      figure?.bound === undefined ? '' : amount(figure.bound, figure.unit),
      figure?.ratio === undefined ? '' : exact.format(figure.ratio),
    ]);
    const goal = figures.map(figure => (figure ? goalOf(figure) : '')).find(text => text !== '') ?? '';
    const missed = figures.some(figure => figure && !meets(figure));
    const notes = [...new Set(figures.flatMap(figure => figure?.note ?? []))].join(', ');
    return [name, ...cells, missed ? `${goal} MISSED` : goal, notes];
  });
  return aligned([head, ...rows]);
}

/** Columns of one width each: text to the left in the first, the goal's and the notes', numbers to the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = new Map<number, number>();
  for (const row of rows)
    row.forEach((cell, column) => {
      widths.set(column, Math.max(widths.get(column) ?? 0, cell.length));
    });
  const numbers = (rows[0]?.length ?? 0) - 1;
  return rows
    .map(row =>
      row
        .map((cell, column) => {
          const width = widths.get(column) ?? 0;
          return column > 0 && column < numbers ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
