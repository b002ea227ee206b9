import { ServiceError } from '../wire/contract.ts';
import type { AlarmState } from './alarm-verdict.ts';

/** The rule of a composite alarm. */
export interface AlarmRule {
  /** The names of the alarms that it names, each once. */
  readonly children: readonly string[];
  holds(stateOf: (alarm: string) => AlarmState): boolean;
}

type Term = (stateOf: (alarm: string) => AlarmState) => boolean;

/** API: the longest rule, and the most alarms in it. */
const LONGEST = 10_240;
const MOST_CHILDREN = 100;

const TOKEN =
  /\s*(?:(ALARM|OK|INSUFFICIENT_DATA)\s*\(\s*(?:"([^"]+)"|'([^']+)'|([^\s()"']+))\s*\)|(AND|OR|NOT|TRUE|FALSE|[()]))/y;

interface Token {
  readonly word: string;
  /** With a function: the alarm that it asks about. */
  readonly alarm: string | undefined;
}

/**
 * Reads `ALARM(a) OR NOT (OK("b c") AND TRUE)`. An alarm is named or given by its ARN.
 *
 * @throws ServiceError ValidationError
 */
export function compileRule(text: string): AlarmRule {
  if (text.length > LONGEST) throw invalid(`is longer than ${LONGEST} characters`);
  const tokens = tokensOf(text);
  const children = [...new Set(tokens.flatMap(({ alarm }) => alarm ?? []))];
  if (children.length > MOST_CHILDREN) throw invalid(`names more than ${MOST_CHILDREN} alarms`);
  let next = 0;
  const accept = (word: string): boolean => {
    if (tokens[next]?.word !== word) return false;
    next++;
    return true;
  };
  // NOT binds tighter than AND, and AND tighter than OR.
  const either = (): Term => {
    const terms = [both()];
    while (accept('OR')) terms.push(both());
    return stateOf => terms.some(term => term(stateOf));
  };
  const both = (): Term => {
    const terms = [negated()];
    while (accept('AND')) terms.push(negated());
    return stateOf => terms.every(term => term(stateOf));
  };
  const negated = (): Term => {
    if (!accept('NOT')) return primary();
    const term = negated();
    return stateOf => !term(stateOf);
  };
  const primary = (): Term => {
    const token = tokens[next++];
    if (token?.alarm !== undefined) {
      const { word, alarm } = token;
      return stateOf => stateOf(alarm) === word;
    }
    if (token?.word === 'TRUE' || token?.word === 'FALSE') return () => token.word === 'TRUE';
    if (token?.word !== '(') throw invalid(`has '${token?.word ?? 'its end'}' where a condition is expected`);
    const inner = either();
    if (!accept(')')) throw invalid('misses a closing bracket');
    return inner;
  };
  const holds = either();
  if (next < tokens.length) throw invalid(`does not end before '${tokens[next]?.word}'`);
  return { children, holds };
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const [found, fn, ...names] = TOKEN.exec(text) ?? [];
    if (found === undefined) throw invalid(`is not understood from '${text.slice(at)}'`);
    const alarm = names.slice(0, 3).find(name => name !== undefined);
    // An ARN ends with the alarm's name.
    tokens.push({ word: fn ?? found.trim(), alarm: alarm?.replace(/^arn:.*?:alarm:/, '') });
  }
  return tokens;
}

const invalid = (what: string): ServiceError => new ServiceError('ValidationError', `The AlarmRule ${what}.`);
