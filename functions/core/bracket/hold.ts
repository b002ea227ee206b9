import {
  enterStandby as enter,
  exitStandby as exit,
  groups,
  resumeProcesses,
  setHealthy,
  suspendProcesses,
} from '../aws/auto-scaling.ts';
import { describeInstances } from '../aws/instances.ts';
import { type Member, targetKey } from '../domain/fleet.ts';
import { receives } from '../domain/floors.ts';
import { processesToSuspend } from '../domain/holding.ts';
import { isSetAside } from '../domain/lifecycle.ts';
import type { PlannedHolding } from '../domain/plan.ts';
import { AutoScalingGroupUnknown, InstanceUnknown } from '../errors.ts';
import { endHold, findHold, joinHold, leaveHold } from '../ledger/auto-scaling-holds.ts';
import type { RunRecord } from '../ledger/items.ts';
import { ownRun } from '../ledger/runs.ts';
import { healthUnlessGone } from './seen-targets.ts';

/**
 * Keeps Auto Scaling from acting on its own health verdicts while the run works on its instances (D4).
 *
 * @returns why it has to wait; undefined when every group is held
 */
export async function holdAutoScaling(run: RunRecord): Promise<string | undefined> {
  for (const { group, mode, processes } of run.plan.holdings) {
    const busy = `another run holds Auto Scaling group ${group}, or is just resuming it`;
    const alone = mode === 'standby';
    // First a place in the hold, then the look: from here on no other run resumes what is seen suspended.
    if (!(await joinHold(group, run.runId, { alone, suspending: [] }))) return busy;
    const facts = (await groups([group])).get(group);
    const suspending = processesToSuspend(processes, facts?.suspendedProcesses ?? []);
    const hold = await joinHold(group, run.runId, { alone, suspending });
    if (!hold) return busy;
    const missing = processesToSuspend(hold.suspended, facts?.suspendedProcesses ?? []);
    if (facts && missing.length > 0) await suspendProcesses(group, missing);
  }
  return undefined;
}

/**
 * Joins the holds of runs whose traffic is about to be taken over, so that their undo does not resume while it is out (D2).
 *
 * @returns the group that is just being resumed, or is held by a run alone; undefined when all are shared
 */
export async function shareHolds(
  runId: string,
  holdings: readonly PlannedHolding[],
): Promise<string | undefined> {
  for (const { group, mode } of holdings)
    if (mode === 'hold' && !(await joinHold(group, runId, { alone: false, suspending: [] }))) return group;
  return undefined;
}

const standbyOf = (run: RunRecord): readonly PlannedHolding[] =>
  run.plan.holdings.filter(holding => holding.mode === 'standby');

const idsIn = (members: readonly Member[], group: string): string[] =>
  members.filter(member => member.autoScalingGroup === group).map(member => member.instanceId);

/**
 * Puts the members of the groups that the plan wants in Standby there.
 *
 * @returns what Auto Scaling did not take, instance by instance
 */
export async function enterStandby(
  run: RunRecord,
  owner: string,
  members: readonly Member[],
): Promise<string[]> {
  const notTaken: string[] = [];
  for (const { group } of standbyOf(run)) {
    await ownRun(run.runId, owner);
    const { failed } = await enter(group, await inState(group, idsIn(members, group), 'InService'));
    notTaken.push(...failed.map(({ item, reason }) => `${item} does not enter Standby: ${reason}`));
  }
  return notTaken;
}

/**
 * Brings members back from Standby; Auto Scaling registers them in its own target groups.
 *
 * @returns by instance, why Auto Scaling did not take it: it is in Standby still
 */
export async function leaveStandby(
  run: RunRecord,
  members: readonly Member[],
): Promise<ReadonlyMap<string, string>> {
  const notTaken = new Map<string, string>();
  for (const { group } of standbyOf(run)) {
    const { failed } = await exit(group, await inState(group, idsIn(members, group), 'Standby'));
    for (const { item, reason } of failed) notTaken.set(item, `${item} does not leave Standby: ${reason}`);
  }
  return notTaken;
}

