import { inChunks } from '../aws/batch.ts';
import { registerTargets } from '../aws/elastic-load-balancing.ts';
import type { Member } from '../domain/fleet.ts';
import { TargetGroupUnknown } from '../errors.ts';
import { findInstances } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { ownRun } from '../ledger/runs.ts';
import { forgetOut } from '../ledger/target-group-guards.ts';
import { TARGETS_PER_CALL } from '../limits.ts';
import { leaveStandby } from './hold.ts';
import { membersOf } from './members.ts';
import { metStep, type StepAnswer } from './step-answer.ts';

/** Registers every recorded membership again, exactly as it was listed (R-REREG). Repeating it changes nothing. */
export async function putBack(runId: string, owner: string): Promise<StepAnswer> {
  const run = await ownRun(runId, owner);
  const records = await findInstances(run.plan.instanceIds);
  const members = membersOf(run, records).filter(member => records.get(member.instanceId)?.traffic === runId);
  const notTaken = await registerMembers(run, members, () => ownRun(runId, owner));
  return { ...metStep(members.length), reasons: notTaken.slice(0, 5) };
}

/**
 * @param before runs before each chunk: may the act go on?
 * @returns what AWS did not take, target by target: one bad member does not block the rest (R-PARTIAL)
 */
export async function registerMembers(
  run: RunRecord,
  members: readonly Member[],
  before: () => Promise<unknown>,
): Promise<string[]> {
  const notTaken = await leaveStandby(run, members);
  for (const group of run.plan.groups) {
    const targets = members
      .flatMap(member => member.memberships)
      .filter(membership => membership.targetGroupArn === group.arn)
      .map(membership => membership.target);
    try {
      await inChunks(targets, TARGETS_PER_CALL, 1, async chunk => {
        await before();
        const { failed } = await registerTargets(group.arn, chunk, group.targetType);
        notTaken.push(
          ...failed.map(({ item, reason }) => `${item.id}:${item.port ?? ''} of ${group.name}: ${reason}`),
        );
      });
    } catch (error) {
      if (!(error instanceof TargetGroupUnknown)) throw error;
      notTaken.push(`target group ${group.name} does not exist any more`);
    }
    await forgetOut(group.arn, run.runId);
  }
  return notTaken;
}
