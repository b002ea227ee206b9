import { beforeAll, describe, expect, test } from 'vitest';
import {
  beginRelease,
  claimInstance,
  endLastClaim,
  findInstances,
  leaveClaim,
  leaveToCover,
  lengthenClaim,
  recordMemberships,
} from '../../functions/core/ledger/instances.ts';
import type { InstanceRecord } from '../../functions/core/ledger/items.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { claimOf, membershipOf } from './helpers/records.ts';

let ledger: LedgerWorld;
let count = 0;
const freshId = () => `i-${String(count++).padStart(17, '0')}`;

beforeAll(async () => {
  ledger = await createLedger();
});

const CLAIMED = { claimed: true };
const MOVES = true;
const LEAVES = false;
const RELEASING_UNTIL = NOW + 600;

const claim = (run: string, id: string, movesTraffic = LEAVES, now = NOW, until?: number) =>
  claimInstance(run, id, claimOf(id, movesTraffic ? [membershipOf(id)] : [], until), movesTraffic, now);

async function recordOf(id: string): Promise<InstanceRecord> {
  const record = (await findInstances([id])).get(id);
  if (!record) throw new Error(`the ledger has no ${id}`);
  return record;
}

const exists = async (id: string) => (await findInstances([id])).has(id);

describe('a claim', () => {
  test('R-UNDO: records what the run found, and its memberships when it moves the traffic', () =>
    ledger.as(async () => {
      const id = freshId();
      expect(await exists(id)).toBe(false);
      expect(await claim('a', id, MOVES)).toEqual(CLAIMED);
      expect(await recordOf(id)).toEqual({
        instanceId: id,
        claims: new Map([['a', claimOf(id)]]),
        traffic: 'a',
        memberships: [membershipOf(id)],
      });
    }));

  test('R-IDEMP: may be repeated by its run', () =>
    ledger.as(async () => {
      const id = freshId();
      for (let times = 0; times < 2; times++) expect(await claim('a', id, MOVES)).toEqual(CLAIMED);
      expect([...(await recordOf(id)).claims.keys()]).toEqual(['a']);
    }));

  test('R-SERIAL: one run moves the traffic of an instance; another is told which', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id, MOVES);
      expect(await claim('b', id, MOVES)).toEqual({ claimed: false, by: 'a', why: 'traffic' });
      expect([...(await recordOf(id)).claims.keys()]).toEqual(['a']);
    }));

  test('runs that leave the traffic alone share an instance with the one that moves it', () =>
    ledger.as(async () => {
      const id = freshId();
      expect(await claim('a', id, LEAVES)).toEqual(CLAIMED);
      expect(await claim('b', id, MOVES)).toEqual(CLAIMED);
      expect(await claim('c', id, LEAVES)).toEqual(CLAIMED);
      const record = await recordOf(id);
      expect([...record.claims.keys()].toSorted()).toEqual(['a', 'b', 'c']);
      expect(record).toMatchObject({ traffic: 'b', memberships: [membershipOf(id)] });
    }));

  test('R-SERIAL: of two runs that would move the traffic at once one has it, in whatever order', () =>
    inEveryOrder(async choose => {
      const id = freshId();
      const answers = await ledger.interleaved(
        ['a', 'b'].map(run => () => claim(run, id, MOVES)),
        choose,
      );
      const winner = answers.findIndex(answer => answer.claimed);
      expect(answers.filter(answer => answer.claimed)).toHaveLength(1);
      const run = ['a', 'b'][winner] ?? '';
      expect(answers[1 - winner]).toEqual({ claimed: false, by: run, why: 'traffic' });
      expect(await ledger.as(() => recordOf(id))).toMatchObject({ traffic: run });
    }).then(orders => expect(orders).toBeGreaterThan(1)));
});

test('R-UNDO: memberships that appear later are recorded by the run that moves the traffic, and by no other', () =>
  ledger.as(async () => {
    const id = freshId();
    const two = [membershipOf(id), membershipOf(id, 8081)];
    expect(await recordMemberships('a', id, two)).toBe(false);
    expect(await exists(id)).toBe(false);
    await claim('a', id, MOVES);
    await claim('b', id, LEAVES);
    expect(await recordMemberships('b', id, two)).toBe(false);
    expect(await recordMemberships('a', id, two)).toBe(true);
    expect((await recordOf(id)).memberships).toEqual(two);
  }));

