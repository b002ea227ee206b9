/** What a batch did, member by member: one bad member does not block the rest (R-PARTIAL). */
export interface PerItem<T, D = T> {
  readonly done: D[];
  readonly failed: { readonly item: T; readonly reason: string }[];
}

/** Cuts `items` into runs of at most `size`; none when there are no items. */
export function chunk<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let from = 0; from < items.length; from += size) chunks.push(items.slice(from, from + size));
  return chunks;
}

/**
 * Does `work` on every item, on at most `limit` of them at once; the results are in the items' order.
 *
 * @throws the first error, after what was running has settled; no further item is begun
 */
export async function concurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const errors: unknown[] = [];
  const worker = async () => {
    for (const [index, item] of waiting) {
      if (errors.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (errors.length > 0) throw errors[0];
  return results;
}

/** Does `work` on every chunk of `size` items, as {@link concurrently} does on every item. */
export const inChunks = <T, R>(
  items: readonly T[],
  size: number,
  limit: number,
  work: (chunk: T[]) => Promise<R>,
): Promise<R[]> => concurrently(chunk(items, size), limit, work);

/** One page of a listing; an absent or empty `next` ends it. */
export interface Page<T> {
  readonly items: readonly T[] | undefined;
  readonly next: string | undefined;
}

/**
 * Reads all pages of a listing (R-PAGE).
 *
 * @throws Error when a token comes twice, since following it would never end
 */
export async function pages<T>(read: (next: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const all: T[] = [];
  const followed = new Set<string>();
  for (let next: string | undefined; ; ) {
    const page = await read(next);
    all.push(...(page.items ?? []));
    if (!page.next) return all;
    if (followed.has(page.next))
      throw new Error(`the listing gave the page token ${page.next} a second time`);
    followed.add(page.next);
    next = page.next;
  }
}

/**
 * Does `work` on all items in one call; on no items, nothing. Where AWS refuses the whole call for the fault of one
 * member, the batch is halved until that member stands alone and the others are done: about 14 further calls for one bad
 * member in a hundred.
 *
 * @param blames does this error mean that some member is at fault? Every other error is thrown.
 */
export async function isolating<T, D>(
  items: readonly T[],
  blames: (error: unknown) => boolean,
  work: (items: readonly T[]) => Promise<readonly D[]>,
): Promise<PerItem<T, D>> {
  if (items.length === 0) return { done: [], failed: [] };
  try {
    return { done: [...(await work(items))], failed: [] };
  } catch (error) {
    if (!blames(error)) throw error;
    if (items.length === 1) {
      const reason = error instanceof Error ? error.message : String(error);
      return { done: [], failed: items.map(item => ({ item, reason })) };
    }
    const middle = Math.ceil(items.length / 2);
    return joined([
      await isolating(items.slice(0, middle), blames, work),
      await isolating(items.slice(middle), blames, work),
    ]);
  }
}

/** The per-item results of several batches as one. */
export function joined<T, D>(results: readonly PerItem<T, D>[]): PerItem<T, D> {
  return { done: results.flatMap(one => one.done), failed: results.flatMap(one => one.failed) };
}
