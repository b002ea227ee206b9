import { beforeAll, describe, expect, test } from 'vitest';
import { fence } from '../../functions/core/bracket/conclude.ts';
import { RunEnded, RunInProgress, RunUnknown } from '../../functions/core/errors.ts';
import { ITEM_VERSION, pk } from '../../functions/core/ledger/items.ts';
import {
  advance,
  beginHolding,
  createRun,
  digestOf,
  endHolding,
  endRun,
  fencedRun,
  findRun,
  markActed,
  markTakenOut,
  ownRun,
} from '../../functions/core/ledger/runs.ts';
import { change, number } from '../../functions/core/ledger/table.ts';
import { MEMBERS_PER_RUN } from '../../functions/core/limits.ts';
import { readRequest, runRequest } from '../../functions/core/request.ts';
import { createLedger, inEveryOrder, type LedgerWorld, NOW } from './helpers/ledger.ts';
import { newRun, planOf, requestOf } from './helpers/records.ts';

let ledger: LedgerWorld;
let count = 0;
const freshId = () => `run-${count++}`;
const OWNER = 'execution-1';
const OTHER = 'execution-2';

beforeAll(async () => {
  ledger = await createLedger();
});

/** A run of `OWNER`, just planned. */
async function planned(): Promise<string> {
  const runId = freshId();
  await createRun(newRun(runId, { owner: OWNER }));
  return runId;
}

const goAhead = (runId: string, owner = OWNER) =>
  advance(runId, { from: 'before', to: 'go-ahead', owner, at: NOW });
const takeOver = (runId: string, owner: string) =>
  advance(runId, { from: 'go-ahead', to: 'after', owner, at: NOW, takesOver: true, deadline: NOW + 99 });
const end = (runId: string, owner: string, outcome: 'succeeded' | 'failed' = 'failed') =>
  endRun(runId, { owner, outcome, at: NOW, error: 'BudgetSpent', cause: 'it was still draining' });

describe('the record of a run', () => {
  test('R-UNDO: is read as it was written', () =>
    ledger.as(async () => {
      const run = newRun(freshId());
      await createRun(run);
      expect(await findRun(run.runId)).toEqual({
        ...run,
        newcomers: [],
        status: 'live',
        phase: 'before',
        acted: false,
        digest: digestOf(run.request),
      });
    }));

  test('R-IDEMP: is written again by a repeated step of the same execution, with what it found now', () =>
    ledger.as(async () => {
      const runId = await planned();
      await markActed(runId, OWNER, NOW);
      await createRun(newRun(runId, { owner: OWNER, plan: planOf(['i-2']), createdAt: NOW + 1 }));
      const run = await findRun(runId);
      expect(run).toMatchObject({ createdAt: NOW + 1, plan: { instanceIds: ['i-2'] } });
      // What was done is not forgotten by that.
      expect(run).toMatchObject({ acted: true, suppressedAt: NOW });
    }));

  test('D41: keeps when it was first suppressed, when last, when taken out, and when it was resumed', () =>
    ledger.as(async () => {
      const runId = await planned();
      await markActed(runId, OWNER, NOW);
      await markActed(runId, OWNER, NOW + 10);
      await markTakenOut(runId, OWNER, NOW + 11);
      await goAhead(runId);
      await takeOver(runId, OTHER);
      expect(await findRun(runId)).toMatchObject({
        suppressedSince: NOW,
        suppressedAt: NOW + 10,
        takenOutAt: NOW + 11,
        goAheadAt: NOW,
        resumedAt: NOW,
      });
      await expect(markTakenOut(runId, OWNER, NOW)).rejects.toThrow(RunEnded);
    }));

  test('D12: is not written over by another execution, and by none once it is further or over', () =>
    ledger.as(async () => {
      const runId = await planned();
      await expect(createRun(newRun(runId, { owner: OTHER }))).rejects.toThrow(RunInProgress);
      await goAhead(runId);
      await expect(createRun(newRun(runId, { owner: OWNER }))).rejects.toThrow(RunInProgress);
      await end(runId, OWNER);
      await expect(createRun(newRun(runId, { owner: OWNER }))).rejects.toThrow(
        new RunEnded(`Run ${runId} has ended (failed). Start a new one with a runId of its own.`),
      );
    }));

  test('R-SERIAL: of two executions that create it at once one has it, in whatever order', async () => {
    await inEveryOrder(async choose => {
      const runId = freshId();
      const created = await ledger.interleaved(
        [OWNER, OTHER].map(
          owner => () =>
            createRun(newRun(runId, { owner })).then(
              () => owner,
              (error: unknown) => {
                expect(error).toBeInstanceOf(RunInProgress);
              },
            ),
        ),
        choose,
      );
      const winners = created.filter(owner => owner !== undefined);
      expect(winners).toHaveLength(1);
      expect(await ledger.as(() => findRun(runId))).toMatchObject({ owner: winners[0] });
    });
  });
});

