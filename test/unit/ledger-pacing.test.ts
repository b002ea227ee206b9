import { beforeEach, describe, expect, test } from 'vitest';
import { type PacedAct, turnOf } from '../../functions/core/ledger/pacing.ts';
import { createRun } from '../../functions/core/ledger/runs.ts';
import { ELB_CALLS_PER_SECOND, SUPPRESSIONS_PER_SECOND } from '../../functions/core/limits.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { newRun } from './helpers/records.ts';

const NOW_MS = NOW * 1000;
/** What ten calls cost of the pace. */
const TEN = (10 * 1000) / ELB_CALLS_PER_SECOND;

let ledger: LedgerWorld;

async function withRuns(...runIds: readonly string[]): Promise<void> {
  ledger = await createLedger();
  for (const runId of runIds) await ledger.as(() => createRun(newRun(runId)));
}

const turn = (runId: string, act: PacedAct = 'out', at = NOW_MS, calls = 10) =>
  ledger.as(() => turnOf(runId, act, calls, at));

beforeEach(() => withRuns('a', 'b', 'c'));

describe('D10, D42: one pace over all runs', () => {
  test('the first may begin at once, and each of the others when those before it are through', async () => {
    expect(await turn('a')).toBe(NOW_MS);
    expect(await turn('b')).toBe(NOW_MS + TEN);
    expect(await turn('c', 'back')).toBe(NOW_MS + 2 * TEN);
  });

  test('a turn that lies ahead is kept, and had when its time has come', async () => {
    await turn('a');
    await turn('b');
    expect(await turn('b', 'out', NOW_MS + 1)).toBe(NOW_MS + TEN);
    await turn('c');
    const late = NOW_MS + TEN + 500;
    expect(await turn('b', 'out', late)).toBe(late);
    // It is used up: another act has to queue again.
    expect(await turn('b', 'out', late)).toBe(NOW_MS + 3 * TEN);
  });

  test('a run that waits for two things has a turn for each', async () => {
    await turn('a');
    expect(await turn('b', 'out')).toBe(NOW_MS + TEN);
    expect(await turn('b', 'back')).toBe(NOW_MS + 2 * TEN);
  });

  test('nothing is saved up while nobody calls', async () => {
    await turn('a');
    const later = NOW_MS + 3_600_000;
    expect(await turn('b', 'out', later)).toBe(later);
    expect(await turn('c', 'out', later)).toBe(later + TEN);
  });

  test('D31: suppressions, and their ends, have paces of their own', async () => {
    await turn('a');
    for (const act of ['suppress', 'release'] as const) {
      expect(await turn('a', act, NOW_MS, 1)).toBe(NOW_MS);
      expect(await turn('b', act, NOW_MS, 1)).toBe(NOW_MS + 1000 / SUPPRESSIONS_PER_SECOND);
    }
  });

  test('two runs that ask at once never have the same turn, in whatever order they are answered', async () => {
    const orders = await inEveryOrder(async choose => {
      await withRuns('a', 'b');
      const turns = await ledger.interleaved(
        ['a', 'b'].map(runId => () => turnOf(runId, 'out', 10, NOW_MS)),
        choose,
      );
      expect(turns.toSorted((one, other) => one - other)).toEqual([NOW_MS, NOW_MS + TEN]);
    });
    expect(orders).toBeGreaterThan(10);
  });

  test('a run without a record is given a turn, and none is kept for it', async () => {
    await turn('a');
    expect(await turn('none')).toBe(NOW_MS + TEN);
    expect(await turn('none')).toBe(NOW_MS + 2 * TEN);
  });
});
