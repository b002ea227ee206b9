import { expect, test } from 'vitest';
import { chunk, concurrently, inChunks, isolating, pages } from '../../functions/core/aws/batch.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const turn = () => new Promise(resolve => setImmediate(resolve));

test('R-CHUNK: chunks are never larger than asked, and no items are no chunk', () => {
  expect(chunk(numbers(5), 2)).toEqual([[0, 1], [2, 3], [4]]);
  expect(chunk([], 2)).toEqual([]);
});

test('items are worked on at most so many at once, and answered in their order', async () => {
  let running = 0;
  let most = 0;
  const results = await concurrently(numbers(9), 3, async item => {
    most = Math.max(most, ++running);
    for (let turns = 9 - item; turns > 0; turns--) await turn();
    running--;
    return item;
  });
  expect(most).toBe(3);
  expect(results).toEqual(numbers(9));
});

test('R-CHUNK: chunks are worked on as items are', async () => {
  const work = async (chunk: readonly number[]) => chunk.length;
  expect(await inChunks(numbers(5), 2, 2, work)).toEqual([2, 2, 1]);
});

test('the first failure rejects after what was running has settled, and nothing new is begun', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = concurrently(numbers(6), 2, async item => {
    begun.push(item);
    if (item === 0) throw new Error('the first');
    await turn();
    ended.push(item);
    throw new Error('the second');
  });
  await expect(work).rejects.toThrow('the first');
  expect(begun).toEqual([0, 1]);
  expect(ended).toEqual([1]);
});

test('R-PAGE: every page is read, empty ones too, until no token is given', async () => {
  const given: Record<string, { items: number[] | undefined; next: string | undefined }> = {
    '': { items: [1, 2], next: 'a' },
    a: { items: undefined, next: 'b' },
    b: { items: [3], next: '' },
  };
  const read = async (next: string | undefined) => given[next ?? ''] ?? { items: [], next: undefined };
  expect(await pages(read)).toEqual([1, 2, 3]);
});

test('R-PAGE: a token that comes back ends the listing with an error', async () => {
  let calls = 0;
  const work = pages(async () => ({ items: [++calls], next: calls === 2 ? 'b' : 'a' }));
  await expect(work).rejects.toThrow('a second time');
  expect(calls).toBe(3);
});

const bad = new Set([17, 63]);
const refuseBad = (calls: number[][]) => async (items: readonly number[]) => {
  calls.push([...items]);
  if (items.some(item => bad.has(item))) throw new Error('one of them is bad');
  return items;
};

test('R-PARTIAL: bad members are isolated and named, and all the others are done once', async () => {
  const calls: number[][] = [];
  const result = await isolating(numbers(100), () => true, refuseBad(calls));
  expect(result.failed).toEqual([
    { item: 17, reason: 'one of them is bad' },
    { item: 63, reason: 'one of them is bad' },
  ]);
  expect(result.done).toEqual(numbers(100).filter(item => !bad.has(item)));
  expect(calls.length).toBeLessThanOrEqual(1 + 2 * 14);
});

test('R-PARTIAL: an error that blames nobody is thrown at once', async () => {
  const calls: number[][] = [];
  await expect(isolating(numbers(100), () => false, refuseBad(calls))).rejects.toThrow('bad');
  expect(calls).toHaveLength(1);
});

test('no items are no call', async () => {
  const calls: number[][] = [];
  expect(await isolating([], () => true, refuseBad(calls))).toEqual({ done: [], failed: [] });
  expect(calls).toEqual([]);
});
