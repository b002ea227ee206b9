import { concurrently } from '../aws/batch.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { findInstances, leaveToCover } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { ownRun } from '../ledger/runs.ts';
import { LEDGER_WRITES_AT_ONCE } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { coverOf } from './cover.ts';
import { releaseHolds } from './hold.ts';
import { membersOf } from './members.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

export interface HandedOver extends StepAnswer {
  /** False when no run covers some instance any more: that one has to be proven and released by this run. */
  readonly covered: boolean;
}

/** Leaves the instances, which are in service, to the run over the whole fleet: what is still to prove is proven by that. */
export async function handOver(runId: string, owner: string, deadline: number): Promise<HandedOver> {
  const run = await ownRun(runId, owner);
  const records = await findInstances(run.plan.instanceIds);
  const claimed = [...records.values()].filter(record => record.claims.has(runId));
  const cover = await coverOf(run, claimed);
  if (cover === undefined) return { ...metStep(0), covered: false };
  const held = await releaseHolds(run, membersOf(run, records));
  if (held.length > 0) {
    const wait = nextWait(nowSeconds(), deadline, pollSeconds(run.plan.budgets.after));
    return { ...waitingStep(wait, held.slice(0, 5)), covered: true };
  }
  const kept = await leave(run, claimed, cover);
  return { ...metStep(claimed.length - kept.length), covered: kept.length === 0 };
}

/** @returns what its cover has left meanwhile */
async function leave(
  run: RunRecord,
  records: readonly InstanceRecord[],
  cover: string,
): Promise<InstanceRecord[]> {
  const { runId, owner, request } = run;
  const deployed = { by: request.observer ?? runId, at: run.resumedAt ?? nowSeconds() };
  const kept = await concurrently(records, LEDGER_WRITES_AT_ONCE, async record => {
    await ownRun(runId, owner);
    return (await leaveToCover(runId, record, cover, deployed)) ? [] : [record];
  });
  return kept.flat();
}
