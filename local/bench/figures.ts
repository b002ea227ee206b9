/** One measured number, what it is measured against, and the goal it has to meet. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly unit: '' | 'bytes' | 'KB' | 'ms' | 's' | '%' | 'MB' | 'min' | 'USD';
  /** The best that AWS allows, or the limit; the ratio is of `measured` to it. */
  readonly bound?: number;
  readonly ratio?: number;
  readonly goal?: { readonly of: 'measured' | 'ratio'; readonly atMost: number };
  /** Whose it is: a state, a function, a bucket. */
  readonly note?: string;
}

/** True when the figure has no goal, or meets it. */
export function meets({ measured, ratio, goal }: Figure): boolean {
  if (!goal) return true;
  const judged = goal.of === 'ratio' ? ratio : measured;
  return judged !== undefined && judged <= goal.atMost;
}

/** A count against its bound. What the bound does not know at all has an infinite ratio. */
export const against = (name: string, measured: number, bound: number): Figure => ({
  name,
  measured,
  unit: '',
  bound,
  ratio: bound === 0 && measured === 0 ? 1 : measured / bound,
});

/** A number for people, without a goal. */
export const shown = (name: string, measured: number, unit: Figure['unit'] = '', note?: string): Figure => ({
  name,
  measured,
  unit,
  ...(note !== undefined && { note }),
});

/** A number that has to be nought. */
export const none = (name: string, measured: number, note?: string): Figure => ({
  ...shown(name, measured, '', note),
  goal: { of: 'measured', atMost: 0 },
});
