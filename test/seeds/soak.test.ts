import { expect, test } from 'vitest';
import { hasGrown, soak } from '../../local/simulate/soak.ts';

test('five virtual hours with a hostile deployment in each leave nothing behind', async () => {
  const { hours, violations } = await soak(5, 1);
  expect(violations).toEqual([]);
  expect(hours).toHaveLength(5);
  expect(hours.at(-1)).toMatchObject({ claimed: 0, running: 0, suppressed: 0 });
});

test('a heap that grows hour by hour is told from one that warms up', () => {
  const hours = (...heaps: number[]) =>
    heaps.map((heapMegabytes, index) => ({
      hour: index + 1,
      outcome: 'succeeded',
      heapMegabytes,
      claimed: 0,
      running: 0,
      suppressed: 0,
    }));
  expect(hasGrown(hours(40, 50, 60, 60, 61, 62, 62, 62))).toBe(false);
  expect(hasGrown(hours(50, 60, 70, 80, 90, 100, 110, 120))).toBe(true);
});