test('D31: a run that needs its claim for longer lengthens its own, and no claim that has ended', () =>
  ledger.as(async () => {
    const id = freshId();
    await claim('a', id, LEAVES, NOW, NOW + 100);
    await claim('b', id, LEAVES, NOW, NOW + 100);
    const asRead = await recordOf(id);
    await lengthenClaim('a', asRead, NOW + 500);
    await lengthenClaim('stranger', asRead, NOW + 500);
    const untils = [...(await recordOf(id)).claims].map(([run, { until }]) => [run, until - NOW]);
    expect(Object.fromEntries(untils)).toEqual({ a: 500, b: 100 });
    await leaveClaim('b', asRead);
    await lengthenClaim('b', asRead, NOW + 500);
    expect([...(await recordOf(id)).claims.keys()]).toEqual(['a']);
  }));

describe('the release of a suppression', () => {
  test('is announced by the last claimant only, as the claimants were read', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id);
      const alone = await recordOf(id);
      await claim('b', id);
      expect(await beginRelease('a', alone, RELEASING_UNTIL)).toBe(false);
      expect(await leaveClaim('b', await recordOf(id))).toBe(true);
      expect(await beginRelease('a', alone, RELEASING_UNTIL)).toBe(true);
      expect(await beginRelease('a', alone, RELEASING_UNTIL)).toBe(true);
      expect(await recordOf(id)).toMatchObject({ releasing: 'a' });
    }));

  test('keeps a run away that comes while it is on its way: our disabling would undo its suppression', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id);
      await beginRelease('a', await recordOf(id), RELEASING_UNTIL);
      for (const moves of [MOVES, LEAVES])
        expect(await claim('b', id, moves, RELEASING_UNTIL)).toEqual({
          claimed: false,
          by: 'a',
          why: 'releasing',
        });
      expect(await claim('a', id)).toEqual(CLAIMED);
    }));

  test('R-SERIAL: of a dead run keeps nobody away for ever', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('dead', id);
      await beginRelease('dead', await recordOf(id), RELEASING_UNTIL);
      expect(await claim('b', id, MOVES, RELEASING_UNTIL + 1)).toEqual(CLAIMED);
      // b is alone alive: it can release when it is over.
      expect(await beginRelease('b', await recordOf(id), RELEASING_UNTIL + 999)).toBe(true);
    }));

  test('R-SERIAL: takes no run for dead that has lengthened its claim meanwhile', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id);
      await claim('slow', id);
      const asRead = await recordOf(id);
      await lengthenClaim('slow', asRead, RELEASING_UNTIL + 7200);
      expect(await beginRelease('a', asRead, RELEASING_UNTIL)).toBe(false);
      const known = await recordOf(id);
      expect(await beginRelease('a', known, RELEASING_UNTIL)).toBe(true);
      await lengthenClaim('slow', known, RELEASING_UNTIL + 9999);
      expect(await endLastClaim('a', known)).toBe(false);
      expect([...(await recordOf(id)).claims.keys()]).toContain('slow');
    }));

  test('R-SERIAL: a claim and a release at once: one of them holds, in whatever order', () =>
    inEveryOrder(async choose => {
      const id = freshId();
      await ledger.as(() => claim('a', id));
      const [begun, claimed] = await ledger.interleaved<boolean>(
        [
          async () => {
            const record = await recordOf(id);
            return record.claims.size === 1 && beginRelease('a', record, RELEASING_UNTIL);
          },
          async () => (await claim('b', id, MOVES)).claimed,
        ],
        choose,
      );
      expect(begun).toBe(!claimed);
    }).then(orders => expect(orders).toBe(3)));
});

