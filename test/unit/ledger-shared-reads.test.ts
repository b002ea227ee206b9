// First, so that the ledger reads virtual time.
import '../../local/clock/lambda-globals.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { sharingOf } from '../../functions/core/bracket/sharing.ts';
import { ObservationPending } from '../../functions/core/errors.ts';
import { findObserver, recordObserver } from '../../functions/core/ledger/observers.ts';
import { findRefusal, recordRefusal } from '../../functions/core/ledger/refusals.ts';
import { forgetShared, readShared } from '../../functions/core/ledger/shared-reads.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';

const NOW_MS = NOW * 1000;

let ledger: LedgerWorld;
let reads = 0;

beforeEach(async () => {
  ledger = await createLedger();
  reads = 0;
});

const read = async () => {
  reads++;
  return { seen: reads };
};

const shared = (notBefore: number, key = 'health', how: () => Promise<unknown> = read) =>
  ledger.as(() => readShared({ key, notBefore, read: how }));
const pass = (seconds: number) => ledger.as(() => sleep(seconds * 1000));

describe('D10: a read that is shared', () => {
  test('is made once for all that may be so old', async () => {
    expect(await shared(NOW_MS)).toEqual({ seen: 1 });
    expect(await shared(NOW_MS - 10_000)).toEqual({ seen: 1 });
    expect(reads).toBe(1);
  });

  test('D36: is made again for who needs it newer, but not right after the last one', async () => {
    await shared(NOW_MS);
    await pass(1);
    await expect(shared(NOW_MS + 1000)).rejects.toThrow(ObservationPending);
    await pass(3);
    expect(await shared(NOW_MS + 1000)).toEqual({ seen: 2 });
  });

  test('D36: is as old as its beginning, however long it takes', async () => {
    const slow = async () => {
      await sleep(8000);
      return read();
    };
    await shared(NOW_MS, 'health', slow);
    expect(await shared(NOW_MS + 5000)).toEqual({ seen: 2 });
  });

  test('is made again at once when what it saw is forgotten', async () => {
    await shared(NOW_MS);
    await ledger.as(() => forgetShared('health'));
    expect(await shared(NOW_MS)).toEqual({ seen: 2 });
  });

  test('is not used when it was forgotten while it was made', async () => {
    const changing = async () => {
      await forgetShared('health');
      return read();
    };
    await expect(shared(NOW_MS, 'health', changing)).rejects.toThrow(ObservationPending);
    expect(await shared(NOW_MS)).toEqual({ seen: 2 });
  });

  test('is nothing to forget before it is made', async () => {
    await ledger.as(() => forgetShared('health'));
    expect(await shared(NOW_MS)).toEqual({ seen: 1 });
  });

  test('is kept by its key, however long that is', async () => {
    const long = (name: string) =>
      `health ${JSON.stringify(Array(500).fill('arn:aws:elasticloadbalancing'))}${name}`;
    expect(await shared(NOW_MS, long('a'))).toEqual({ seen: 1 });
    expect(await shared(NOW_MS, long('b'))).toEqual({ seen: 2 });
    expect(await shared(NOW_MS, long('a'))).toEqual({ seen: 1 });
  });

  test('comes back as it was read, maps and dates at any depth included', async () => {
    const value = new Map([
      [
        'i-1',
        { at: new Date(NOW_MS), checks: [{ since: new Date(0), none: null, tags: new Map([['a', 'b']]) }] },
      ],
      ['i-2', { at: new Date(1), checks: [] }],
    ]);
    await shared(NOW_MS, 'statuses', async () => value);
    expect(await shared(NOW_MS, 'statuses', () => Promise.reject(new Error('read twice')))).toEqual(value);
  });

  test('a reader that dies is replaced when its lease is over', async () => {
    const dying = () => Promise.reject(new Error('died'));
    await expect(shared(NOW_MS, 'health', dying)).rejects.toThrow('died');
    await expect(shared(NOW_MS)).rejects.toThrow(ObservationPending);
    await pass(21);
    expect(await shared(NOW_MS)).toEqual({ seen: 1 });
  });

  test('two that need it at once: one reads, and the other comes again, in whatever order they are answered', async () => {
    const orders = await inEveryOrder(async choose => {
      ledger = await createLedger();
      reads = 0;
      const both = await ledger.interleaved(
        [0, 1].map(
          () => () =>
            readShared({ key: 'health', notBefore: NOW_MS, read }).catch((error: unknown) => {
              if (error instanceof ObservationPending) return 'pending';
              throw error;
            }),
        ),
        choose,
      );
      expect(reads).toBe(1);
      expect(both).toContainEqual({ seen: 1 });
      for (const one of both) expect(['pending', { seen: 1 }]).toContainEqual(one);
    });
    expect(orders).toBeGreaterThan(3);
  });
});

