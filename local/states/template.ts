import type { Bindings } from './expression.ts';
import { QueryEvaluationFailure } from './failure.ts';
import type { Json } from './json.ts';

/** A field that may hold JSONata, at any depth. */
export type Template = (bindings: Bindings) => Json | Promise<Json>;

/** A field of one kind. Rejects with QueryEvaluationFailure when JSONata gives another kind. */
export type Field<T> = (bindings: Bindings) => Promise<T>;

/** What a field accepts, in the words of the specification. */
export interface Kind<T extends Json> {
  readonly words: string;
  accepts(value: unknown): value is T;
}

const kind = <T extends Json>(words: string, accepts: (value: unknown) => value is T): Kind<T> => ({
  words,
  accepts,
});

const isWhole = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;

/** The greatest number of seconds that a field takes (AWS's guide). */
export const LONGEST_SECONDS = 99_999_999;

export const kinds = {
  string: kind('a string', value => typeof value === 'string'),
  boolean: kind('a boolean', value => typeof value === 'boolean'),
  array: kind('an array', (value): value is readonly Json[] => Array.isArray(value)),
  positiveInteger: kind('a positive integer', (value): value is number => isWhole(value, 1, LONGEST_SECONDS)),
  nonNegativeInteger: kind('a non-negative integer', (value): value is number =>
    isWhole(value, 0, LONGEST_SECONDS),
  ),
  percentage: kind(
    'a number between zero and 100',
    (value): value is number => typeof value === 'number' && value >= 0 && value <= 100,
  ),
  backoffRate: kind(
    'a number of at least 1.0',
    (value): value is number => typeof value === 'number' && value >= 1,
  ),
  /** RFC 3339 with an uppercase T, and an uppercase Z unless there is an offset. */
  timestamp: kind(
    'a timestamp',
    (value): value is string =>
      typeof value === 'string' &&
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
      Number.isFinite(Date.parse(value)),
  ),
} as const;

/** Narrows a template to one kind of value. */
export function typed<T extends Json>(
  template: Template,
  { words, accepts }: Kind<T>,
  field: string,
): Field<T> {
  return async bindings => {
    const value = await template(bindings);
    if (accepts(value)) return value;
    throw new QueryEvaluationFailure(
      field,
      `The field '${field}' must be ${words}, but was ${JSON.stringify(value)}.`,
    );
  };
}

export const literal =
  (value: Json): Template =>
  () =>
    value;

export const arrayOf =
  (items: readonly Template[]): Template =>
  async bindings => {
    const result: Json[] = [];
    for (const item of items) result.push(await item(bindings));
    return result;
  };

export const objectOf =
  (members: readonly (readonly [string, Template])[]): Template =>
  async bindings => {
    const result: Record<string, Json> = {};
    for (const [name, value] of members) result[name] = await value(bindings);
    return result;
  };
