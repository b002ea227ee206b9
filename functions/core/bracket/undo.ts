import type { Member } from '../domain/fleet.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { findInstances } from '../ledger/instances.ts';
import { fencedRun } from '../ledger/runs.ts';
import { giveGuard } from '../ledger/target-group-guards.ts';
import { nowSeconds } from '../time.ts';
import { handOver, keepHeld, sortAfterFailure } from './after-failure.ts';
import { releaseHolds } from './hold.ts';
import { instancesOf, membersOf } from './members.ts';
import { registerMembers } from './put-back.ts';
import { releaseSuppression, secondsToRelease } from './release.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

/**
 * Undoes whatever a fenced run has done: memberships back, holds resumed, suppression released. Repeating it does only what
 * is still to do. What is not proven ready is kept out instead, or handed to Auto Scaling, where the run's policy says so
 * (D38). When what is left of its budget is needed for the release, the hold is given up even though members are not healthy.
 *
 * @throws RunEnded unless the run was fenced by this execution
 */
export async function undo(runId: string, owner: string, deadline: number): Promise<StepAnswer> {
  const run = await fencedRun(runId, owner);
  const now = nowSeconds();
  const wait = nextWait(now, deadline, pollSeconds(run.plan.budgets.undo));
  const records = await findInstances(instancesOf(run));
  const members = membersOf(run, records);
  const sorted = await sortAfterFailure(run, owner, members, records, now);
  const { putBack, held, handedOver, undecided } = sorted;
  const kept = [...held, ...undecided];

  const notHeld = await keepHeld(run, sorted, now);
  const isMoved = ({ instanceId }: Member) => records.get(instanceId)?.traffic === runId;
  const moved = putBack.filter(isMoved);
  const go = async () => undefined;
  const { notTaken, inStandby, gone, rest } = await registerMembers(run, moved, go, kept.filter(isMoved));
  const notBack = [...notTaken.map(({ said }) => said), ...inStandby];
  for (const group of run.plan.groups) await giveGuard(group.arn, runId);
  const late = now >= deadline - run.plan.budgets.release;
  const groupsKept = new Set(kept.flatMap(({ autoScalingGroup }) => autoScalingGroup ?? []));
  // What another run has taken over is out for that one, which has joined the hold (D2).
  const ours = putBack.filter(({ instanceId }) => (records.get(instanceId)?.traffic ?? runId) === runId);
  const resuming = await releaseHolds(run, ours, late, groupsKept);
  const notHandedOver = await handOver(run, handedOver);
  // Leaving an instance to another run forgets its memberships: only when all of them are back.
  const settled = notBack.length + resuming.length + rest === 0;
  const free = new Map([...records].filter(([id]) => !kept.some(({ instanceId }) => instanceId === id)));
  const alone = new Map([...free].filter(([, record]) => record.claims.size === 1));
  const turn = settled || late ? await secondsToRelease(run) : 0;
  const releases = (settled || late) && turn === 0;
  const refused = releases ? await releaseSuppression(run, settled ? free : alone, go) : [];
  const reasons = [
    ...sorted.reasons,
    ...notBack,
    ...(rest > 0 ? ['more targets have to be registered'] : []),
    ...resuming,
    ...notHeld,
    ...notHandedOver,
    ...refused,
    ...(turn > 0 ? ['the turn of this run to disable suppressions'] : []),
  ];
  if (reasons.length > 0) return waitingStep(wait, [...reasons, ...gone].slice(0, 5));
  return { ...metStep(members.length), reasons: gone.slice(0, 5) };
}
