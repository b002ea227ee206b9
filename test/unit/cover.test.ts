import { beforeEach, expect, test } from 'vitest';
import { findCover } from '../../functions/core/bracket/cover.ts';
import { claimInstance, findInstances } from '../../functions/core/ledger/instances.ts';
import { advance, createRun } from '../../functions/core/ledger/runs.ts';
import { createLedger, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { claimOf, newRun, planOf, requestOf } from './helpers/records.ts';

const PLANNED = 'i-1';
const NEWCOMER = 'i-2';

let ledger: LedgerWorld;
beforeEach(async () => {
  ledger = await createLedger();
});

/** The run over the fleet, which claims both and has planned for one of them. */
async function cover(request: object = {}, phase: 'before' | 'go-ahead' = 'go-ahead'): Promise<void> {
  const run = newRun('fleet', { request: requestOf('fleet', request), plan: planOf([PLANNED]) });
  await ledger.as(async () => {
    await createRun(run);
    for (const id of [PLANNED, NEWCOMER])
      await claimInstance('fleet', id, claimOf(id, [], NOW + 600), false, NOW);
    if (phase === 'go-ahead')
      await advance('fleet', { from: 'before', to: phase, owner: run.owner, at: NOW });
  });
}

const coverOf = (ids: readonly string[], until = NOW + 600) =>
  ledger.as(async () => findCover('hook', [...(await findInstances(ids)).values()], until));

test('D17: a run over the fleet covers what it has planned for, and no newcomer, which it only releases', async () => {
  await cover();
  expect(await coverOf([PLANNED])).toBe('fleet');
  expect(await coverOf([NEWCOMER])).toBeUndefined();
  expect(await coverOf([PLANNED, NEWCOMER])).toBeUndefined();
});

test('D17, R-TTL: nor what it does not claim for as long', async () => {
  await cover();
  expect(await coverOf([PLANNED], NOW + 601)).toBeUndefined();
});

test('D17: nor anything before its go-ahead, when it may still be refused', async () => {
  await cover({}, 'before');
  expect(await coverOf([PLANNED])).toBeUndefined();
});

test('D17: nor does the run of a hook, which lasts no longer than its own instance', async () => {
  await cover({ observer: 'd-1' });
  expect(await coverOf([PLANNED])).toBeUndefined();
});
