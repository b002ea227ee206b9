import { type Expression, parseExpression } from './expression.ts';
import type { Fields } from './fields.ts';
import { isObject, type Json, toJson } from './json.ts';
import type { Reach, Scope } from './scope.ts';
import { arrayOf, type Field, type Kind, literal, objectOf, type Template, typed } from './template.ts';

/** Reads the fields of one state that may hold JSONata. */
export class TemplateReader {
  readonly #fields: Fields;
  readonly #scope: Scope;
  readonly #reach: Reach;

  constructor(fields: Fields, scope: Scope, reach: Reach = 'entry') {
    this.#fields = fields;
    this.#scope = scope;
    this.#reach = reach;
  }

  /** Any JSON text, with JSONata at any depth. */
  any(name: string): Template | undefined {
    const value = this.#fields.take(name);
    return value === undefined ? undefined : this.template(value, name);
  }

  /** A value of one kind: a literal is checked now, JSONata when it has been evaluated. */
  typed<T extends Json>(name: string, kind: Kind<T>): Field<T> | undefined {
    const value = this.#fields.take(name);
    if (value === undefined) return undefined;
    if (!isQuery(value) && !kind.accepts(value)) {
      this.#fields.problem(`${name} must be ${kind.words} or JSONata, but is ${JSON.stringify(value)}`);
    }
    return typed(this.template(value, name), kind, name);
  }

  template(value: unknown, field: string): Template {
    if (!hasQuery(value)) return literal(toJson(value));
    if (typeof value === 'string') return this.#expression(value, field);
    if (Array.isArray(value)) {
      return arrayOf(value.map((item, index) => this.template(item, `${field}[${index}]`)));
    }
    return objectOf(
      Object.entries(isObject(value) ? value : {}).map(([name, member]) => [
        name,
        this.template(member, `${field}/${name}`),
      ]),
    );
  }

  #expression(text: string, field: string): Template {
    const where = `${this.#fields.where}, ${field}`;
    const expression = this.#parse(text, field);
    if (!expression) return literal(null);
    this.#scope.refer(expression, where);
    for (const problem of expression.problems) this.#fields.problem(`${field}: ${problem}`);
    for (const member of expression.stateMembers) {
      if (member !== 'input' && member !== 'context' && member !== this.#reach) {
        this.#fields.problem(`${field}: $states.${member} does not exist here`);
      }
    }
    return bindings => expression.evaluate(bindings, field);
  }

  #parse(text: string, field: string): Expression | undefined {
    if (!text.endsWith('%}')) {
      this.#fields.problem(`${field}: a string that begins with {% must end with %}`);
      return undefined;
    }
    try {
      return parseExpression(text.slice(2, -2).trim());
    } catch (error) {
      this.#fields.problem(`${field}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
}

const isQuery = (value: unknown): boolean => typeof value === 'string' && value.startsWith('{%');

function hasQuery(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasQuery);
  return isObject(value) ? Object.values(value).some(hasQuery) : isQuery(value);
}
