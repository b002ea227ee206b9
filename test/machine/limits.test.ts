import { describe, expect, test } from 'vitest';
import { HISTORY_EVENTS, STATE_PAYLOAD_BYTES } from '../../functions/core/limits.ts';
import type { Execution } from '../../local/states/execution.ts';
import { bracket, outcome, usual } from './helpers/bracket.ts';

const longestPayload = (execution: Execution): number =>
  Math.max(
    ...execution.history.events().flatMap(event =>
      Object.entries(event)
        .filter(([name]) => name.endsWith('EventDetails'))
        .flatMap(([, details]) => Object.values(details ?? {}))
        .filter(value => typeof value === 'string')
        .map(value => Buffer.byteLength(value)),
    ),
  );

test('R-HISTORY: the longest run stays far below the events that its execution may have', async () => {
  const run = await bracket({
    ...usual,
    autoScaling: null,
    broken: [3],
    targetGroups: [
      { name: 'web', port: 8080, attributes: { 'deregistration_delay.timeout_seconds': '3600' } },
    ],
  });
  const before = run.startBefore({ policy: { waitSeconds: 2000 } });
  await run.clock.pass(1_900_000);
  run.standing.fleet.instances[3]?.application.suffer(undefined);
  await run.end(before);
  expect(outcome(before)).toBe('SUCCEEDED');
  expect(Number(before.stoppedAt) - before.startedAt).toBeGreaterThan(5_500_000);
  expect(before.history.length).toBeLessThan(HISTORY_EVENTS / 8);
});

test('R-PAYLOAD: what passes between states does not grow with the fleet', async () => {
  const sizes = [];
  for (const instances of [4, 120]) {
    const run = await bracket({ ...usual, instances });
    const before = await run.before({ fleet: { autoScalingGroupName: 'web' }, traffic: 'leave' });
    const after = await run.after();
    expect([outcome(before), outcome(after)]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    sizes.push(Math.max(longestPayload(before), longestPayload(after)));
  }
  for (const size of sizes) expect(size).toBeLessThan(STATE_PAYLOAD_BYTES / 64);
});

describe('R-CHUNK: a fleet of more than a hundred', () => {
  test('is acted on in calls of at most a hundred', async () => {
    const run = await bracket({ ...usual, instances: 220 });
    await run.before({ fleet: { instanceIds: run.ids().slice(0, 110) } });
    await run.after();
    const sizes = (action: string, member: string) =>
      run.actsOf(action).map(({ input }) => (Array.isArray(input[member]) ? input[member].length : 0));
    expect(sizes('EnableApplicationStatusCheckSuppression', 'InstanceIds')).toEqual([100, 10]);
    expect(sizes('DisableApplicationStatusCheckSuppression', 'InstanceIds')).toEqual([100, 10]);
    expect(sizes('DeregisterTargets', 'Targets')).toEqual([100, 10]);
    expect(sizes('RegisterTargets', 'Targets')).toEqual([100, 10]);
    expect(await run.violations()).toEqual([]);
  });
});
