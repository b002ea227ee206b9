import { expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import { refuseExecutionLoops } from '../../local/simulate/execution-loops.ts';

const MINUTE = 60_000;

/** A machine that is started so often, one after the other, beside a fleet of one. */
async function started(times: number, everyMs: number): Promise<void> {
  const { clock, journal } = createWorld();
  refuseExecutionLoops({ clock, journal }, 1);
  const execution = { type: 'execution', executionArn: 'arn', machine: 'UndoRun', error: undefined } as const;
  let left = times;
  const loop = clock.every(everyMs, () => {
    journal.record({ ...execution, status: 'RUNNING' });
    journal.record({ ...execution, status: 'FAILED' });
    if (--left === 0) loop.cancel();
  });
  await clock.run(() => left === 0);
}

test('R-LOOP: a machine that is started again and again ends the simulation, which would not end by itself', async () => {
  await expect(started(300, 10_000)).rejects.toThrow('UndoRun was started 209 times within an hour.');
});

test('a machine may be started every minute, for as long as one likes', async () => {
  await started(2_000, MINUTE);
});
