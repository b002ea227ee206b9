import { inspect } from 'node:util';
import type * as z from 'zod/mini';
import { safeParse } from 'zod/v4/core';

/** What is wrong with one value, and what to write instead. */
export interface Fault {
  readonly path: readonly PropertyKey[];
  /** As it follows the name of the field: `must be at least 180, not 60`. */
  readonly message: string;
}

export type Reading<T> =
  | { readonly data: T; readonly faults?: undefined }
  | { readonly faults: readonly Fault[] };

/** Reads `given` by a schema, or says everything that is wrong with it, a fault a field. */
export function readOrFaults<S extends z.core.$ZodType>(schema: S, given: unknown): Reading<z.output<S>> {
  const read = safeParse(schema, given, { error: wordsFor });
  return read.success ? { data: read.data } : { faults: read.error.issues.flatMap(faultsOf) };
}

/** `policy.leadSeconds: must be at least 180, not 60`. */
export const sentenceOf = ({ path, message }: Fault, whole: string): string =>
  `${path.join('.') || whole}: ${message}`;

/** An issue about several members is one about each. */
function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map(key => ({ path: [...path, key], message }));
  if (issue.code === 'invalid_union') {
    const [meant, ...others] = issue.errors.filter(isMeant);
    if (meant && others.length === 0)
      return meant.flatMap(faultsOf).map(fault => ({ ...fault, path: [...path, ...fault.path] }));
  }
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => ({ path, message }));
  return [{ path, message }];
}

/** Is this the alternative of a union that was written? Its members are all known, and it is of the right kind. */
const isMeant = (issues: readonly z.core.$ZodIssue[]): boolean => issues.every(({ path }) => path.length > 0);

/** Words for what a schema has no words of its own for. */
function wordsFor(issue: z.core.$ZodRawIssue): string {
  const wanted = wantedBy(issue);
  if (issue.code === 'unrecognized_keys') return wanted;
  return issue.input === undefined ? `is missing: it ${wanted}` : `${wanted}, not ${shown(issue.input)}`;
}

function wantedBy(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return bounded('at least', issue.origin, Number(issue.minimum));
    case 'too_big':
      return bounded('at most', issue.origin, Number(issue.maximum));
    case 'invalid_format':
      return issue.format === 'datetime' ? DATETIME : `must begin with ${String(issue.prefix)}`;
    case 'unrecognized_keys':
      return `is no member here: use ${membersOf(issue.inst)}`;
    default:
      return 'must have another value';
  }
}

/** By JSON's and YAML's terms. */
const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with members',
  record: 'an object with members',
};

const DATETIME = 'must be a time with its zone, such as 2026-11-30T09:00:00Z';

function bounded(how: 'at least' | 'at most', origin: string, limit: number): string {
  if (origin === 'string') return limit === 1 ? 'must not be empty' : `must have ${how} ${limit} characters`;
  if (origin === 'array') return `must have ${how} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `must be ${how} ${limit}`;
}

function membersOf(schema: z.core.$ZodRawIssue['inst']): string {
  const definition: object = schema?._zod.def ?? {};
  return 'shape' in definition ? Object.keys(Object(definition.shape)).join(', ') : 'what the schema lists';
}

const LONGEST_SHOWN = 60;

/** A value as it is shown in a sentence. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { breakLength: Infinity });
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
}
