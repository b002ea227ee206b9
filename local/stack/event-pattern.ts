import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** Whether an event, whose arrays count by their elements, matches. */
export type EventMatcher = (event: JsonObject) => boolean;

type ValueMatcher = (value: Json) => boolean;

/**
 * Compiles an EventBridge event pattern.
 *
 * @throws Error on an operator that is not implemented or used as EventBridge would refuse
 */
export function compilePattern(pattern: JsonObject, where: string): EventMatcher {
  const matches = compileObject(pattern, where);
  return event => matches(event);
}

function compileObject(pattern: JsonObject, where: string): (value: Json | undefined) => boolean {
  const entries = Object.entries(pattern);
  if (entries.length === 0) throw new Error(`${where}: an event pattern may not be empty`);
  const members = entries.map(([member, wanted]) => {
    const at = `${where}.${member}`;
    if (member === '$or') return compileAlternatives(wanted, at);
    const matches = compileMember(wanted, at);
    return (object: JsonObject) => matches(object[member]);
  });
  return value =>
    elements(value).some(element => isObject(element) && members.every(matches => matches(element)));
}

function compileAlternatives(wanted: Json, where: string): (object: JsonObject) => boolean {
  if (!isList(wanted)) throw new Error(`${where}: a list of patterns is expected`);
  const alternatives = wanted.map(alternative => {
    if (!isObject(alternative)) throw new Error(`${where}: a list of patterns is expected`);
    return compileObject(alternative, where);
  });
  return object => alternatives.some(matches => matches(object));
}

function compileMember(wanted: Json, where: string): (value: Json | undefined) => boolean {
  if (isObject(wanted)) {
    const matches = compileObject(wanted, where);
    // A nested pattern may ask for the absence of what an absent object would hold.
    return value => matches(value ?? {});
  }
  if (!isList(wanted) || wanted.length === 0)
    throw new Error(`${where}: an event pattern's values have to be a list with at least one member`);
  const alternatives = wanted.map(alternative => compileLeaf(alternative, where));
  return value => alternatives.some(matches => matches(value));
}

/** `exists` is about the member, everything else about its values. */
function compileLeaf(wanted: Json, where: string): (value: Json | undefined) => boolean {
  if (isObject(wanted) && 'exists' in wanted) {
    const { exists } = wanted;
    if (typeof exists !== 'boolean') throw new Error(`${where}: exists has to be true or false`);
    return value => elements(value).some(element => !isObject(element)) === exists;
  }
  const matches = isObject(wanted) ? compileOperator(wanted, where) : equals(wanted);
  return value => elements(value).some(matches);
}

function compileOperator(wanted: JsonObject, where: string): ValueMatcher {
  const [[operator, operand] = ['', null], ...others] = Object.entries(wanted);
  if (others.length > 0) throw new Error(`${where}: one operator a member is expected`);
  switch (operator) {
    case 'prefix':
      return onText(operand, where, (value, text) => value.startsWith(text));
    case 'suffix':
      return onText(operand, where, (value, text) => value.endsWith(text));
    case 'wildcard':
      return onText(operand, where, matchesStars);
    case 'equals-ignore-case':
      return onText(operand, where, (value, text) => value.toLowerCase() === text.toLowerCase());
    case 'anything-but': {
      const refused = isObject(operand)
        ? [compileOperator(operand, where)]
        : (isList(operand) ? operand : [operand]).map(equals);
      return value => !isObject(value) && !refused.some(matches => matches(value));
    }
    case 'numeric':
      return numeric(operand, where);
    default:
      throw new Error(`${where}: the operator ${operator} of event patterns is not implemented`);
  }
}

const equals =
  (wanted: Json): ValueMatcher =>
  value =>
    value === wanted;

function onText(operand: Json, where: string, test: (value: string, text: string) => boolean): ValueMatcher {
  if (typeof operand !== 'string') throw new Error(`${where}: only a string operand is implemented`);
  return value => typeof value === 'string' && test(value, operand);
}

/** `*` is any run of characters, and nothing else is special. */
function matchesStars(value: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return value === pattern;
  if (!value.startsWith(first) || !value.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const at = value.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from + last.length <= value.length;
}

const COMPARISONS: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  '=': (value, bound) => value === bound,
  '<': (value, bound) => value < bound,
  '<=': (value, bound) => value <= bound,
  '>': (value, bound) => value > bound,
  '>=': (value, bound) => value >= bound,
};

/** `[">", 0, "<=", 5]`: pairs of a comparison and a bound, all of which have to hold. */
function numeric(operand: Json, where: string): ValueMatcher {
  const parts = isList(operand) ? operand : [];
  const tests: ((value: number) => boolean)[] = [];
  for (let place = 0; place < parts.length; place += 2) {
    const compare = COMPARISONS[String(parts[place])];
    const bound = parts[place + 1];
    if (!compare || typeof bound !== 'number')
      throw new Error(`${where}: numeric needs pairs of a comparison and a number`);
    tests.push(value => compare(value, bound));
  }
  if (tests.length === 0) throw new Error(`${where}: numeric needs pairs of a comparison and a number`);
  return value => typeof value === 'number' && tests.every(test => test(value));
}

/** EventBridge looks into arrays: a value matches when one of its elements does. */
const elements = (value: Json | undefined): readonly Json[] =>
  value === undefined ? [] : isList(value) ? value.flatMap(elements) : [value];