describe('the end of a claim', () => {
  test('a run leaves an instance that others claim, and takes what is its own with it', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id, MOVES);
      await claim('b', id);
      expect(await leaveClaim('b', await recordOf(id))).toBe(true);
      expect(await recordOf(id)).toMatchObject({ traffic: 'a', memberships: [membershipOf(id)] });
      await claim('b', id);
      expect(await leaveClaim('a', await recordOf(id))).toBe(true);
      const record = await recordOf(id);
      expect([...record.claims.keys()]).toEqual(['b']);
      expect(record.memberships).toEqual([]);
      expect(record).not.toHaveProperty('traffic');
    }));

  test('D2, R-UNDO: a run that was superseded since it read leaves the traffic to the run that has it now', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('failed', id, MOVES);
      const asRead = await recordOf(id);
      const takenOver = claimOf(id, [membershipOf(id)]);
      expect(await claimInstance('rollback', id, takenOver, MOVES, NOW, 'failed')).toEqual(CLAIMED);
      expect(await leaveClaim('failed', asRead, true)).toBe(true);
      const record = await recordOf(id);
      expect([...record.claims.keys()]).toEqual(['rollback']);
      expect(record).toMatchObject({
        traffic: 'rollback',
        tookOver: 'rollback',
        memberships: [membershipOf(id)],
      });
    }));

  test('R-UNDO: nor does it take from an instance the release that another run has announced since', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('slow', id, MOVES);
      await beginRelease('slow', await recordOf(id), RELEASING_UNTIL);
      const asRead = await recordOf(id);
      await claim('b', id, LEAVES, RELEASING_UNTIL + 1);
      await beginRelease('b', await recordOf(id), RELEASING_UNTIL + 600);
      expect(await leaveClaim('slow', asRead)).toBe(true);
      const record = await recordOf(id);
      expect(record).toMatchObject({ releasing: 'b', memberships: [] });
      expect(record).not.toHaveProperty('traffic');
    }));

  test('D2, R-UNDO: a covered run that was superseded hands over its claim, and not the traffic of another', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('cover', id);
      await claim('hook', id, MOVES);
      const asRead = await recordOf(id);
      await claimInstance('rollback', id, claimOf(id, [membershipOf(id)]), MOVES, NOW, 'hook');
      expect(await leaveToCover('hook', asRead, 'cover', { at: NOW, by: 'hook' })).toBe(true);
      expect(await recordOf(id)).toMatchObject({ traffic: 'rollback', memberships: [membershipOf(id)] });
    }));

  test('D17: a covered run leaves nothing to a cover that is just releasing it, or has left', () =>
    ledger.as(async () => {
      const id = freshId();
      const deployed = { at: NOW, by: 'hook' };
      await claim('cover', id);
      await claim('hook', id);
      await beginRelease('cover', await recordOf(id), RELEASING_UNTIL);
      expect(await leaveToCover('hook', await recordOf(id), 'cover', deployed)).toBe(false);
      await leaveClaim('cover', await recordOf(id));
      expect(await leaveToCover('hook', await recordOf(id), 'cover', deployed)).toBe(false);
      expect([...(await recordOf(id)).claims.keys()]).toEqual(['hook']);
    }));

  test('the last one cannot leave: it is its to release', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id, MOVES);
      expect(await leaveClaim('a', await recordOf(id))).toBe(false);
      expect(await leaveClaim('stranger', await recordOf(id))).toBe(false);
      expect(await recordOf(id)).toMatchObject({ traffic: 'a' });
    }));

  test('the last claim ends the record; a record that is gone is ended', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id, MOVES);
      const record = await recordOf(id);
      expect(await endLastClaim('a', record)).toBe(true);
      expect(await exists(id)).toBe(false);
      expect(await endLastClaim('a', record)).toBe(true);
    }));

  test('R-UNDO: no run ends the record of another', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('a', id);
      await claim('b', id, MOVES);
      expect(await endLastClaim('a', await recordOf(id))).toBe(false);
      expect(await leaveClaim('a', await recordOf(id))).toBe(true);
      expect(await endLastClaim('a', await recordOf(id))).toBe(false);
      expect(await recordOf(id)).toMatchObject({ traffic: 'b', memberships: [membershipOf(id)] });
    }));

  test('with a released suppression the claims of dead runs end too', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('dead', id);
      await claim('a', id, MOVES);
      await beginRelease('a', await recordOf(id), RELEASING_UNTIL);
      expect(await endLastClaim('a', await recordOf(id))).toBe(true);
      expect(await exists(id)).toBe(false);
    }));

  test('R-UNDO: but not the memberships that a dead run has still to put back', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('dead', id, MOVES);
      await claim('a', id);
      await beginRelease('a', await recordOf(id), RELEASING_UNTIL);
      expect(await endLastClaim('a', await recordOf(id))).toBe(false);
      expect(await leaveClaim('a', await recordOf(id))).toBe(true);
      const record = await recordOf(id);
      expect(record).toMatchObject({ traffic: 'dead', memberships: [membershipOf(id)] });
      // Nobody is kept away by a release that is over.
      expect(record).not.toHaveProperty('releasing');
    }));

  test('R-UNDO: a run that was slow to release does not end the claim of one that came after', () =>
    ledger.as(async () => {
      const id = freshId();
      await claim('slow', id);
      await beginRelease('slow', await recordOf(id), RELEASING_UNTIL);
      await claim('b', id, MOVES, RELEASING_UNTIL + 1);
      expect(await endLastClaim('slow', await recordOf(id))).toBe(false);
      expect(await leaveClaim('slow', await recordOf(id))).toBe(true);
      expect(await recordOf(id)).toMatchObject({ traffic: 'b', memberships: [membershipOf(id)] });
    }));
});
