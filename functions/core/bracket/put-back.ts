import { chunk } from '../aws/batch.ts';
import { registerTargets } from '../aws/elastic-load-balancing.ts';
import { describeInstances } from '../aws/instances.ts';
import { type ListedTarget, type Member, membershipKey, targetKey } from '../domain/fleet.ts';
import { isRegistered } from '../domain/floors.ts';
import { hasEnded } from '../domain/lifecycle.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import type { PlannedGroup } from '../domain/plan.ts';
import { TargetGroupUnknown } from '../errors.ts';
import { findInstances } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { ownRun } from '../ledger/runs.ts';
import { keepOut } from '../ledger/target-group-guards.ts';
import { TARGETS_PER_CALL } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { leaveStandby } from './hold.ts';
import { membersOf } from './members.ts';
import { inTurn, secondsToMove } from './paced.ts';
import { healthUnlessGone } from './seen-targets.ts';
import { setAsideAmong } from './set-aside.ts';
import { forgetHealth } from './sharing.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

/** Registers every recorded membership again, exactly as it was listed (R-REREG). Repeating it changes nothing. */
export async function putBack(runId: string, owner: string, deadline: number): Promise<StepAnswer> {
  const run = await ownRun(runId, owner);
  const records = await findInstances(run.plan.instanceIds);
  const members = membersOf(run, records).filter(member => records.get(member.instanceId)?.traffic === runId);
  const { notTaken, inStandby, gone, rest } = await registerMembers(run, members, () => ownRun(runId, owner));
  const reasons = [...inStandby, ...gone, ...notTaken.map(({ said }) => said)].slice(0, 5);
  if (rest === 0 && inStandby.length === 0) return { ...metStep(members.length), reasons };
  const wait = nextWait(nowSeconds(), deadline, pollSeconds(run.plan.budgets.inService));
  if (rest === 0) return waitingStep(wait, reasons);
  return waitingStep(Math.min(wait, rest), [...reasons, 'the turn of this run to change target groups']);
}

/** A target that AWS did not take, and what it said. */
export interface NotTaken {
  readonly targetGroupArn: string;
  readonly target: ListedTarget;
  readonly said: string;
}

export interface Registered {
  /** What AWS did not take of members that are still there: one bad member does not block the rest (R-PARTIAL). */
  readonly notTaken: readonly NotTaken[];
  /** What Auto Scaling does not bring back from Standby. */
  readonly inStandby: readonly string[];
  /** What there is nothing to put back of any more, or into: members that were set aside, target groups that were deleted (R-GONE). */
  readonly gone: readonly string[];
  /** Seconds until more may be registered; 0 when all that could be is. */
  readonly rest: number;
}

/**
 * @param before runs before each chunk: may the act go on?
 * @param stayOut members of the run that are not put back
 */
export async function registerMembers(
  run: RunRecord,
  members: readonly Member[],
  before: () => Promise<unknown>,
  stayOut: readonly Member[] = [],
): Promise<Registered> {
  const refusedByGroup = await leaveStandby(run, members);
  const inStandby = [...refusedByGroup.values()];
  const notTaken: NotTaken[] = [];
  const size = { targets: members.length, groups: run.plan.groups.length };
  const turn = members.length > 0 ? await secondsToMove(run.runId, 'back', size) : 0;
  const gone: string[] = [];
  if (turn > 0) return { notTaken, inStandby, gone, rest: turn };
  const calls: (() => Promise<void>)[] = [];
  const aside = await setAsideAmong(run, members);
  // Nor is anything registered of what is in Standby still.
  const isBack = ({ instanceId }: Member) => !refusedByGroup.has(instanceId);
  const staying = members.filter(member => !aside.has(member.instanceId) && isBack(member));
  for (const [instanceId, state] of aside) gone.push(`${instanceId} is ${state}: it is not put back`);
  for (const group of run.plan.groups) {
    const missing = await missingTargets(group, staying);
    for (const targets of chunk(missing, TARGETS_PER_CALL))
      calls.push(async () => {
        await before();
        const failed = await registerUnlessGone(group, targets);
        await forgetHealth(group.arn);
        if (!failed) gone.push(`target group ${group.name} does not exist any more`);
        notTaken.push(
          ...(failed ?? []).map(({ item, reason }) => ({
            targetGroupArn: group.arn,
            target: item,
            said: `${item.id}:${item.port ?? ''} of ${group.name}: ${reason}`,
          })),
        );
      });
  }
  const rest = await inTurn(calls);
  const refusals = await ofThoseThatRemain(notTaken, staying);
  // What a group did not take stays out until it does: the floors of every other run count on that.
  const refused = new Set(refusals.map(membershipKey));
  const stillOut = members.map(member => ({
    ...member,
    memberships: member.memberships.filter(
      membership => !isBack(member) || refused.has(membershipKey(membership)),
    ),
  }));
  if (rest === 0)
    for (const { arn } of run.plan.groups)
      await keepOut(arn, run.runId, countOut([...stayOut, ...stillOut], arn));
  return { notTaken: refusals, inStandby, gone, rest };
}

/** A terminated instance goes back into no target group, and must not keep the others waiting (R-GONE). */
async function ofThoseThatRemain(
  notTaken: readonly NotTaken[],
  members: readonly Member[],
): Promise<readonly NotTaken[]> {
  if (notTaken.length === 0) return [];
  const refused = new Set(notTaken.map(({ target }) => target.id));
  const concerned = members.filter(
    ({ instanceId, addresses }) => refused.has(instanceId) || addresses.some(address => refused.has(address)),
  );
  const facts = await describeInstances(concerned.map(({ instanceId }) => instanceId));
  const isGone = ({ instanceId }: Member) => hasEnded(facts.get(instanceId)?.state);
  const gone = new Set(
    concerned.filter(isGone).flatMap(({ instanceId, addresses }) => [instanceId, ...addresses]),
  );
  return notTaken.filter(({ target }) => !gone.has(target.id));
}

/** What AWS did not take; undefined when the group was deleted since it was looked at. */
async function registerUnlessGone(group: PlannedGroup, targets: readonly ListedTarget[]) {
  try {
    return (await registerTargets(group.arn, targets, group.targetType)).failed;
  } catch (error) {
    if (error instanceof TargetGroupUnknown) return undefined;
    throw error;
  }
}

/** How many targets of these members the group has in each zone. */
export function countOut(members: readonly Member[], arn: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { zone, memberships } of members)
    for (const { targetGroupArn } of memberships)
      if (targetGroupArn === arn) counts[zone] = (counts[zone] ?? 0) + 1;
  return counts;
}

/** The members' targets that are not registered now, draining ones included. */
async function missingTargets(group: PlannedGroup, members: readonly Member[]): Promise<ListedTarget[]> {
  const recorded = members
    .flatMap(member => member.memberships)
    .filter(membership => membership.targetGroupArn === group.arn)
    .map(membership => membership.target);
  if (recorded.length === 0) return [];
  const listed = await healthUnlessGone(group.arn);
  if (!listed) return [];
  const there = new Set(
    listed
      .filter(seen => isRegistered(seen) || seen.reason === 'Target.NotInUse')
      .map(seen => targetKey(seen.target)),
  );
  return recorded.filter(target => !there.has(targetKey(target)));
}
