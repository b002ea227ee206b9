import { createHash } from 'node:crypto';
import { applicationStatuses } from '../aws/application-status.ts';
import { concurrently, inChunks } from '../aws/batch.ts';
import { describeInstances } from '../aws/instances.ts';
import { enableSuppression } from '../aws/suppression.ts';
import { judgeSuppressed } from '../domain/goals.ts';
import { SuppressionRefused } from '../errors.ts';
import { findInstances, lengthenClaim } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { findRun, markActed, ownRun } from '../ledger/runs.ts';
import { LEDGER_WRITES_AT_ONCE, SUPPRESSION_INSTANCES } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { list } from './discover-fleet.ts';
import { instancesOf, membersOf, newcomersOf } from './members.ts';
import { secondsToTurn } from './paced.ts';
import { sharingOf } from './sharing.ts';

export interface SuppressRequest {
  readonly runId: string;
  readonly owner: string;
  /** Suppression has to last until then (seconds since the epoch). */
  readonly until: number;
  /**
   * Which intention this is. A repeated step has the same one, and EC2 ignores it; a later look that found a suppression
   * gone or too short is a new one.
   */
  readonly round: number;
}

export interface Suppressed {
  /** Suppressions enabled or extended now. */
  readonly enabled: number;
  /** Found suppressed for long enough. */
  readonly already: number;
  /**
   * Refused, and suppressed already: what is there has to do. Only while a run that has its go-ahead lengthens it. What was
   * launched meanwhile counts here whatever it is: nothing was deployed to it in the run's name.
   */
  readonly refused: number;
  /** What is left of the lead, in seconds. */
  readonly leadSeconds: number;
  /** Seconds until it is the run's turn, if it was not: then nothing was enabled. */
  readonly waitSeconds: number;
}

/**
 * Suppresses every member that is not suppressed for long enough, always with a duration (R-TTL, D31), and never for
 * shorter than another run's claim needs it: a second Enable may replace the first. Members that a run of ours had
 * suppressed keep their lead from then.
 *
 * @throws SuppressionRefused when EC2 refuses an instance that is still there
 */
export async function suppress({ runId, owner, until, round }: SuppressRequest): Promise<Suppressed> {
  const run = await ownRun(runId, owner);
  const records = await findInstances(instancesOf(run));
  // Before the go-ahead a newcomer is suppressed by its launch, and the lead is that of the fleet.
  const launched = run.phase === 'before' ? [] : newcomersOf(run, records);
  const members = [...membersOf(run, records), ...launched].filter(member => member.suppression !== 'none');
  // What changes right after this read is found by the look that the go-ahead rests on.
  const { instances } = await sharingOf(run.request.observer, Date.now() - STATUS_MAX_AGE_MS);
  const read = instances('statuses', applicationStatuses);
  const statuses = await read(members.map(member => member.instanceId));
  const lacking = members.filter(member => {
    const status = statuses.get(member.instanceId);
    return status?.status !== 'suppressed' || judgeSuppressed(member, status, until * 1000).verdict !== 'met';
  });

  const already = members.length - lacking.length;
  // A run that has its go-ahead lengthens a suppression, and does not wait for that.
  const calls = run.phase === 'before' ? Math.ceil(lacking.length / SUPPRESSION_INSTANCES) : 0;
  const waitSeconds = calls > 0 ? await secondsToTurn(runId, 'suppress', calls) : 0;
  if (waitSeconds > 0) return { enabled: 0, already, refused: 0, leadSeconds: 0, waitSeconds };

  await claimUntil(runId, records, until);
  const now = nowSeconds();
  if (lacking.length > 0) await markActed(runId, owner, now);
  let refused = 0;
  await inChunks(lacking, SUPPRESSION_INSTANCES, 1, async chunk => {
    await ownRun(runId, owner);
    const ids = chunk.map(member => member.instanceId);
    const longest = Math.max(until, await longestClaim(ids));
    const { failed } = await enableSuppression(
      ids,
      longest - now,
      tokenOf([runId, owner, round, longest, ids]),
    );
    const there = await withoutGone(failed);
    const blocking = there.filter(
      ({ instanceId }) =>
        run.plan.instanceIds.includes(instanceId) &&
        (run.phase === 'before' || statuses.get(instanceId)?.status !== 'suppressed'),
    );
    if (blocking.length > 0) throw refusal(blocking, longest - now);
    refused += there.length;
  });
  // The lead counts from the last chunk, for this run and for those that will find its suppression.
  const since = lacking.length > 0 ? nowSeconds() : await lastSuppression(run, records);
  if (lacking.length > 0) await markActed(runId, owner, since);
  return {
    enabled: lacking.length - refused,
    already,
    refused,
    leadSeconds: Math.max(0, since + run.request.policy.leadSeconds - nowSeconds()),
    waitSeconds: 0,
  };
}

const STATUS_MAX_AGE_MS = 15_000;

/** Until then no other run that leaves may end the suppression. */
async function claimUntil(
  runId: string,
  records: ReadonlyMap<string, InstanceRecord>,
  until: number,
): Promise<void> {
  const shorter = [...records.values()].filter(({ claims }) => (claims.get(runId)?.until ?? until) < until);
  await concurrently(shorter, LEDGER_WRITES_AT_ONCE, record => lengthenClaim(runId, record, until));
}

/** The longest need of any run that claims one of these instances now. */
export async function longestClaim(instanceIds: readonly string[]): Promise<number> {
  const records = [...(await findInstances(instanceIds)).values()];
  return Math.max(...records.flatMap(({ claims }) => [...claims.values()].map(claim => claim.until)));
}

interface Failure {
  readonly instanceId: string;
  readonly reason: string;
}

/** R-GONE: an instance that was terminated meanwhile is no reason to fail. */
export async function withoutGone(failed: readonly Failure[]): Promise<readonly Failure[]> {
  const facts = await describeInstances(failed.map(failure => failure.instanceId));
  return failed.filter(failure => facts.get(failure.instanceId)?.state === 'running');
}

const refusal = (refused: readonly Failure[], seconds: number): SuppressionRefused =>
  new SuppressionRefused(
    `EC2 does not suppress ${list(refused.map(({ instanceId, reason }) => `${instanceId} (${reason})`))} for ${seconds} s. Look for a suppression of somebody else's, or lower policy.deploymentSeconds.`,
  );

/** One token an intended change (aws.md 1.2). */
const tokenOf = (intention: unknown): string =>
  createHash('sha256').update(JSON.stringify(intention)).digest('hex').slice(0, 64);

/** When the members that were found suppressed got so: by the latest run of ours that claims one, else long ago. */
async function lastSuppression(
  run: RunRecord,
  records: ReadonlyMap<string, InstanceRecord>,
): Promise<number> {
  const runIds = new Set([...records.values()].flatMap(record => [...record.claims.keys()]));
  runIds.delete(run.runId);
  const others = await Promise.all([...runIds].map(runId => findRun(runId)));
  return Math.max(0, ...[run, ...others].map(one => one?.suppressedAt ?? 0));
}
