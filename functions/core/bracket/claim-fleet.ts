import { concurrently } from '../aws/batch.ts';
import type { Member } from '../domain/fleet.ts';
import { listAt } from '../domain/lists.ts';
import { overdueAt } from '../domain/sweep.ts';
import { claimInstance } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { endHolding, findRuns, markActed } from '../ledger/runs.ts';
import { inheritOut } from '../ledger/target-group-guards.ts';
import { LEDGER_WRITES_AT_ONCE } from '../limits.ts';
import type { RunRequest } from '../request.ts';
import { shareHolds } from './hold.ts';
import type { PlannedRun } from './plan-run.ts';
import { countOut } from './put-back.ts';

/** An instance that this run cannot claim now. */
export interface Conflict {
  readonly instanceId: string;
  readonly by: string;
  readonly why: 'traffic' | 'releasing';
}

/**
 * Claims every member, those of runs that are over with their traffic, hold and memberships (D2).
 *
 * @returns what cannot be claimed now
 */
export async function claimFleet(
  request: RunRequest,
  owner: string,
  { plan, members, movedBy, heldBy, putAsideBy }: PlannedRun,
  now: number,
): Promise<readonly Conflict[]> {
  const conflicts: Conflict[] = [];
  const takenOver = new Set<string>();
  const ended = await runsThatAreOver(new Set(movedBy.values()), now);
  // Written before anything is taken over: from then on this run has something to undo.
  if (ended.size > 0) {
    await markActed(request.runId, owner);
    if (await shareHolds(request.runId, plan.holdings)) {
      for (const [instanceId, by] of movedBy) conflicts.push({ instanceId, by, why: 'releasing' });
      return conflicts;
    }
  }
  const isTakenOver = ({ instanceId, memberships }: Member) =>
    memberships.length > 0 && ended.has(movedBy.get(instanceId) ?? '');
  for (const { arn } of plan.groups)
    await inheritOut(arn, request.runId, countOut(members.filter(isTakenOver), arn));
  await concurrently(members, LEDGER_WRITES_AT_ONCE, async member => {
    const claim = { member, until: plan.suppressUntil };
    const { instanceId } = member;
    const was = member.memberships.length > 0 ? movedBy.get(instanceId) : undefined;
    const answer = await claimInstance(
      request.runId,
      member.instanceId,
      claim,
      member.memberships.length > 0,
      now,
      was !== undefined && ended.has(was) ? was : undefined,
    );
    if (answer.claimed) for (const runId of listAt(heldBy, instanceId)) takenOver.add(runId);
    if (answer.claimed && was !== undefined && ended.has(was)) takenOver.add(was);
    else if (!answer.claimed) conflicts.push({ instanceId, by: answer.by, why: answer.why });
    // That run has ended since the plan was made, and the plan shows its targets as out: plan again.
    else if (was !== undefined) conflicts.push({ instanceId, by: was, why: 'releasing' });
  });
  for (const [instanceId, by] of await livePutAside(putAsideBy))
    conflicts.push({ instanceId, by, why: 'traffic' });
  // What a run held of a fleet that is deployed to again is looked at no more (D38).
  for (const was of takenOver) await endHolding(was, now, 'held');
  return conflicts;
}

/** In service again before this run gives its go-ahead, such an instance would be neither suppressed nor out of traffic. */
async function livePutAside(putAsideBy: ReadonlyMap<string, string>): Promise<[string, string][]> {
  const known = await findRuns([...new Set(putAsideBy.values())]);
  return [...putAsideBy].filter(([, by]) => known.get(by)?.status === 'live');
}

/**
 * Those that still hold what they did, and are over: a run that comes after them takes it over (D2). Over is what has ended,
 * what the ledger does not know any more, and what nobody has ended although its time and its claims are past.
 */
async function runsThatAreOver(runIds: ReadonlySet<string>, now: number): Promise<ReadonlySet<string>> {
  const known = await findRuns([...runIds]);
  return new Set(
    [...runIds].filter(runId => {
      const run = known.get(runId);
      return run?.status !== 'live' || now > Math.max(run.plan.suppressUntil, overdueAt(run));
    }),
  );
}

/**
 * Those that leave their claims without being waited for in vain: what has ended meanwhile, and what was begun later and has
 * done nothing yet, since this run is in its way too. So the first of runs that begin at the same moment is not refused.
 */
export async function runsThatGiveWay(
  runId: string,
  now: number,
  conflicts: readonly Conflict[],
): Promise<ReadonlySet<string>> {
  const known = await findRuns([...new Set(conflicts.map(({ by }) => by))]);
  const isLater = (other: RunRecord) =>
    other.createdAt > now || (other.createdAt === now && other.runId > runId);
  const gives = (other: RunRecord) =>
    other.status === 'ended' || (other.phase === 'before' && !other.acted && isLater(other));
  return new Set([...known.values()].filter(gives).map(run => run.runId));
}
