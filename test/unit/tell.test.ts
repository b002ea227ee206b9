import { beforeAll, expect, test } from 'vitest';
import { composeOnAdoption } from '../../functions/core/adopt/tell.ts';
import { compose } from '../../functions/core/bracket/tell.ts';
import { createAdoption, markAct } from '../../functions/core/ledger/adoptions.ts';
import { createRun, markActed } from '../../functions/core/ledger/runs.ts';
import { createLedger, type LedgerWorld } from './helpers/ledger.ts';
import { newAdoption, newRun } from './helpers/records.ts';

let ledger: LedgerWorld;
beforeAll(async () => {
  ledger = await createLedger();
});

const failure = { error: 'Throttled', cause: 'The run could not be fenced.' };

test('R-ALARM-ON-US: a run that has acted and could not even be fenced is told of as unfinished', () =>
  ledger.as(async () => {
    await createRun(newRun('r', { owner: 'me' }));
    expect(await compose('r', failure)).toMatchObject({ isNews: false });
    await markActed('r', 'me');
    expect(await compose('r', failure)).toMatchObject({ isNews: true, what: 'unfinished' });
  }));

test('R-FAIL: a second request that was refused says nothing of the adoption that is live', () =>
  ledger.as(async () => {
    await createAdoption(newAdoption('web', 'first'));
    await markAct('web', 'first', 'sampled');
    const composed = (execution: string) => composeOnAdoption({ group: 'web', execution }, failure);
    expect(await composed('second')).toMatchObject({ isNews: false });
    expect(await composed('first')).toMatchObject({ isNews: true, what: 'unfinished' });
  }));
