/** One thing that a composite alarm rings at, and the alarms that it asks. */
export interface Term {
  readonly text: string;
  readonly children: readonly string[];
}

export interface Rule {
  readonly name: string;
  readonly rule: string;
  /** Is it the alarm itself, and not a part of it? */
  readonly isWhole: boolean;
}

export interface RuleLimits {
  readonly childrenPerRule: number;
  readonly ruleLength: number;
}

const OR = ' OR ';

/**
 * The rule of an alarm that rings at any of these terms: one when it fits, else its parts and a rule over those (D21: trees of
 * at most 100 children). Parts come before the whole. No terms, no rules.
 */
export function anyOf(
  terms: readonly Term[],
  nameOf: (part?: number) => string,
  limits: RuleLimits,
): readonly Rule[] {
  const parts = split(terms, limits);
  if (parts.length === 0) return [];
  const [only, ...more] = parts;
  if (only && more.length === 0) return [{ name: nameOf(), rule: joined(only), isWhole: true }];
  const leaves = parts.map((part, index) => ({
    name: nameOf(index + 1),
    rule: joined(part),
    isWhole: false,
  }));
  const whole = leaves.map(({ name }) => `ALARM("${name}")`).join(OR);
  return [...leaves, { name: nameOf(), rule: whole, isWhole: true }];
}

const joined = (terms: readonly Term[]): string => terms.map(({ text }) => text).join(OR);

function split(terms: readonly Term[], { childrenPerRule, ruleLength }: RuleLimits): readonly Term[][] {
  const parts: Term[][] = [];
  let children = new Set<string>();
  let length = 0;
  for (const term of terms) {
    const part = parts.at(-1);
    const together = new Set([...children, ...term.children]);
    if (part && together.size <= childrenPerRule && length + OR.length + term.text.length <= ruleLength) {
      part.push(term);
      children = together;
      length += OR.length + term.text.length;
      continue;
    }
    parts.push([term]);
    children = new Set(term.children);
    length = term.text.length;
  }
  return parts;
}
