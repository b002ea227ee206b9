import { expect, it } from 'vitest';
import { deployAtOnce, sumOf } from '../../local/bench/deployment-calls.ts';

/** `npm run bench -- --hooks 500` does it with as many as a large fleet has. */
const INSTANCES = 16;

it(`D10: ${INSTANCES} runs of one deployment at once stay within half of ELB's buckets, and within EC2's`, {
  timeout: 120_000,
}, async () => {
  const { simulated, throttled, fullest, calls } = await deployAtOnce(INSTANCES);
  expect(simulated.deployment.outcome, simulated.deployment.cause).toBe('succeeded');
  expect(simulated.violations).toEqual([]);
  expect(simulated.measures.replaced).toBe(0);
  const executions = [...(simulated.stack?.executions.all() ?? [])];
  expect(executions).toHaveLength(2 * INSTANCES);
  expect(executions.filter(({ status }) => status !== 'SUCCEEDED')).toEqual([]);
  expect(throttled).toEqual([]);

  // One alone shares with nobody.
  const unshared = sumOf((await deployAtOnce(1)).calls) * INSTANCES;
  expect(sumOf(calls)).toBeLessThan(unshared / 3);
  const percent = Math.round(100 * fullest.used);
  console.log(
    `${INSTANCES} runs: ${sumOf(calls)} calls, ${Math.round(unshared)} unshared; ${fullest.bucket} used to ${percent} %`,
  );
});
