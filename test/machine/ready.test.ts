import { describe, expect, test } from 'vitest';
import { bracket } from './helpers/bracket.ts';

const MINUTE = 60_000;

describe('D17', () => {
  test('ready, then in traffic, then ready twice more, then released', async () => {
    const run = await bracket();
    await run.before();
    const after = await run.after();
    const order = [
      'ObserveReady',
      'Register',
      'ObserveInService',
      'ObserveEvidence',
      'Release',
      'ObserveReleased',
    ];
    const entered = order.map(state => run.enteredAt(after, state));
    expect(entered).toEqual([...entered].sort((a, b) => a - b));
    // R-AGREE: two evaluations, one a minute.
    expect(run.enteredAt(after, 'Release') - run.enteredAt(after, 'Register')).toBeGreaterThan(MINUTE);
  });

  test('an instance that is not ready gets no traffic', async () => {
    const run = await bracket();
    await run.before();
    for (const instance of run.standing.fleet.instances.slice(0, 2)) instance.application.stop();
    const after = run.start('AfterDeploy', { runId: 'r' });
    await run.clock.pass(8 * MINUTE);
    expect(run.actsOf('RegisterTargets')).toEqual([]);
    for (const instance of run.standing.fleet.instances.slice(0, 2)) instance.application.start(0);
    await run.end(after);
    expect(after.status).toBe('SUCCEEDED');
    expect(await run.violations()).toEqual([]);
  });

  test('on request it gets traffic before it is ready', async () => {
    const run = await bracket();
    await run.before({ policy: { readyBeforeTraffic: false } });
    const after = await run.after();
    expect(after.status).toBe('SUCCEEDED');
    expect(run.path(after)).not.toContain('ObserveReady');
  });
});
