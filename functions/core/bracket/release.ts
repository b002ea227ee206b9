import { createHash } from 'node:crypto';
import { concurrently, inChunks } from '../aws/batch.ts';
import { describeInstances } from '../aws/instances.ts';
import { disableSuppression, enableSuppression, type SuppressionOutcome } from '../aws/suppression.ts';
import { hasEnded } from '../domain/lifecycle.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { leaveSuppression } from '../domain/suppression.ts';
import { beginRelease, findInstances, leaveClaim } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { ownRun } from '../ledger/runs.ts';
import {
  JOINING_SECONDS,
  LEDGER_WRITES_AT_ONCE,
  RELEASING_SECONDS,
  SUPPRESSION_INSTANCES,
} from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { releaseHolds } from './hold.ts';
import { instancesOf, membersOf } from './members.ts';
import { secondsToTurn } from './paced.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

/** Resumes what was held, then releases the suppression of every instance that no other live run claims. */
export async function release(runId: string, owner: string, deadline: number): Promise<StepAnswer> {
  const run = await ownRun(runId, owner);
  const records = await findInstances(instancesOf(run));
  const members = membersOf(run, records);
  const now = nowSeconds();
  const wait = nextWait(now, deadline, pollSeconds(run.plan.budgets.after));
  const joining = secondsToJoin(run, now);
  if (joining > 0) return waitingStep(Math.min(wait, joining), ['what was just joining this run']);
  const held = await releaseHolds(run, members);
  if (held.length > 0) return waitingStep(wait, held.slice(0, 5));
  const turn = await secondsToRelease(run);
  if (turn > 0) return waitingStep(Math.min(wait, turn), ['the turn of this run to disable suppressions']);
  const refused = await releaseSuppression(run, records, () => ownRun(runId, owner));
  if (refused.length > 0) return waitingStep(wait, refused.slice(0, 5));
  return metStep(members.length);
}

/**
 * Seconds in which a launch that began to join the run before its after-deploy may still enable a suppression (R-UNDO): a
 * release must not overtake it. Whatever joins is in the record by then, so a run without newcomers waits for none.
 */
const secondsToJoin = ({ newcomers, resumedAt }: RunRecord, now: number): number =>
  newcomers.length > 0 ? Math.max(0, (resumedAt ?? 0) + JOINING_SECONDS - now) : 0;

/** Seconds until it is the run's turn to disable suppressions; 0 when it is now, or it has none. */
export const secondsToRelease = async ({ runId, plan }: RunRecord): Promise<number> =>
  plan.suppressing === 0
    ? 0
    : secondsToTurn(runId, 'release', Math.ceil(plan.suppressing / SUPPRESSION_INSTANCES));

/**
 * Ends our suppression where this run's is the last claim, and leaves the others to the runs that still claim them.
 *
 * @param before runs before each chunk: may the act go on?
 * @returns what EC2 did not release, instance by instance
 */
export async function releaseSuppression(
  run: RunRecord,
  records: ReadonlyMap<string, InstanceRecord>,
  before: () => Promise<unknown>,
): Promise<string[]> {
  const now = nowSeconds();
  const disabling: string[] = [];
  const restoring = new Map<number, string[]>();
  const refused: string[] = [];
  await concurrently([...records.values()], LEDGER_WRITES_AT_ONCE, async record => {
    const claim = record.claims.get(run.runId);
    if (!claim) return;
    const leaving = leaveSuppression(claim.member, claim.until, now);
    if (leaving.how === 'untouched') return;
    if (leaving.how === 'restore' && !othersLive(run.runId, record, now))
      restoring.set(leaving.until, [...(restoring.get(leaving.until) ?? []), record.instanceId]);
    else if (leaving.how === 'disable' && (await beginReleaseOf(run.runId, record, now)))
      disabling.push(record.instanceId);
    else if (!(await leaveClaim(run.runId, record, true)))
      refused.push(`${record.instanceId}: another run has just come or gone`);
  });
  // IAM permits by a tag, which a terminated instance may have lost: it would be denied for all of its batch (R-GONE, D19).
  const known = await describeInstances([...disabling, ...[...restoring.values()].flat()]);
  const inBatches = (all: string[], act: (chunk: string[]) => Promise<SuppressionOutcome>) => {
    const there = all.filter(id => !hasEnded(known.get(id)?.state)).sort();
    return inChunks(there, SUPPRESSION_INSTANCES, 1, async chunk => {
      await before();
      const { failed, unnamed } = await act(chunk);
      const doubtful = [
        ...failed,
        ...unnamed.map(instanceId => ({ instanceId, reason: 'EC2 does not say what it did' })),
      ];
      if (doubtful.length === 0) return;
      const facts = await describeInstances(doubtful.map(({ instanceId }) => instanceId));
      for (const { instanceId, reason } of doubtful)
        if (facts.get(instanceId)?.state === 'running') refused.push(`${instanceId}: ${reason}`);
    });
  };
  await inBatches(disabling, chunk =>
    disableSuppression(chunk, tokenOf(run, ['release', String(now), ...chunk])),
  );
  for (const [until, ids] of restoring)
    await inBatches(ids, chunk =>
      enableSuppression(chunk, until - now, tokenOf(run, ['restore', String(now), ...chunk])),
    );
  return refused;
}

/** A dead run's claim does not count: it ended by itself. */
const othersLive = (runId: string, record: InstanceRecord, now: number): boolean =>
  [...record.claims].some(([claimant, claim]) => claimant !== runId && claim.until > now);

const beginReleaseOf = async (runId: string, record: InstanceRecord, now: number): Promise<boolean> =>
  !othersLive(runId, record, now) && (await beginRelease(runId, record, now + RELEASING_SECONDS));

const tokenOf = (run: RunRecord, what: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([run.runId, run.owner, ...what]))
    .digest('hex')
    .slice(0, 64);
