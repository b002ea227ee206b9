/** `00:03:22`, in whole seconds as a clock shows them. */
export function hours(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** `12,345`. */
export const grouped = (count: number): string => count.toLocaleString('en-US');

/** `a, b, c and 3 more`. */
export const list = (all: readonly string[], shown = 3): string =>
  all.slice(0, shown).join(', ') + (all.length > shown ? ` and ${all.length - shown} more` : '');

/** A target group's name, from its ARN. */
export const targetGroupName = (arn: string): string => /:targetgroup\/([^/]+)/.exec(arn)?.[1] ?? arn;

/** Rows whose columns line up: the first to the left, the others to the right unless they are text. */
export function table(
  rows: readonly (readonly string[])[],
  others: 'to the right' | 'to the left' = 'to the right',
): string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  return rows.map(row =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 || others === 'to the left' ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** `1 instance`, `1,234 instances`. */
export const counted = (count: number, one: string): string =>
  `${grouped(count)} ${count === 1 ? one : `${one}s`}`;

/** `2026-11-30 09:00:00 UTC`. @param seconds since the epoch */
export const instant = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** A command that ended, as one document for programs. */
export const document = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** Between words, and not between a number and its unit. */
const BREAK = /(?<!\d)\s+|\s+(?!(?:ms|s|h|%|seconds?|minutes?|hours?|days?)(?!\w))/;

/** Lines of at most `width` columns, broken between words. */
export const wrap = (text: string, width: number): string[] =>
  // What a person copies into a shell stays in one piece.
  text.split(/^(aws .*)$/m).flatMap((part, index) => (index % 2 === 1 ? [part] : fill(part, width)));

function fill(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.trim().split(BREAK)) {
    if (line && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line ? `${line} ${word}` : word;
  }
  return line ? [...lines, line] : lines;
}
