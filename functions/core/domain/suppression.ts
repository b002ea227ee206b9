import type { Member } from './fleet.ts';

/** How a run leaves the suppression of an instance: `restore` ends it when somebody else's would have ended. */
export type Leaving =
  | { readonly how: 'disable' }
  | { readonly how: 'restore'; readonly until: number }
  | { readonly how: 'untouched' };

/**
 * Ours is disabled. Somebody else's is there afterwards as it was found: one that did not last long enough was lengthened,
 * and gets its own end back unless that has passed (D13, D39).
 *
 * @param until how long the run needed the suppression, and @param now, in seconds since the epoch
 */
export function leaveSuppression(
  { suppression, othersUntil }: Pick<Member, 'suppression' | 'othersUntil'>,
  until: number,
  now: number,
): Leaving {
  if (suppression === 'ours') return { how: 'disable' };
  const lengthened = suppression === 'others' && othersUntil !== undefined && othersUntil < until;
  if (!lengthened) return { how: 'untouched' };
  return othersUntil <= now ? { how: 'disable' } : { how: 'restore', until: othersUntil };
}
