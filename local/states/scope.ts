import type { Expression } from './expression.ts';
import { builtInFunctions } from './functions.ts';

/** The members of `$states` that a field may name beside input and context. */
export type Reach = 'entry' | 'result' | 'errorOutput';

/**
 * The variables of one `States` field. A variable exists in a scope if any state in it assigns it, so references can be
 * judged only when the whole machine has been read.
 */
export class Scope {
  readonly #outer: Scope | undefined;
  readonly #assigned = new Map<string, string>();
  readonly #references: { readonly name: string; readonly where: string }[] = [];
  readonly #inner: Scope[] = [];

  constructor(outer?: Scope) {
    this.#outer = outer;
    if (outer) outer.#inner.push(this);
  }

  assign(name: string, where: string): void {
    this.#assigned.set(name, where);
  }

  refer(expression: Expression, where: string): void {
    for (const name of expression.free) this.#references.push({ name, where });
  }

  /** What is wrong with the variables of this scope and of those inside it. */
  problems(): string[] {
    const clashes = [...this.#assigned]
      .filter(([name]) => this.#outer?.knows(name))
      .map(
        ([name, where]) =>
          `${where}: the variable ${name} belongs to an outer scope and cannot be assigned here`,
      );
    const unknown = this.#references
      .filter(({ name }) => name !== 'states' && !builtInFunctions.has(name) && !this.knows(name))
      .map(({ name, where }) =>
        name === 'eval'
          ? `${where}: $eval is not available in Step Functions, use $parse`
          : `${where}: $${name} is neither a variable that some state of this scope assigns nor a function`,
      );
    return [...clashes, ...unknown, ...this.#inner.flatMap(inner => inner.problems())];
  }

  knows(name: string): boolean {
    return this.#assigned.has(name) || (this.#outer?.knows(name) ?? false);
  }
}
