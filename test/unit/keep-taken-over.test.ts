import { expect, test } from 'vitest';
import { keepTakenOver } from '../../functions/core/bracket/keep-taken-over.ts';
import { claimInstance } from '../../functions/core/ledger/instances.ts';
import { createRun, findRun, markActed } from '../../functions/core/ledger/runs.ts';
import { createLedger, NOW } from './helpers/ledger.ts';
import { claimOf, newRun, planOf } from './helpers/records.ts';

test('R-BUDGET, D2: what a queued run has taken over keeps its time when the rest of its fleet needs less', async () => {
  const ledger = await createLedger();
  const earlier = planOf(['i-1', 'i-2']);
  const less = { ...earlier.budgets, inService: 0, undo: 600, whole: 1000 };
  const plan = planOf(['i-2'], { groups: [], draining: 0, budgets: less, suppressUntil: NOW + 1000 });
  const nobody = new Map<string, never>();
  const planned = { plan, members: [], movedBy: nobody, heldBy: nobody, putAsideBy: nobody };
  const kept = await ledger.as(async () => {
    await claimInstance('failed', 'i-1', claimOf('i-1'), true, NOW);
    await createRun(newRun('queued', { owner: 'me', plan: earlier }));
    await markActed('queued', 'me');
    await claimInstance('queued', 'i-1', claimOf('i-1'), true, NOW, 'failed');
    return keepTakenOver(planned, await findRun('queued'));
  });
  expect(kept.plan).toMatchObject({
    instanceIds: ['i-2', 'i-1'],
    groups: earlier.groups,
    budgets: earlier.budgets,
    suppressing: 2,
    draining: 1,
    suppressUntil: NOW + earlier.budgets.whole,
  });
});