describe('D12: the digest of a request', () => {
  const request = requestOf('r', { policy: { minHealthyPercent: 60 } });
  test('is the same for the same request, whatever the order of its members', () => {
    const turned = Object.fromEntries(Object.entries(request).reverse());
    expect(digestOf(readRequest(runRequest, turned))).toBe(digestOf(request));
  });
  test('differs when anything that is asked for differs', () => {
    expect(digestOf(requestOf('r', { policy: { minHealthyPercent: 61 } }))).not.toBe(digestOf(request));
    expect(digestOf(requestOf('r', { zones: ['eu-west-1a'] }))).not.toBe(digestOf(request));
  });
});

describe('D5: the fence', () => {
  test('after it no act finds its run', () =>
    ledger.as(async () => {
      const runId = await planned();
      expect(await ownRun(runId, OWNER)).toMatchObject({ runId, status: 'live' });
      expect(await end(runId, OWNER)).toBe(true);
      await expect(ownRun(runId, OWNER)).rejects.toThrow(RunEnded);
      await expect(markActed(runId, OWNER, NOW)).rejects.toThrow(RunEnded);
      expect(await goAhead(runId)).toBe(false);
      expect(await findRun(runId)).toMatchObject({
        status: 'ended',
        outcome: 'failed',
        error: 'BudgetSpent',
        cause: 'it was still draining',
        endedAt: NOW,
        acted: false,
      });
    }));

  test('an act says what it is about to do before the fence, or is refused after it, in whatever order', () =>
    inEveryOrder(async choose => {
      const runId = await ledger.as(planned);
      const [marked] = await ledger.interleaved<boolean>(
        [
          () =>
            markActed(runId, OWNER, NOW).then(
              () => true,
              () => false,
            ),
          () => end(runId, OWNER),
        ],
        choose,
      );
      const run = await ledger.as(() => findRun(runId));
      expect(run).toMatchObject({ status: 'ended', acted: marked });
    }).then(orders => expect(orders).toBe(2)));

  test('R-UNDO: what an act has said just before the fence is undone, in whatever order', () =>
    inEveryOrder(async choose => {
      const runId = await ledger.as(planned);
      const [marked, next] = await ledger.interleaved<string>(
        [
          () =>
            markActed(runId, OWNER).then(
              () => 'marked',
              () => 'refused',
            ),
          async () => (await fence(runId, OWNER, { error: 'BudgetSpent', cause: 'late' })).next,
        ],
        choose,
      );
      expect(next).toBe(marked === 'marked' ? 'undo' : 'nothing');
    }).then(orders => expect(orders).toBeGreaterThan(2)));

  test('whoever fenced it may undo it, nobody else', () =>
    ledger.as(async () => {
      const runId = await planned();
      await expect(fencedRun(runId, OWNER)).rejects.toThrow(RunEnded);
      await end(runId, OWNER);
      expect(await fencedRun(runId, OWNER)).toMatchObject({ runId });
      await expect(fencedRun(runId, OTHER)).rejects.toThrow(RunEnded);
      await expect(fencedRun('unknown', OWNER)).rejects.toThrow(RunEnded);
    }));
});

describe('the end of a run', () => {
  test('R-SERIAL: an execution that does not own it cannot end it', () =>
    ledger.as(async () => {
      const runId = await planned();
      expect(await end(runId, OTHER)).toBe(false);
      expect(await findRun(runId)).toMatchObject({ status: 'live' });
      expect(await end('unknown', OWNER)).toBe(false);
      expect(await findRun('unknown')).toBeUndefined();
    }));

  test('R-IDEMP: may be repeated, but not turned into another: what succeeded is not fenced', () =>
    ledger.as(async () => {
      const runId = await planned();
      expect(await endRun(runId, { owner: OWNER, outcome: 'succeeded', at: NOW })).toBe(true);
      expect(await endRun(runId, { owner: OWNER, outcome: 'succeeded', at: NOW + 1 })).toBe(true);
      expect(await end(runId, OWNER, 'failed')).toBe(false);
      const run = await findRun(runId);
      expect(run).toMatchObject({ outcome: 'succeeded' });
      expect(run).not.toHaveProperty('error');
    }));

  test('R-FAIL: a run that is fenced again, for another undo, keeps its first end and error', () =>
    ledger.as(async () => {
      const runId = await planned();
      await end(runId, OWNER);
      const again = {
        owner: OWNER,
        outcome: 'failed',
        at: NOW + 60,
        error: 'Undone',
        cause: 'by hand',
      } as const;
      expect(await endRun(runId, again)).toBe(true);
      expect(await findRun(runId)).toMatchObject({
        endedAt: NOW,
        error: 'BudgetSpent',
        cause: 'it was still draining',
      });
    }));

  test('D38: a hold that somebody has ended is not begun again by an undo that had not seen it', () =>
    ledger.as(async () => {
      const runId = await planned();
      await end(runId, OWNER);
      await endHolding(runId, NOW, 'any');
      expect(await beginHolding(runId, OWNER, NOW + 3600)).toBe(NOW);
      expect(await findRun(runId)).toMatchObject({ heldUntil: NOW });
    }));

  test('R-SERIAL: success and fence at once: one of them is what the record says, in whatever order', () =>
    inEveryOrder(async choose => {
      const runId = await ledger.as(planned);
      const ended = await ledger.interleaved(
        (['succeeded', 'failed'] as const).map(outcome => () => end(runId, OWNER, outcome)),
        choose,
      );
      expect(ended.filter(Boolean)).toHaveLength(1);
      const run = await ledger.as(() => findRun(runId));
      expect(run?.outcome).toBe(ended[0] ? 'succeeded' : 'failed');
    }).then(orders => expect(orders).toBe(2)));
});

