/** The values that each switch may have. */
export type Switches = Readonly<Record<string, readonly (string | boolean)[]>>;
export type Row = Readonly<Record<string, string | boolean>>;

/** Rows in which every value of every switch comes up at least once. */
export function eachValue(switches: Switches): Row[] {
  const most = Math.max(...Object.values(switches).map(values => values.length));
  return Array.from({ length: most }, (_, row) =>
    Object.fromEntries(
      Object.entries(switches).flatMap(([name, values]) => {
        const value = values[row % values.length];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
  );
}

/** Rows in which every two values of every two switches meet at least once: greedily, so few but not the fewest. */
export function pairwise(switches: Switches): Row[] {
  const names = Object.keys(switches);
  const open = new Set(names.flatMap((a, at) => names.slice(at + 1).flatMap(b => pairsOf(switches, a, b))));
  const rows: Row[] = [];
  while (open.size > 0) {
    const row: Record<string, string | boolean> = {};
    for (const name of names) {
      const gain = (value: string | boolean) =>
        names.filter(other =>
          other in row
            ? open.has(pair(other, row[other], name, value))
            : (switches[other] ?? []).some(its => other !== name && open.has(pair(name, value, other, its))),
        ).length;
      const best = [...(switches[name] ?? [])].sort((a, b) => gain(b) - gain(a))[0];
      if (best === undefined) throw new Error(`the switch ${name} has no values`);
      row[name] = best;
    }
    const before = open.size;
    for (const a of names) for (const b of names) open.delete(pair(a, row[a], b, row[b]));
    if (open.size === before) throw new Error('the greedy choice covers nothing new');
    rows.push(row);
  }
  return rows;
}

const pairsOf = (switches: Switches, a: string, b: string): string[] =>
  (switches[a] ?? []).flatMap(x => (switches[b] ?? []).map(y => pair(a, x, b, y)));

const pair = (a: string, x: unknown, b: string, y: unknown): string => `${a}=${x} ${b}=${y}`;
