import { endClaims } from '../bracket/end-claims.ts';
import { giveHold } from '../bracket/hold.ts';
import { planOfLost } from '../domain/lost-run.ts';
import type { Finding, LeftBehind } from '../domain/sweep.ts';
import { startUndo } from '../hooks/start-undo.ts';
import { findHold } from '../ledger/auto-scaling-holds.ts';
import { findInstances } from '../ledger/instances.ts';
import { recordLostRun } from '../ledger/lost-runs.ts';
import { findRun } from '../ledger/runs.ts';
import { forgetOut, readGuards } from '../ledger/target-group-guards.ts';
import { isRunId, readRequest, runRequest } from '../request.ts';
import { nowSeconds } from '../time.ts';

/**
 * Sets right what the sweep has found, or begins to. The pages of a Scan are not of one instant, so the run is looked at
 * again first; every write is conditional, and whatever is done twice is done once.
 *
 * @returns whether anything was done: not when it had been begun before, or has been settled meanwhile
 */
export async function heal(finding: Finding): Promise<boolean> {
  const { kind, runId, owner, left } = finding;
  const run = await findRun(runId);
  switch (kind) {
    case 'cut-off':
    case 'overdue':
    case 'deployment-ended':
      return run?.status === 'live' && run.owner === owner && begin(finding);
    case 'undo-unfinished':
      if (run?.status !== 'ended' || run.owner !== owner || !(await isLeft(runId, left))) return false;
      return begin(finding);
    case 'left-by-success':
      return run?.outcome === 'succeeded' && endLeft(runId, left);
    case 'record-lost':
      return run === undefined && isRunId(runId) && (await isLeft(runId, left)) && writeAgain(finding);
  }
}

const begin = async ({ runId, error, cause, owner, attempt }: Finding): Promise<boolean> =>
  (await startUndo({ runId, error, cause, from: owner, attempt })) === 'started';

/** Its suppression was seen released and its targets in service before it succeeded: of this only a hold is in AWS still. */
async function endLeft(
  runId: string,
  { instances, targetGroups, autoScalingGroups }: LeftBehind,
): Promise<boolean> {
  await endClaims(runId, await findInstances(instances));
  for (const arn of targetGroups) await forgetOut(arn, runId);
  for (const group of autoScalingGroups) await giveHold(group, runId);
  return instances.length + targetGroups.length + autoScalingGroups.length > 0;
}

/** From the next sweep on it is a failed run that has something left, and is undone as such. */
async function writeAgain({ runId, left, error, cause }: Finding): Promise<boolean> {
  const { instances, autoScalingGroups } = left;
  const records = [...(await findInstances(instances)).values()];
  const found = await Promise.all(
    autoScalingGroups.map(async group => ({ group, hold: await findHold(group) })),
  );
  const holds = found.flatMap(({ group, hold }) => (hold ? [{ group, ...hold }] : []));
  const memberships = records.flatMap(record => (record.traffic === runId ? record.memberships : []));
  const [group = 'unknown'] = autoScalingGroups;
  const fleet = instances.length > 0 ? { instanceIds: instances } : { autoScalingGroupName: group };
  const request = readRequest(runRequest, { runId, fleet });
  const plan = planOfLost({ instanceIds: instances, memberships, targetGroupArns: left.targetGroups, holds });
  return recordLostRun({ runId, request, plan, at: nowSeconds(), error, cause });
}

async function isLeft(runId: string, left: LeftBehind): Promise<boolean> {
  const records = await findInstances(left.instances);
  if ([...records.values()].some(({ claims, traffic }) => claims.has(runId) || traffic === runId))
    return true;
  const guards = await readGuards(left.targetGroups);
  if ([...guards.values()].some(guard => guard.outByRun.has(runId))) return true;
  const holds = await Promise.all(left.autoScalingGroups.map(findHold));
  return holds.some(hold => hold?.runs.includes(runId));
}
