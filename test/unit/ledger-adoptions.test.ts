import { beforeAll, expect, test } from 'vitest';
import { checkIdOf } from '../../functions/core/adopt/check.ts';
import { concludeAdoption, fenceAdoption } from '../../functions/core/adopt/end.ts';
import {
  closeAdoption,
  createAdoption,
  endAdoption,
  findAdoption,
  markAct,
  markAdoptionTold,
  ownAdoption,
  takeAdoptionOver,
} from '../../functions/core/ledger/adoptions.ts';
import { giveCheck, takeCheck } from '../../functions/core/ledger/check-locks.ts';
import { endIfAbandoned } from '../../functions/core/sweep/abandoned-adoptions.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { newAdoption } from './helpers/records.ts';

let ledger: LedgerWorld;
let count = 0;
const freshGroup = () => `web-${count++}`;

beforeAll(async () => {
  ledger = await createLedger();
});

const create = (group: string, owner: string) => createAdoption(newAdoption(group, owner));
const FAILED = { outcome: 'failed', at: NOW, error: 'Broken', cause: 'It broke.' } as const;

test('R-SERIAL: of two adoptions by a group one is written, in whatever order their calls are answered', () =>
  inEveryOrder(async choose => {
    const group = freshGroup();
    const results = await ledger.interleaved(
      ['a', 'b'].map(
        owner => () =>
          create(group, owner).then(
            () => owner,
            ({ name }: Error) => name,
          ),
      ),
      choose,
    );
    expect(results.filter(result => result === 'AdoptionInProgress')).toHaveLength(1);
  }));

/** Both steps of a plan: the adoption's record, then the check. */
async function adopt(group: string, checkId: string, owner = `of ${group}`): Promise<void> {
  await createAdoption({ ...newAdoption(group, owner), checkId });
  await takeCheck(checkId, group, owner);
}

test('R-SERIAL: of two adoptions of a check one takes it', () =>
  inEveryOrder(async choose => {
    const checkId = `asc-${freshGroup()}`;
    const [a, b] = [freshGroup(), freshGroup()];
    const results = await ledger.interleaved(
      [a, b].map(
        group => () =>
          adopt(group, checkId).then(
            () => group,
            ({ name }: Error) => name,
          ),
      ),
      choose,
    );
    expect(results.filter(result => result === 'AdoptionInProgress')).toHaveLength(1);
  }));

test('D5: an act that comes after the fence is not written, and one that came before is seen by it', () =>
  inEveryOrder(async choose => {
    const group = freshGroup();
    await ledger.as(() => create(group, 'a'));
    const [marked, fenced] = await ledger.interleaved<unknown>(
      [
        () =>
          markAct(group, 'a', 'created').then(
            () => 'marked',
            ({ name }: Error) => name,
          ),
        () => fenceAdoption(group, 'a', { error: 'Broken', cause: 'It broke.' }),
      ],
      choose,
    );
    expect(fenced).toMatchObject({ next: marked === 'marked' ? 'undo' : 'nothing' });
    expect(['marked', 'AdoptionEnded']).toContain(marked);
  }));

test('what is undone may be followed by another adoption, and nothing of the first is left in its record', () =>
  ledger.as(async () => {
    const group = freshGroup();
    await create(group, 'a');
    await markAct(group, 'a', 'created');
    expect(await endAdoption(group, 'a', FAILED)).toBe(true);
    await expect(create(group, 'b')).rejects.toMatchObject({ name: 'AdoptionInProgress' });
    await closeAdoption(group, 'a');
    expect([await markAdoptionTold(group, 'failed'), await markAdoptionTold(group, 'failed')]).toEqual([
      true,
      false,
    ]);
    await create(group, 'b');
    expect(await findAdoption(group)).toEqual({
      ...newAdoption(group, 'b'),
      told: [],
      status: 'live',
      acts: [],
    });
  }));

