import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { endHold, findHold, joinHold, leaveHold } from '../../functions/core/ledger/auto-scaling-holds.ts';
import { type Choose, createLedger, inEveryOrder, type LedgerWorld } from './helpers/ledger.ts';

const HEALTH = ['HealthCheck', 'ReplaceUnhealthy'];

let ledger: LedgerWorld;
let count = 0;
const freshGroup = () => `web-${count++}`;

beforeAll(async () => {
  ledger = await createLedger();
});

test('R-UNDO: a hold records what it is about to suspend, and its end leaves nothing behind', () =>
  ledger.as(async () => {
    const group = freshGroup();
    expect(await findHold(group)).toBeUndefined();
    expect(await joinHold(group, 'a', { alone: false, suspending: HEALTH })).toEqual({
      runs: ['a'],
      suspended: HEALTH,
    });
    expect(await leaveHold(group, 'a')).toEqual(HEALTH);
    expect(await findHold(group)).toEqual({ runs: ['a'], suspended: HEALTH, resuming: 'a' });
    await endHold(group, 'a');
    expect(await findHold(group)).toBeUndefined();
  }));

test('R-PROCESS: a run that finds everything suspended by others joins with nothing to resume', () =>
  ledger.as(async () => {
    const group = freshGroup();
    expect(await joinHold(group, 'a', { alone: false, suspending: [] })).toEqual({
      runs: ['a'],
      suspended: [],
    });
    expect(await leaveHold(group, 'a')).toEqual([]);
  }));

test('D4: a hold is shared: who joins adds only what is not suspended yet, and the last out resumes all of it', () =>
  ledger.as(async () => {
    const group = freshGroup();
    await joinHold(group, 'a', { alone: false, suspending: HEALTH });
    const joined = await joinHold(group, 'b', { alone: false, suspending: ['AZRebalance'] });
    expect(joined?.runs).toEqual(['a', 'b']);
    expect(joined?.suspended.toSorted()).toEqual(['AZRebalance', ...HEALTH]);
    expect(await leaveHold(group, 'a')).toBeUndefined();
    expect((await leaveHold(group, 'b'))?.toSorted()).toEqual(['AZRebalance', ...HEALTH]);
  }));

describe('while the last run resumes', () => {
  test('nobody joins, and only that run ends the hold', () =>
    ledger.as(async () => {
      const group = freshGroup();
      await joinHold(group, 'a', { alone: false, suspending: HEALTH });
      await leaveHold(group, 'a');
      expect(await joinHold(group, 'b', { alone: false, suspending: HEALTH })).toBeUndefined();
      await endHold(group, 'b');
      expect(await findHold(group)).toMatchObject({ resuming: 'a' });
      await endHold(group, 'a');
      expect(await joinHold(group, 'b', { alone: false, suspending: HEALTH })).toMatchObject({ runs: ['b'] });
    }));

  test('R-SERIAL: a step that is repeated is told again what to resume', () =>
    ledger.as(async () => {
      const group = freshGroup();
      await joinHold(group, 'a', { alone: false, suspending: HEALTH });
      expect(await leaveHold(group, 'a')).toEqual(HEALTH);
      expect(await leaveHold(group, 'a')).toEqual(HEALTH);
      await endHold(group, 'a');
      expect(await leaveHold(group, 'a')).toBeUndefined();
      await endHold(group, 'a');
    }));
});

test('a run that is not in the hold has nothing to leave', () =>
  ledger.as(async () => {
    const group = freshGroup();
    expect(await leaveHold(group, 'a')).toBeUndefined();
    await joinHold(group, 'b', { alone: false, suspending: HEALTH });
    await joinHold(group, 'c', { alone: false, suspending: [] });
    expect(await leaveHold(group, 'a')).toBeUndefined();
    expect((await findHold(group))?.runs).toEqual(['b', 'c']);
  }));

/** Leaves and, when told that it is the last, resumes: what each leaving run does. */
const leave = (group: string, run: string) => async () => {
  const toResume = await leaveHold(group, run);
  if (toResume) await endHold(group, run);
  return toResume;
};

async function leavingAtOnce(runs: readonly string[], choose: Choose): Promise<void> {
  const group = freshGroup();
  await ledger.as(async () => {
    for (const run of runs) await joinHold(group, run, { alone: false, suspending: HEALTH });
  });
  const told = await ledger.interleaved(
    runs.map(run => leave(group, run)),
    choose,
  );
  expect(told.filter(processes => processes !== undefined)).toEqual([HEALTH]);
  expect(await ledger.as(() => findHold(group))).toBeUndefined();
}

test('D4: of two runs that leave at once exactly one is the last, in whatever order their calls are answered', async () => {
  // Two calls each, in any order.
  expect(await inEveryOrder(choose => leavingAtOnce(['a', 'b'], choose))).toBe(6);
});

test('D4: of any number of runs that leave at once exactly one is the last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 3, max: 5 }), fc.infiniteStream(fc.nat()), async (size, stream) => {
      const runs = ['a', 'b', 'c', 'd', 'e'].slice(0, size);
      await leavingAtOnce(runs, options => (stream.next().value ?? 0) % options);
    }),
    { numRuns: 40 },
  );
});

test('D4: a run that joins while the last one leaves is in the hold or is told to wait, never in one that is resumed', async () => {
  await inEveryOrder(async choose => {
    const group = freshGroup();
    await ledger.as(() => joinHold(group, 'a', { alone: false, suspending: HEALTH }));
    const [resumed, joined] = await ledger.interleaved<unknown>(
      [leave(group, 'a'), () => joinHold(group, 'b', { alone: false, suspending: HEALTH })],
      choose,
    );
    const hold = await ledger.as(() => findHold(group));
    if (joined === undefined) expect(resumed).toEqual(HEALTH);
    else expect(hold).toEqual({ runs: ['b'], suspended: HEALTH });
  });
});
