import { describe, expect, test } from 'vitest';
import type { Execution } from '../../local/states/execution.ts';
import { type Bracket, bracket, outcome, usual } from './helpers/bracket.ts';

const MINUTE = 60_000;

/** Deploys to the first two instances; the second does not answer any more. */
async function failed(
  policy: Readonly<Record<string, unknown>>,
): Promise<{ run: Bracket; after: Execution }> {
  const run = await bracket(usual);
  await run.before({ policy: { readySeconds: 120, ...policy } });
  run.standing.fleet.instances[1]?.application.stop();
  const after = await run.after();
  return { run, after };
}

const registered = (run: Bracket): string[] =>
  run.standing.account.loadBalancing
    .registered(run.standing.fleet.targetGroups[0]?.arn ?? '')
    .map(({ id }) => id);

const suppressed = (run: Bracket): string[] =>
  run.ids().filter(id => run.standing.account.checks.overall(id).status === 'suppressed');

const suspended = (run: Bracket): string[] =>
  [...run.standing.account.autoScaling.groups()].flatMap(group => [...group.suspended.keys()]);

describe('D38: with policy.afterFailure held', () => {
  test('what is proven ready is put back, the rest stays out, suppressed, and unseen by Auto Scaling', async () => {
    const { run, after } = await failed({ afterFailure: 'held', heldSeconds: 3600 });
    expect(outcome(after)).toBe('FAILED BudgetSpent');
    const [, second] = run.ids();
    await run.clock.pass(30 * MINUTE);
    expect(registered(run).sort()).toEqual(run.ids(0, 2, 3).sort());
    expect(suppressed(run)).toEqual([second]);
    expect(suspended(run)).toEqual(['HealthCheck', 'ReplaceUnhealthy']);
  });
});
