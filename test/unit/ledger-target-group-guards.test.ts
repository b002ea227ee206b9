import { beforeAll, describe, expect, test } from 'vitest';
import { pk } from '../../functions/core/ledger/items.ts';
import { get } from '../../functions/core/ledger/table.ts';
import {
  announceOut,
  forgetOut,
  giveGuard,
  outByZone,
  readGuards,
  takeGuard,
} from '../../functions/core/ledger/target-group-guards.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';

const UNTIL = NOW + 60;

let ledger: LedgerWorld;
let count = 0;
const freshGroup = () => `arn:web-${count++}`;
const outOf = async (arn: string) => Object.fromEntries((await readGuards([arn])).get(arn)?.outByRun ?? []);

beforeAll(async () => {
  ledger = await createLedger();
});

describe('D7: one run at a time judges a floor', () => {
  test('a guard keeps every other run away until it is given back', () =>
    ledger.as(async () => {
      const arn = freshGroup();
      expect(await takeGuard(arn, 'a', NOW, UNTIL)).toEqual({ outByRun: new Map() });
      expect(await takeGuard(arn, 'b', NOW, UNTIL)).toBeUndefined();
      expect(await takeGuard(arn, 'a', NOW, UNTIL)).toBeDefined();
      await giveGuard(arn, 'b');
      expect(await takeGuard(arn, 'b', NOW, UNTIL)).toBeUndefined();
      await giveGuard(arn, 'a');
      expect(await takeGuard(arn, 'b', NOW, UNTIL)).toBeDefined();
    }));

  test('R-SERIAL: the guard of a run that died ends by itself, after its last second and no sooner', () =>
    ledger.as(async () => {
      const arn = freshGroup();
      await takeGuard(arn, 'dead', NOW, UNTIL);
      expect(await takeGuard(arn, 'b', UNTIL, UNTIL + 60)).toBeUndefined();
      expect(await takeGuard(arn, 'b', UNTIL + 1, UNTIL + 61)).toBeDefined();
      expect(await announceOut(arn, 'dead', { a: 1 })).toBe(false);
      await giveGuard(arn, 'dead');
      expect(await takeGuard(arn, 'c', UNTIL + 1, UNTIL + 61)).toBeUndefined();
    }));

  test('of two that take it at once one has it, in whatever order', () =>
    inEveryOrder(async choose => {
      const arn = freshGroup();
      const taken = await ledger.interleaved(
        ['a', 'b'].map(run => () => takeGuard(arn, run, NOW, UNTIL)),
        choose,
      );
      expect(taken.filter(guard => guard !== undefined)).toHaveLength(1);
    }).then(orders => expect(orders).toBe(2)));
});

describe('D7: what runs have out belongs to the group', () => {
  test('is announced under the guard only, and seen by whoever takes it next', () =>
    ledger.as(async () => {
      const arn = freshGroup();
      expect(await announceOut(arn, 'a', { x: 1 })).toBe(false);
      expect(await outOf(arn)).toEqual({});
      await takeGuard(arn, 'a', NOW, UNTIL);
      expect(await announceOut(arn, 'a', { 'eu-west-1a': 2, 'eu-west-1b': 1 })).toBe(true);
      await giveGuard(arn, 'a');
      expect(await takeGuard(arn, 'b', NOW, UNTIL)).toEqual({
        outByRun: new Map([['a', { 'eu-west-1a': 2, 'eu-west-1b': 1 }]]),
      });
    }));

  test('counts each run once, however often it announces, and sums the runs by zone', () =>
    ledger.as(async () => {
      const arn = freshGroup();
      for (const [run, out] of [
        ['a', { x: 1, y: 1 }],
        ['a', { x: 2, y: 1 }],
        ['b', { x: 1 }],
      ] as const) {
        await takeGuard(arn, run, NOW, UNTIL);
        await announceOut(arn, run, out);
        await giveGuard(arn, run);
      }
      const guard = (await readGuards([arn])).get(arn);
      expect(Object.fromEntries(outByZone(guard))).toEqual({ x: 3, y: 1 });
      // A run that judges again counts its own by what it sees.
      expect(Object.fromEntries(outByZone(guard, 'a'))).toEqual({ x: 1 });
      expect(outByZone(undefined)).toEqual(new Map());
    }));

  test('is forgotten run by run, without the guard, and again without harm', () =>
    ledger.as(async () => {
      const arn = freshGroup();
      for (const run of ['a', 'b']) {
        await takeGuard(arn, run, NOW, UNTIL);
        await announceOut(arn, run, { x: 1 });
        await giveGuard(arn, run);
      }
      await takeGuard(arn, 'c', NOW, UNTIL);
      await forgetOut(arn, 'a');
      await forgetOut(arn, 'a');
      expect(await outOf(arn)).toEqual({ b: { x: 1 } });
      await forgetOut(arn, 'b');
      // The guard of another run survives that.
      expect(await takeGuard(arn, 'd', NOW, UNTIL)).toBeUndefined();
      expect(await announceOut(arn, 'c', { x: 1 })).toBe(true);
    }));

  test('of a group that nobody has touched is nothing', () =>
    ledger.as(async () => {
      const [touched, untouched] = [freshGroup(), freshGroup()];
      await takeGuard(touched, 'a', NOW, UNTIL);
      const guards = await readGuards([touched, untouched]);
      expect([...guards.keys()]).toEqual([touched, untouched]);
      expect(guards.get(untouched)).toEqual({ outByRun: new Map() });
    }));
});

test.each([
  ['forgets what it had out and gives the guard back', [forgetOut, giveGuard]],
  ['gives the guard back and forgets what it had out', [giveGuard, forgetOut]],
])('invariant 4: nothing is left of a group when its last run %s', (_, ending) =>
  ledger.as(async () => {
    const arn = freshGroup();
    await takeGuard(arn, 'a', NOW, UNTIL);
    await announceOut(arn, 'a', { x: 1 });
    for (const end of ending) await end(arn, 'a');
    expect(await get(pk.targetGroup(arn))).toBeUndefined();
  }),
);

test('D7: two runs cannot both count the same healthy target, in whatever order their calls are answered', async () => {
  const LEAVING = 2;
  const orders = await inEveryOrder(async choose => {
    const arn = freshGroup();
    // Four targets of which two may leave: each run takes two when the floor, judged under the guard, still permits it.
    const runs = ['a', 'b'].map(run => async () => {
      const guard = await takeGuard(arn, run, NOW, UNTIL);
      if (!guard) return false;
      const out = outByZone(guard).get('x') ?? 0;
      const permitted = 4 - out - LEAVING >= 2;
      const left = permitted && (await announceOut(arn, run, { x: LEAVING }));
      await giveGuard(arn, run);
      return left;
    });
    const left = await ledger.interleaved(runs, choose);
    expect(left.filter(Boolean)).toHaveLength(1);
  });
  expect(orders).toBeGreaterThan(4);
});
