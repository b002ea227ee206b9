import { expect } from 'vitest';
import { runSeed, tasksFor } from '../../../local/simulate/seeds/seed-run.ts';

/** Simulates seeds with each fault profile in turn: none may break anything. */
export async function expectUnbroken(from: number, count: number): Promise<void> {
  const broken: string[] = [];
  let checkedInstants = 0;
  for (const task of tasksFor(from, count, 'each')) {
    const result = await runSeed(task);
    checkedInstants += result.checkedInstants;
    const [breach] = result.breaches;
    if (breach)
      broken.push(
        `npm run simulate -- --seeds 1 --from ${task.seed} --faults ${task.profile}: ${breach.invariant}: ${breach.what}`,
      );
  }
  expect(broken).toEqual([]);
  expect(checkedInstants).toBeGreaterThan(count * 100);
}
