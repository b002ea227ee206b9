import { createHash } from 'node:crypto';
import { inChunks } from '../aws/batch.ts';
import { describeInstances, disableSuppression } from '../aws/ec2.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { beginRelease, endLastClaim, findInstances, leaveClaim } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { ownRun } from '../ledger/runs.ts';
import { LEDGER_WRITES_AT_ONCE, RELEASING_SECONDS, SUPPRESSION_INSTANCES } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { releaseHolds } from './hold.ts';
import { membersOf } from './members.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

/** Resumes what was held, then releases the suppression of every instance that no other live run claims. */
export async function release(runId: string, owner: string, deadline: number): Promise<StepAnswer> {
  const run = await ownRun(runId, owner);
  const records = await findInstances(run.plan.instanceIds);
  const members = membersOf(run, records);
  const now = nowSeconds();
  const wait = nextWait(now, deadline, pollSeconds(run.plan.budgets.after));
  const held = await releaseHolds(run, members);
  if (held.length > 0) return waitingStep(wait, held.slice(0, 5));
  const refused = await releaseSuppression(run, records, () => ownRun(runId, owner));
  if (refused.length > 0) return waitingStep(wait, refused.slice(0, 5));
  return metStep(members.length);
}

/**
 * Disables our suppression where this run's is the last claim, and leaves the others to the runs that still claim them.
 *
 * @param before runs before each chunk: may the act go on?
 * @returns what EC2 did not release, instance by instance
 */
export async function releaseSuppression(
  run: RunRecord,
  records: ReadonlyMap<string, InstanceRecord>,
  before: () => Promise<unknown>,
): Promise<string[]> {
  const ours = [...records.values()].filter(
    record => record.claims.get(run.runId)?.member.suppression === 'ours',
  );
  const releasing: string[] = [];
  const refused: string[] = [];
  await inChunks(ours, 1, LEDGER_WRITES_AT_ONCE, async ([record]) => {
    if (!record) return;
    if (await beginReleaseOf(run.runId, record)) releasing.push(record.instanceId);
    else if (!(await leaveClaim(run.runId, record)))
      refused.push(`${record.instanceId}: another run has just come or gone`);
  });
  await inChunks(releasing.sort(), SUPPRESSION_INSTANCES, 1, async chunk => {
    await before();
    const { failed } = await disableSuppression(chunk, tokenOf(run, chunk));
    if (failed.length === 0) return;
    const facts = await describeInstances(failed.map(failure => failure.instanceId));
    for (const { instanceId, reason } of failed)
      if (facts.get(instanceId)?.state === 'running') refused.push(`${instanceId}: ${reason}`);
  });
  return refused;
}

/** A dead run's claim does not count: it ended by itself. */
async function beginReleaseOf(runId: string, record: InstanceRecord): Promise<boolean> {
  const now = nowSeconds();
  const othersLive = [...record.claims].some(([claimant, claim]) => claimant !== runId && claim.until > now);
  return !othersLive && (await beginRelease(runId, record, now + RELEASING_SECONDS));
}

const tokenOf = (run: RunRecord, ids: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([run.runId, run.owner, 'release', ids]))
    .digest('hex')
    .slice(0, 64);

/** Ends every claim of the run, and with a last claim the instance's record. */
export async function endClaims(runId: string, records: ReadonlyMap<string, InstanceRecord>): Promise<void> {
  const claimed = [...records.values()].filter(record => record.claims.has(runId));
  await inChunks(claimed, 1, LEDGER_WRITES_AT_ONCE, async ([record]) => {
    if (record && !(await endLastClaim(runId, record))) await leaveClaim(runId, record);
  });
}
