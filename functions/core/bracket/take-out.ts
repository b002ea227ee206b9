import { chunk, concurrently } from '../aws/batch.ts';
import { deregisterTargets, type TargetHealthFacts } from '../aws/elastic-load-balancing.ts';
import {
  type ListedTarget,
  type Member,
  type Membership,
  membershipKey,
  targetKey,
} from '../domain/fleet.ts';
import { isRegistered, judgeFloor } from '../domain/floors.ts';
import { listAt } from '../domain/lists.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import type { PlannedGroup } from '../domain/plan.ts';
import { findInstances, recordMemberships } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { markActed, markHeld, markTakenOut, ownRun } from '../ledger/runs.ts';
import { announceOut, type Guard, giveGuard, outByZone, takeGuard } from '../ledger/target-group-guards.ts';
import { GUARD_SECONDS, LEDGER_WRITES_AT_ONCE, TARGETS_PER_CALL } from '../limits.ts';
import type { Measure } from '../metrics.ts';
import { nowSeconds } from '../time.ts';
import { enterStandby, holdAutoScaling } from './hold.ts';
import { membersOf } from './members.ts';
import { inTurn, secondsToMove } from './paced.ts';
import { emergencyOf } from './plan-run.ts';
import { countOut } from './put-back.ts';
import { healthUnlessGone, leavingKeys, seenTargets } from './seen-targets.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

export interface TakenOut extends StepAnswer {
  readonly measures?: readonly Measure[];
}

/**
 * Takes the run's members out of traffic: holds Auto Scaling's verdicts first, then deregisters every target of every
 * member, all or none, under a guard on each target group and only as far as the floors permit (D4, D6, D7).
 * Repeating it acts only on what is still, or again, registered.
 */
export async function takeOut(runId: string, owner: string, deadline: number): Promise<TakenOut> {
  const run = await ownRun(runId, owner);
  const now = nowSeconds();
  const waitSeconds = nextWait(now, deadline, pollSeconds(run.plan.budgets.traffic));
  // Before the first write to the ledger: undo gives back holds and guards too.
  await markActed(runId, owner);
  const busy = await holdAutoScaling(run);
  if (busy) return waitingStep(waitSeconds, [busy]);
  if (run.plan.holdings.length > 0 && run.heldAt === undefined) await markHeld(runId, owner, nowSeconds());

  const records = await findInstances(run.plan.instanceIds);
  const members = membersOf(run, records).filter(member => records.get(member.instanceId)?.traffic === runId);
  if (members.length === 0) return metStep(0);
  const size = { targets: members.length, groups: run.plan.groups.length };
  const turn = await secondsToMove(runId, 'out', size);
  if (turn > 0) return waitingStep(Math.min(waitSeconds, turn), [TURN]);
  const guards = await takeGuards(run, now);
  if ('busyGroup' in guards)
    return waitingStep(waitSeconds, [`target group ${guards.busyGroup} is guarded by another run`]);
  try {
    const fresh = new Map<string, TargetHealthFacts[]>();
    for (const group of run.plan.groups) fresh.set(group.arn, (await healthUnlessGone(group.arn)) ?? []);
    const leaving = await recordNewMemberships(runId, members, run.plan.groups, fresh);
    const forbidden = emergencyOf(run.request, now) ? [] : await judge(run, leaving, fresh, guards);
    if (forbidden.length > 0) return waitingStep(waitSeconds, forbidden);
    for (const { arn } of run.plan.groups)
      if (!(await announceOut(arn, runId, countOut(leaving, arn))))
        return waitingStep(waitSeconds, ['the guard of a target group has run out']);
    const notInStandby = await enterStandby(run, owner, leaving);
    if (notInStandby.length > 0) return waitingStep(waitSeconds, notInStandby.slice(0, 5));
    const measures: Measure[] = [];
    const calls = run.plan.groups.flatMap(group =>
      deregistrations(run, owner, group, leaving, listAt(fresh, group.arn), measures),
    );
    const rest = await inTurn(calls);
    if (measures.length > 0) await markTakenOut(runId, owner, nowSeconds());
    if (rest === 0) return { ...metStep(leaving.length), measures };
    return { ...waitingStep(Math.min(waitSeconds, rest), [TURN]), measures };
  } finally {
    for (const group of run.plan.groups) await giveGuard(group.arn, runId);
  }
}

