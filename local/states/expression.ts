import jsonata from 'jsonata';
import { QueryEvaluationFailure } from './failure.ts';
import { addedFunctions } from './functions.ts';
import { isObject, type Json, toJson } from './json.ts';

/** Variables, functions and `$states`, by name without `$`. Inherited members count: an inner scope extends the outer. */
export type Bindings = Readonly<Record<string, unknown>>;

/** A JSONata expression, parsed, with what is known of it without running it. */
export interface Expression {
  readonly source: string;
  /** The variables and functions that it needs from outside. */
  readonly free: ReadonlySet<string>;
  /** The members of `$states` that it names. */
  readonly stateMembers: ReadonlySet<string>;
  /** Why Step Functions would not take it. */
  readonly problems: readonly string[];
  /** @throws QueryEvaluationFailure when it throws, or returns what JSON cannot express */
  evaluate(bindings: Bindings, field: string): Promise<Json>;
}

const parsed = new Map<string, Expression>();

/** Parses JSONata 2.0.6, once for each source. Throws an Error that says where the syntax is wrong. */
export function parseExpression(source: string): Expression {
  const known = parsed.get(source);
  if (known) return known;
  const expression = parse(source);
  parsed.set(source, expression);
  return expression;
}

function parse(source: string): Expression {
  let compiled: jsonata.Expression;
  try {
    compiled = jsonata(source);
  } catch (error) {
    throw new Error(`JSONata does not parse '${source}': ${messageOf(error)}`);
  }
  for (const [name, implementation] of Object.entries(addedFunctions)) {
    compiled.registerFunction(name, implementation);
  }
  const findings = new Findings();
  findings.visit(compiled.ast(), false);
  for (const name of findings.bound) findings.free.delete(name);
  return {
    source,
    free: findings.free,
    stateMembers: findings.stateMembers,
    problems: findings.problems,
    async evaluate(bindings, field) {
      const fail = (what: string) =>
        new QueryEvaluationFailure(
          field,
          `The JSONata expression '${source}' specified for the field '${field}' ${what}`,
        );
      let value: unknown;
      try {
        value = await compiled.evaluate(undefined, bindings);
      } catch (error) {
        throw fail(`threw an error during evaluation. ${messageOf(error)}`);
      }
      if (value === undefined) throw fail('returned nothing (undefined).');
      if (typeof value === 'function' || isFunctionOfJsonata(value)) throw fail('returned a function.');
      return typeof value === 'object' ? toJson(value) : toScalar(value, fail);
    },
  };
}

function toScalar(value: unknown, fail: (what: string) => QueryEvaluationFailure): Json {
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw fail(`returned ${String(value)}, which JSON cannot express.`);
}

const isFunctionOfJsonata = (value: unknown): boolean =>
  isObject(value) && (value._jsonata_function === true || value._jsonata_lambda === true);

/** JSONata throws plain objects with a message. */
const messageOf = (error: unknown): string =>
  isObject(error) && typeof error.message === 'string' ? error.message : String(error);

/** The members of a syntax node whose own context item is that of the data, not of the expression. */
const nestedMembers: ReadonlySet<string> = new Set([
  'delete',
  'group',
  'pattern',
  'predicate',
  'stages',
  'terms',
  'update',
]);

/** Walks the syntax tree once and notes what the specification restricts. */
class Findings {
  readonly free = new Set<string>();
  readonly bound = new Set<string>();
  readonly stateMembers = new Set<string>();
  readonly problems: string[] = [];

  /** `nested` says that a context item exists, so that `$` and bare names mean something. */
  visit(node: unknown, nested: boolean): void {
    if (Array.isArray(node)) {
      for (const each of node) this.visit(each, nested);
      return;
    }
    if (!isObject(node)) return;
    this.#note(node, nested);
    for (const [member, value] of Object.entries(node)) {
      if (member === 'steps' && Array.isArray(value)) {
        for (const [index, step] of value.entries()) this.visit(step, nested || index > 0);
      } else {
        this.visit(value, nested || nestedMembers.has(member));
      }
    }
  }

  #note(node: Readonly<Record<string, unknown>>, nested: boolean): void {
    const { type, value } = node;
    for (const binding of [node.focus, node.index]) {
      if (typeof binding === 'string') this.bound.add(binding);
    }
    if (type === 'variable' && typeof value === 'string') this.#noteVariable(value, nested);
    if (!nested && (type === 'name' || type === 'wildcard' || type === 'descendant')) {
      this.problems.push(
        `'${String(value)}' at the top level names the input document, which does not exist`,
      );
    }
    if (type === 'bind') this.#bind(node.lhs);
    if (type === 'lambda' && Array.isArray(node.arguments))
      for (const each of node.arguments) this.#bind(each);
    if (type === 'path' && Array.isArray(node.steps)) this.#noteStates(node.steps);
    if (type === 'function' && isObject(node.procedure) && node.procedure.value === 'now') {
      const given = node.arguments;
      if (Array.isArray(given) && given.length > 0) {
        this.problems.push('$now with arguments is not implemented: use $fromMillis($millis(), picture)');
      }
    }
  }

  #noteVariable(name: string, nested: boolean): void {
    if (name === '$') this.problems.push("'$$' names the input document, which does not exist");
    else if (name !== '') this.free.add(name);
    else if (!nested)
      this.problems.push("'$' at the top level names the input document, which does not exist");
  }

  #bind(variable: unknown): void {
    if (isObject(variable) && typeof variable.value === 'string') this.bound.add(variable.value);
  }

  #noteStates([first, second]: readonly unknown[]): void {
    if (!isObject(first) || first.type !== 'variable' || first.value !== 'states') return;
    if (isObject(second) && second.type === 'name') this.stateMembers.add(String(second.value));
  }
}
