import type { Filter } from '@aws-sdk/client-ec2';
import { type Call, ServiceError } from '../wire/contract.ts';

/** The values of one filter for one item; an item matches a filter when any of them does. */
export type FilterValues<T> = { readonly [name: string]: (item: T) => readonly string[] };

/** UG: the most filter values of one request. */
const MOST_FILTER_VALUES = 200;

/** Refuses by name what a simulated operation does not implement; `rest` holds the members that it did not read. */
export function refuseOthers(action: string, rest: object): void {
  for (const [member, value] of Object.entries(rest)) {
    if (value !== undefined)
      throw new ServiceError('UnsupportedOperation', `The simulated ${action} does not implement ${member}.`);
  }
}

/** Answers a dry run as EC2 does: with an error that says that the request would have succeeded. */
export function refuseDryRun(dryRun: boolean | undefined): void {
  if (dryRun)
    throw new ServiceError('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.', 412);
}

export const invalidValue = (message: string): ServiceError =>
  new ServiceError('InvalidParameterValue', message);

/**
 * The items that every filter lets through. Values may hold `*` and `?`, as in EC2.
 *
 * @throws ServiceError InvalidParameterValue for a filter that is not in `known` (nor a tag filter, when `tagsOf` is
 * given), FilterLimitExceeded
 */
export function matching<T>(
  items: Iterable<T>,
  filters: readonly Filter[] | undefined,
  known: FilterValues<T>,
  tagsOf?: (item: T) => ReadonlyMap<string, string>,
): readonly T[] {
  const count = (filters ?? []).reduce((sum, { Values }) => sum + (Values?.length ?? 0), 0);
  if (count > MOST_FILTER_VALUES)
    throw new ServiceError(
      'FilterLimitExceeded',
      `The maximum number of filter values specified on a single call is ${MOST_FILTER_VALUES}`,
    );
  const tests = (filters ?? []).map(filter => {
    const valuesOf = known[filter.Name ?? ''] ?? (tagsOf && tagFilter(filter.Name ?? '', tagsOf));
    if (!valuesOf) throw invalidValue(`The filter '${filter.Name}' is invalid.`);
    const accepts = oneOf(filter.Values ?? []);
    return (item: T) => valuesOf(item).some(accepts);
  });
  return [...items].filter(item => tests.every(test => test(item)));
}

function tagFilter<T>(name: string, tagsOf: (item: T) => ReadonlyMap<string, string>) {
  if (name === 'tag-key') return (item: T) => [...tagsOf(item).keys()];
  if (!name.startsWith('tag:')) return undefined;
  const key = name.slice('tag:'.length);
  return (item: T) => {
    const value = tagsOf(item).get(key);
    return value === undefined ? [] : [value];
  };
}

function oneOf(patterns: readonly string[]): (value: string) => boolean {
  const literal = new Set(patterns.filter(pattern => !/[*?\\]/.test(pattern)));
  const wild = patterns.filter(pattern => /[*?\\]/.test(pattern)).map(wildcards);
  return value => literal.has(value) || wild.some(pattern => pattern.test(value));
}

/** `*` and `?` stand for any characters and any one character, unless a backslash precedes them. */
function wildcards(pattern: string): RegExp {
  const source = pattern.replaceAll(/\\?(.)/gs, (found, character: string) => {
    if (found === '*') return '.*';
    if (found === '?') return '.';
    return /\w/.test(character) ? character : `\\${character}`;
  });
  return new RegExp(`^${source}$`, 's');
}

/** The ids that were asked for, each once. */
export const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

/**
 * One page of `items`. A token is the position where the next page begins.
 *
 * @throws ServiceError InvalidParameterValue for a size outside `least` to `most`, InvalidNextToken for a foreign token
 */
export function page<T>(
  items: readonly T[],
  request: { readonly MaxResults?: number | undefined; readonly NextToken?: string | undefined },
  sizes: { readonly least: number; readonly most: number; readonly unlessAsked?: number },
): { readonly items: readonly T[]; readonly next: { readonly NextToken?: string } } {
  const { MaxResults, NextToken } = request;
  if (MaxResults !== undefined && (MaxResults < sizes.least || MaxResults > sizes.most))
    throw invalidValue(`MaxResults must be from ${sizes.least} to ${sizes.most}, not ${MaxResults}.`);
  const begin = NextToken === undefined ? 0 : Number(/^page-(\d+)$/.exec(NextToken)?.[1] ?? Number.NaN);
  if (Number.isNaN(begin)) throw new ServiceError('InvalidNextToken', `The token '${NextToken}' is invalid.`);
  const end = begin + (MaxResults ?? sizes.unlessAsked ?? items.length);
  return { items: items.slice(begin, end), next: end < items.length ? { NextToken: `page-${end}` } : {} };
}

/** A request whose ClientToken was seen before is ignored: it is answered as the first time, without an error. */
export function oncePerToken<In extends { readonly ClientToken?: string | undefined }, Out>(
  act: (input: In, call?: Call) => Out,
): (input: In, call?: Call) => Out {
  const answers = new Map<string, Out>();
  return (input, call) => {
    const token = input.ClientToken;
    if (token === undefined) return act(input, call);
    const earlier = answers.get(token);
    if (earlier !== undefined) return earlier;
    const answer = act(input, call);
    answers.set(token, answer);
    return answer;
  };
}

export const tagList = (tags: ReadonlyMap<string, string>): { Key: string; Value: string }[] =>
  Array.from(tags, ([Key, Value]) => ({ Key, Value }));

export const instanceNotFound = (ids: readonly string[]): ServiceError =>
  new ServiceError(
    'InvalidInstanceID.NotFound',
    ids.length === 1
      ? `The instance ID '${ids[0]}' does not exist`
      : `The instance IDs '${ids.join(', ')}' do not exist`,
  );