const TURN = 'the turn of this run to change target groups';

/** Guards every group concerned, always in the same order, or none of them. */
async function takeGuards(
  run: RunRecord,
  now: number,
): Promise<ReadonlyMap<string, Guard> | { readonly busyGroup: string }> {
  const guards = new Map<string, Guard>();
  for (const group of [...run.plan.groups].sort((a, b) => (a.arn < b.arn ? -1 : 1))) {
    const guard = await takeGuard(group.arn, run.runId, now, now + GUARD_SECONDS);
    if (!guard) {
      for (const arn of guards.keys()) await giveGuard(arn, run.runId);
      return { busyGroup: group.name };
    }
    guards.set(group.arn, guard);
  }
  return guards;
}

/** Memberships that appeared since the plan are written down before they are ended (R-UNDO). */
async function recordNewMemberships(
  runId: string,
  members: readonly Member[],
  groups: readonly PlannedGroup[],
  fresh: ReadonlyMap<string, readonly TargetHealthFacts[]>,
): Promise<Member[]> {
  const owners = new Map(
    members.flatMap(member =>
      [member.instanceId, ...member.addresses].map(id => [id, member.instanceId] as const),
    ),
  );
  const found = new Map<string, Membership[]>();
  for (const group of groups)
    for (const seen of listAt(fresh, group.arn)) {
      const owner =
        isRegistered(seen) || seen.reason === 'Target.NotInUse' ? owners.get(seen.target.id) : undefined;
      if (owner)
        found.set(owner, [...listAt(found, owner), { targetGroupArn: group.arn, target: seen.target }]);
    }
  const updated: Member[] = [];
  await concurrently(members, LEDGER_WRITES_AT_ONCE, async member => {
    const known = new Set(member.memberships.map(membershipKey));
    const added = listAt(found, member.instanceId).filter(
      membership => !known.has(membershipKey(membership)),
    );
    const memberships = [...member.memberships, ...added];
    if (added.length > 0) await recordMemberships(runId, member.instanceId, memberships);
    updated.push({ ...member, memberships });
  });
  return updated;
}

async function judge(
  run: RunRecord,
  members: readonly Member[],
  fresh: ReadonlyMap<string, readonly TargetHealthFacts[]>,
  guards: ReadonlyMap<string, Guard>,
): Promise<string[]> {
  const forbidden: string[] = [];
  for (const group of run.plan.groups.filter(one => one.serves)) {
    const seen = await seenTargets(group, listAt(fresh, group.arn), members);
    const leaving = leavingKeys(members, group);
    const out = outByZone(guards.get(group.arn), run.runId);
    // Taken out by this run in an earlier round, so they belong to the group too.
    const listed = new Set(seen.filter(isRegistered).map(target => target.key));
    for (const { zone, memberships } of members)
      for (const { targetGroupArn, target } of memberships)
        if (targetGroupArn === group.arn && !listed.has(targetKey(target)))
          out.set(zone, (out.get(zone) ?? 0) + 1);
    const verdict = judgeFloor(group.floor, seen, leaving, out);
    if (!verdict.permitted)
      forbidden.push(
        `target group ${group.name} has ${verdict.receiving} targets receiving traffic in ${verdict.scope}; ${verdict.leaving} less would cross its floor of ${verdict.floor}`,
      );
  }
  return forbidden;
}

function deregistrations(
  run: RunRecord,
  owner: string,
  group: PlannedGroup,
  members: readonly Member[],
  fresh: readonly TargetHealthFacts[],
  measures: Measure[],
): (() => Promise<unknown>)[] {
  const leaving = leavingKeys(members, group);
  const registered: ListedTarget[] = fresh
    .filter(seen => leaving.has(targetKey(seen.target)))
    .filter(seen => isRegistered(seen) || seen.reason === 'Target.NotInUse')
    .map(seen => seen.target);
  return chunk(registered, TARGETS_PER_CALL).map(targets => async () => {
    await ownRun(run.runId, owner);
    // A target that AWS names as bad is not there any more: the loop that observes `drained` sees it so.
    const begunAt = Date.now();
    await deregisterTargets(group.arn, targets, group.targetType);
    const value = Date.now() - begunAt;
    measures.push({ metric: 'deregistration_duration_ms', value, target_group: group.name });
  });
}
