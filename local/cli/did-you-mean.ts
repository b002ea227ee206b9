/** `Did you mean web?`, with a space before it, where one of `choices` is a slip of the hand away; else nothing. */
export function didYouMean(given: string, choices: readonly string[]): string {
  const [best] = choices
    .map(choice => ({ choice, slips: slipsBetween(given, choice) }))
    .filter(({ choice, slips }) => slips <= Math.min(2, Math.floor(choice.length / 3)))
    .toSorted((a, b) => a.slips - b.slips);
  return best ? ` Did you mean ${best.choice}?` : '';
}

/** Letters to put in, to leave out, to change, or neighbours to exchange, until one word is the other. */
function slipsBetween(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const slips = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + change);
      rows[i]?.push(exchanged ? Math.min(slips, at(i - 2, j - 2) + 1) : slips);
    }
  }
  return at(a.length, b.length);
}
