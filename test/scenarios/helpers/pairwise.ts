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
  const open = names.flatMap((a, at) =>
    names
      .slice(at + 1)
      .flatMap(b => (switches[a] ?? []).flatMap(x => (switches[b] ?? []).map(y => ({ [a]: x, [b]: y })))),
  );
  const rows: Row[] = [];
  for (;;) {
    const left = open.filter(pair => !rows.some(row => agree(pair, row)));
    const [first] = left;
    if (!first) return rows;
    let row: Row = first;
    for (const name of names.filter(name => !(name in first))) {
      const meets = (value: string | boolean) =>
        left.filter(pair => name in pair && agree(pair, { ...row, [name]: value })).length;
      const [best] = [...(switches[name] ?? [])].sort((a, b) => meets(b) - meets(a));
      if (best !== undefined) row = { ...row, [name]: best };
    }
    rows.push(row);
  }
}

const agree = (pair: Row, row: Row): boolean =>
  Object.entries(pair).every(([name, value]) => row[name] === value);
