import { ServiceError } from '../wire/contract.ts';

export interface Page<T> {
  readonly items: T[];
  readonly nextToken: string | undefined;
}

/**
 * One page of `items`. The token is the position of the next page; AWS's is opaque.
 *
 * @throws ServiceError `refusal` for a token that was never given out
 */
export function pageOf<T>(
  items: readonly T[],
  token: string | undefined,
  size: number,
  refusal: 'InvalidNextToken' | 'InvalidNextTokenException',
): Page<T> {
  const start = token === undefined ? 0 : Number(/^from-(\d+)$/.exec(token)?.[1] ?? Number.NaN);
  if (Number.isNaN(start)) throw new ServiceError(refusal, 'The NextToken value is not valid.');
  const end = start + size;
  return { items: items.slice(start, end), nextToken: end < items.length ? `from-${end}` : undefined };
}