describe('the phases of a run', () => {
  test('R-IDEMP: the go-ahead is given by the owner, and may be given again', () =>
    ledger.as(async () => {
      const runId = await planned();
      expect(await goAhead(runId, OTHER)).toBe(false);
      expect(await goAhead(runId)).toBe(true);
      expect(await goAhead(runId)).toBe(true);
      expect(await findRun(runId)).toMatchObject({ phase: 'go-ahead', goAheadAt: NOW });
    }));

  test('after-deploy takes a run over that has its go-ahead, with a deadline of its own', () =>
    ledger.as(async () => {
      const runId = await planned();
      expect(await takeOver(runId, OTHER)).toBe(false);
      await goAhead(runId);
      expect(await takeOver(runId, OTHER)).toBe(true);
      expect(await findRun(runId)).toMatchObject({ phase: 'after', owner: OTHER, deadline: NOW + 99 });
      expect(await takeOver(runId, OTHER)).toBe(true);
      // What before-deploy still has in flight may act no more, and its late fence ends nothing.
      await expect(ownRun(runId, OWNER)).rejects.toThrow(`Run ${runId} belongs to ${OTHER} now`);
      await expect(markActed(runId, OWNER)).rejects.toThrow(RunEnded);
      expect(await goAhead(runId)).toBe(false);
      expect(await end(runId, OWNER)).toBe(false);
    }));

  test('R-SERIAL: of two executions that take it over at once one has it, in whatever order', () =>
    inEveryOrder(async choose => {
      const runId = await ledger.as(planned);
      await ledger.as(() => goAhead(runId));
      const owners = [OTHER, 'execution-3'];
      const taken = await ledger.interleaved(
        owners.map(owner => () => takeOver(runId, owner)),
        choose,
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      const run = await ledger.as(() => findRun(runId));
      expect(run?.owner).toBe(owners[taken.indexOf(true)]);
    }).then(orders => expect(orders).toBe(2)));

  test('R-SERIAL: a take-over and a fence at once: the run is taken over alive, or ended, in whatever order', () =>
    inEveryOrder(async choose => {
      const runId = await ledger.as(planned);
      await ledger.as(() => goAhead(runId));
      const [taken, ended] = await ledger.interleaved(
        [() => takeOver(runId, OTHER), () => end(runId, OWNER)],
        choose,
      );
      expect(taken).toBe(!ended);
    }).then(orders => expect(orders).toBe(2)));
});

test('R-SERIAL: a record of which too little is known is of a run that has ended: nothing is done for it', () =>
  ledger.as(async () => {
    const runId = freshId();
    await change(pk.run(runId), {
      UpdateExpression: 'SET version = :v',
      ExpressionAttributeValues: { ':v': number(ITEM_VERSION + 1) },
    });
    expect(await findRun(runId)).toMatchObject({ status: 'ended', phase: 'done', owner: '', acted: false });
    await expect(ownRun(runId, '')).rejects.toThrow(RunEnded);
    await expect(createRun(newRun(runId))).rejects.toThrow(`Run ${runId} has ended. Start a new one`);
  }));

test('a run that nobody has created is unknown', () =>
  ledger.as(async () => {
    expect(await findRun('nobody')).toBeUndefined();
    await expect(ownRun('nobody', OWNER)).rejects.toThrow(RunUnknown);
  }));

test('D16: the record of a fleet of 5,000 instances is within what an item may be', () =>
  ledger.as(async () => {
    const ids = Array.from({ length: MEMBERS_PER_RUN }, (_, i) => `i-0${i.toString(16).padStart(16, '0')}`);
    const runId = freshId();
    await createRun(
      newRun(runId, {
        plan: planOf(ids),
        request: requestOf(runId, { fleet: { autoScalingGroupName: 'web' } }),
      }),
    );
    expect((await findRun(runId))?.plan.instanceIds).toEqual(ids);
  }));
