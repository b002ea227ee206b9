import { describe, expect, test } from 'vitest';
import { SWEEP_SECONDS } from '../../functions/core/domain/sweep.ts';
import { executionName } from '../../functions/core/naming.ts';
import { type Bracket, outcome } from '../machine/helpers/bracket.ts';
import { secondsUntilHealed, stopAt, swept } from './helpers/stopped.ts';

const machines = ['BeforeDeploy', 'AfterDeploy', 'UndoRun'] as const;
type Machine = (typeof machines)[number];

/**
 * States of every kind: what acts, what looks, what waits and decides, the first and the last. EVERY_STATE=1 tries all of
 * them, some 60 in about a minute.
 */
const SOME: Readonly<Record<Machine, readonly string[]>> = {
  BeforeDeploy: ['Plan', 'Suppress', 'Deregister', 'ObserveDrained', 'GoAhead'],
  AfterDeploy: ['Bracket', 'Register', 'WaitForEvidence', 'Release', 'Succeed'],
  UndoRun: ['Bracket', 'TakeOver', 'Undo', 'CloseRun'],
};

/** In the middle of what the state does: a function that was called goes on (D5). EVERY_STATE=1 STOP_AFTER_MS=0 was tried too. */
const STOP_AFTER_MS = Number(process.env.STOP_AFTER_MS ?? 60);

/** What an undo of two instances behind one group takes here: acts in flight, a delay of 60 s, a release that spreads. */
const UNDO_SECONDS = 65 + 60 + 155 + 450;

async function statesOf(machine: Machine): Promise<readonly string[]> {
  if (!process.env.EVERY_STATE) return SOME[machine];
  const run = await swept();
  await run.before();
  await run.after();
  await stopIn(run, 'BeforeDeploy', 'ObserveDrained');
  await secondsUntilHealed(run);
  const entered = run.entries('state-entered').filter(entry => entry.machine.includes(machine));
  return [...new Set(entered.map(({ state }) => state))];
}

/** Starts a run whose execution of this machine a person stops in this state. */
async function stopIn(run: Bracket, machine: Machine, state: string): Promise<void> {
  const runId = `${machine}-${state}`;
  const stopped = stopAt(run, machine, state, STOP_AFTER_MS);
  if (machine === 'AfterDeploy') {
    expect(outcome(await run.before({ runId }))).toBe('SUCCEEDED');
    run.stack.startExecution('AfterDeploy', { name: executionName('after', runId), input: { runId } });
  } else {
    if (machine === 'UndoRun') stopAt(run, 'BeforeDeploy', 'ObserveDrained', 0);
    run.startBefore({ runId });
  }
  await run.clock.runFor(stopped);
}

describe('R-SWEEP, R-UNDO: a run that a person stops in any state leaves nothing behind', () => {
  test.for(machines)('of %s, though no event of it arrives', { timeout: 300_000 }, async machine => {
    const run = await swept();
    for (const state of await statesOf(machine)) {
      await stopIn(run, machine, state);
      const seconds = await secondsUntilHealed(run);
      if (process.env.EVERY_STATE) console.log(machine, state, seconds);
      // An undo that was stopped before it took the run over shows only one sweep later.
      expect(seconds, state).toBeLessThan(2 * SWEEP_SECONDS + UNDO_SECONDS);
    }
    expect(await run.violations()).toEqual([]);
  });
});