async function inState(group: string, instanceIds: readonly string[], state: string): Promise<string[]> {
  const facts = (await groups([group])).get(group);
  const there = new Set(
    (facts?.instances ?? []).filter(one => one.lifecycleState === state).map(one => one.instanceId),
  );
  return instanceIds.filter(id => there.has(id));
}

/**
 * Leaves the holds of a run. The last one out resumes, and only when every member is InService and receives traffic in each
 * attached target group, none marked Unhealthy: resuming acts on marks at once (D4).
 *
 * @param force resume although members are not healthy: the run has failed and its budget for undoing is over
 * @param kept groups that the run goes on holding
 * @returns what still stands in the way
 */
export async function releaseHolds(
  run: RunRecord,
  members: readonly Member[],
  force = false,
  kept: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const reasons: string[] = [];
  for (const holding of run.plan.holdings.filter(({ group }) => !kept.has(group))) {
    const hold = await findHold(holding.group);
    if (!hold?.runs.includes(run.runId)) continue;
    const unready = force ? [] : await unreadyMembers(holding, members);
    if (unready.length > 0) {
      reasons.push(...unready);
      continue;
    }
    await giveHold(holding.group, run.runId);
  }
  return reasons;
}

/** Leaves the hold on a group. The last one out resumes what the runs have suspended. */
export async function giveHold(group: string, runId: string): Promise<void> {
  const processes = await leaveHold(group, runId);
  if (!processes) return;
  if (processes.length > 0) await unlessGone(() => resumeProcesses(group, processes));
  await endHold(group, runId);
}

async function unreadyMembers(holding: PlannedHolding, members: readonly Member[]): Promise<string[]> {
  const facts = (await groups([holding.group])).get(holding.group);
  if (!facts) return [];
  const ours = new Map(members.map(member => [member.instanceId, member]));
  const held = facts.instances.filter(({ instanceId, lifecycleState }) => {
    const isOurs = holding.mode === 'standby' && lifecycleState.endsWith('Standby');
    return ours.has(instanceId) && (isOurs || !isSetAside(lifecycleState));
  });
  const reasons = held
    .filter(({ lifecycleState }) => lifecycleState !== 'InService')
    .map(({ instanceId, lifecycleState }) => `${instanceId} is ${lifecycleState} in ${holding.group}`);
  const staying = held.flatMap(({ instanceId }) => ours.get(instanceId) ?? []);
  for (const arn of holding.targetGroupArns)
    for (const { instanceId, state } of await outOf(arn, staying))
      reasons.push(`${instanceId} is ${state} in a target group of ${holding.group}`);
  if (reasons.length > 0) return reasons;
  for (const instance of held.filter(one => one.healthStatus !== 'Healthy'))
    await unlessGone(() => setHealthy(instance.instanceId));
  return [];
}

interface Out {
  readonly instanceId: string;
  readonly state: string;
}

/** The members that do not receive traffic from a target group, with what it says of them. */
async function outOf(arn: string, members: readonly Member[]): Promise<Out[]> {
  const listed = await healthUnlessGone(arn);
  if (!listed) return [];
  const out: Out[] = [];
  const missing: Member[] = [];
  for (const member of members) {
    const { instanceId, addresses, memberships } = member;
    const seen = listed.filter(({ target: { id } }) => id === instanceId || addresses.includes(id));
    for (const one of seen)
      if (one.state !== 'unused' && !receives({ ...one, shifted: false }))
        out.push({ instanceId, state: one.state });
    const there = new Set(seen.map(({ target }) => targetKey(target)));
    if (memberships.some(one => one.targetGroupArn === arn && !there.has(targetKey(one.target))))
      missing.push(member);
  }
  const facts = await describeInstances(missing.map(({ instanceId }) => instanceId));
  // What was terminated is registered nowhere, although a group that is held still counts it (R-GONE).
  for (const { instanceId } of missing)
    if (facts.get(instanceId)?.state === 'running') out.push({ instanceId, state: 'not registered' });
  return out;
}

/** In a group that was deleted under the run, and on an instance that has left it, nothing is left to give back (R-GONE). */
export async function unlessGone(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof AutoScalingGroupUnknown || error instanceof InstanceUnknown)) throw error;
  }
}
