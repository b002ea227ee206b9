import { expect, test } from 'vitest';
import { instancesOf, membersOf, newcomersOf } from '../../functions/core/bracket/members.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import { claimOf, newRun, planOf } from './helpers/records.ts';

test('R-UNDO: what has joined a queued run and is a member of its next plan is one instance, and a member', () => {
  const run: RunRecord = {
    ...newRun('r', { plan: planOf(['i-1', 'i-2']) }),
    digest: '',
    status: 'live',
    phase: 'before',
    acted: true,
    newcomers: ['i-2', 'i-3'],
  };
  const records = new Map(
    ['i-1', 'i-2', 'i-3'].map(instanceId => [
      instanceId,
      { instanceId, claims: new Map([['r', claimOf(instanceId, [])]]), memberships: [] },
    ]),
  );
  const ids = (members: ReturnType<typeof membersOf>) => members.map(({ instanceId }) => instanceId);
  expect(instancesOf(run)).toEqual(['i-1', 'i-2', 'i-3']);
  expect(ids(membersOf(run, records))).toEqual(['i-1', 'i-2']);
  expect(ids(newcomersOf(run, records))).toEqual(['i-3']);
});