describe('D10: the reads of a deployment', () => {
  const members = Array.from({ length: 700 }, (_, n) => `i-${String(n).padStart(4, '0')}`);
  const asked: (readonly string[])[] = [];
  const describeAll = async (ids: readonly string[]) => {
    asked.push(ids);
    return new Map(ids.filter(id => id !== 'i-0001').map(id => [id, `state of ${id}`]));
  };

  beforeEach(async () => {
    asked.length = 0;
    await ledger.as(() => recordObserver('d-1', members, NOW));
  });

  const seen = (ids: readonly string[]) =>
    ledger.as(async () => (await sharingOf('d-1', NOW_MS)).instances('instances', describeAll)(ids));

  test('of an instance serve all of them, and an absent one is absent for all', async () => {
    expect([...(await seen(['i-0000']))]).toEqual([['i-0000', 'state of i-0000']]);
    expect((await seen(['i-0001', 'i-0499'])).get('i-0499')).toBe('state of i-0499');
    expect(await seen(['i-0001'])).toEqual(new Map());
    expect(asked).toHaveLength(1);
    // What one item cannot hold is kept in two.
    await seen(['i-0699', 'i-0002']);
    expect(asked.map(ids => ids.length)).toEqual([500, 200]);
  });

  test('of one that joined later are its own', async () => {
    expect([...(await seen(['i-9999'])).keys()]).toEqual(['i-9999']);
    expect(asked).toEqual([['i-9999']]);
  });

  test('of settings are kept for minutes, of states as long as they are asked for', async () => {
    const both = (notBefore: number) =>
      ledger.as(async () => {
        const { state, settings } = await sharingOf('d-1', notBefore);
        return Promise.all([state('health', read)(), settings('tags', read)()]);
      });
    await both(NOW_MS);
    await pass(60);
    await both(NOW_MS + 60_000);
    expect(reads).toBe(3);
    await pass(200);
    await both(NOW_MS + 60_000);
    expect(reads).toBe(4);
  });

  test("are nobody else's: a run of its own reads directly", async () => {
    await ledger.as(async () => {
      const { instances, state, settings } = await sharingOf(undefined, NOW_MS);
      await instances('instances', describeAll)(['i-0000']);
      await state('health', read)();
      await settings('health', read)();
    });
    expect(asked).toEqual([['i-0000']]);
    expect(reads).toBe(2);
  });

  test('an observer is written once, in one order for all; a refusal too', async () => {
    await ledger.as(() => recordObserver('d-2', ['b', 'a'], NOW));
    await ledger.as(() => recordObserver('d-2', ['c'], NOW));
    expect(await ledger.as(() => findObserver('d-2'))).toEqual({ instanceIds: ['a', 'b'] });
    expect(await ledger.as(() => findObserver('none'))).toBeUndefined();
    await ledger.as(() => recordRefusal('r', { error: 'BelowFloor', cause: 'too few' }, NOW));
    await ledger.as(() => recordRefusal('r', { error: 'Later', cause: 'another' }, NOW));
    expect(await ledger.as(() => findRefusal('r'))).toEqual({ error: 'BelowFloor', cause: 'too few' });
    expect(await ledger.as(() => findRefusal('none'))).toBeUndefined();
  });
});