test('D5: what was taken over is nothing to its former execution', () =>
  ledger.as(async () => {
    const group = freshGroup();
    await create(group, 'a');
    expect(await takeAdoptionOver(group, 'nobody', 'b')).toBe(false);
    expect(await takeAdoptionOver(group, 'a', 'b')).toBe(true);
    expect(await endAdoption(group, 'a', FAILED)).toBe(false);
    await expect(ownAdoption(group, 'a')).rejects.toMatchObject({ name: 'AdoptionEnded' });
    await expect(concludeAdoption(group, 'a', 'succeeded')).rejects.toMatchObject({ name: 'AdoptionEnded' });
    await expect(concludeAdoption(group, 'a', 'undone')).rejects.toMatchObject({ name: 'AdoptionEnded' });
  }));

test('R-SWEEP: an adoption that cannot give its check back has still to be undone, for the sweep', async () => {
  const before = ({ action }: { readonly action: string }) => {
    if (action === 'DeleteItem') throw new ServiceError('AccessDeniedException', 'not now');
  };
  const failing = await createLedger([], [{ before }]);
  await failing.as(async () => {
    const [group, checkId] = [freshGroup(), 'asc-1'];
    await createAdoption({ ...newAdoption(group, 'a'), checkId });
    await takeCheck(checkId, group, 'a');
    await expect(fenceAdoption(group, 'a', { error: 'Stopped', cause: '' })).rejects.toThrow('not now');
    expect(await findAdoption(group)).toMatchObject({ status: 'undoing' });
  });
});

test('an act that needs a check does nothing without one', () =>
  ledger.as(async () => {
    const group = freshGroup();
    await create(group, 'a');
    const record = await ownAdoption(group, 'a');
    expect(() => checkIdOf(record)).toThrow('has no check yet');
  }));

test('R-SWEEP: what has ended since the sweep has read it, or is not there, is not undone', () =>
  ledger.as(async () => {
    const group = freshGroup();
    expect(await endIfAbandoned({ group })).toBe(false);
    await create(group, 'a');
    await fenceAdoption(group, 'a', { error: 'Broken', cause: 'It broke.' });
    expect(await endIfAbandoned({ group })).toBe(false);
  }));

test('a check that another group works on is not given back', () =>
  ledger.as(async () => {
    const checkId = `asc-${freshGroup()}`;
    const [a, b, c] = [freshGroup(), freshGroup(), freshGroup()];
    await adopt(a, checkId);
    await giveCheck(checkId, b);
    await expect(adopt(b, checkId)).rejects.toMatchObject({ name: 'AdoptionInProgress' });
    await giveCheck(checkId, a);
    await adopt(c, checkId);
  }));

test('a check that an adoption could not give back is free when that is over', () =>
  ledger.as(async () => {
    const checkId = `asc-${freshGroup()}`;
    const [a, b] = [freshGroup(), freshGroup()];
    await adopt(a, checkId);
    await endAdoption(a, `of ${a}`, FAILED);
    await closeAdoption(a, `of ${a}`);
    await adopt(b, checkId);
  }));

test('R-SERIAL: then one of two takes it, and nobody while it is undone', () =>
  inEveryOrder(async choose => {
    const checkId = `asc-${freshGroup()}`;
    const [a, b, c] = [freshGroup(), freshGroup(), freshGroup()];
    await ledger.as(async () => {
      await adopt(a, checkId);
      await endAdoption(a, `of ${a}`, FAILED);
      await takeAdoptionOver(a, `of ${a}`, 'undo');
      await expect(adopt(b, checkId)).rejects.toMatchObject({ name: 'AdoptionInProgress' });
      await closeAdoption(a, 'undo');
    });
    // The same group once more, or another one: one of them.
    const taken = await ledger.interleaved(
      [() => adopt(a, checkId, 'again'), () => adopt(c, checkId)].map(
        start => () =>
          start().then(
            () => 'taken',
            ({ name }: Error) => name,
          ),
      ),
      choose,
    );
    expect(taken.toSorted()).toEqual(['AdoptionInProgress', 'taken']);
  }));
