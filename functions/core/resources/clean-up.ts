import type { z } from 'zod/mini';
import { deleteOwnAlarms } from '../alarms/delete-alarms.ts';
import { startExecution } from '../aws/step-functions.ts';
import { heldByRun } from '../domain/sweep.ts';
import { RunInProgress } from '../errors.ts';
import { isBeingUndone, startUndo } from '../hooks/start-undo.ts';
import type { AdoptionRecord } from '../ledger/adoptions.ts';
import { readAllHeld } from '../ledger/all-held.ts';
import type { RunRecord } from '../ledger/items.ts';
import { requireUnanswered } from '../ledger/resource-requests.ts';
import type { RetirementRecord } from '../ledger/retirements.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import type { cleanUpPayload } from './payloads.ts';
import { propertiesOf } from './properties.ts';
import { cleanUpProperties, type ResourceRequest } from './request.ts';
import { deadlineOf, type Missing, type Served, served } from './serve.ts';

/**
 * Nothing of this stack's is left in anybody's fleet when it is deleted (R-OWN): what runs have suppressed, taken out of traffic or
 * held is undone, and the alarms are deleted.
 *
 * @throws RequestAnswered, BudgetSpent
 * @throws RunInProgress while a deployment is live, unless the deletion is forced
 */
export async function cleanUp(cleaning: z.output<typeof cleanUpPayload>): Promise<Served> {
  const { request } = cleaning;
  const deadline = deadlineOf(cleaning);
  await requireUnanswered(request.RequestId);
  return served(request, deadline, await turn(request));
}

async function turn(request: ResourceRequest): Promise<Missing> {
  const properties = propertiesOf(cleanUpProperties, request);
  if (request.RequestType !== 'Delete') return [];
  const undone = await undoEverything(request, properties?.Force ?? false);
  if (undone.length > 0) return undone;
  const { left } = await deleteOwnAlarms(setting('ALARM_PREFIX'));
  return left > 0 ? [`${left} alarms are still there`] : [];
}

/** @returns what is still to be undone */
async function undoEverything(request: ResourceRequest, force: boolean): Promise<Missing> {
  const { runs, instances, guards, holds, adoptions, retirements } = await readAllHeld();
  const outByGroup = new Map([...guards].map(([arn, guard]) => [arn, guard.outByRun.keys()]));
  const held = heldByRun({ instances, holds, outByGroup });
  const live = [...runs.values()].filter(({ status }) => status === 'live');
  const adopting = adoptions.filter(({ status }) => status === 'live');
  if (!force) refuseWhile(live, adopting, retirements);
  // One that is being undone is left to its undo, unless that keeps something held.
  const failed = [...runs.values()].filter(
    run =>
      run.status === 'ended' && held.has(run.runId) && !(isBeingUndone(run) && run.heldUntil === undefined),
  );
  for (const run of [...live, ...failed]) await undo(run, request);
  for (const adoption of adopting) await endAdoption(adoption, request);
  return [
    ...new Set([
      ...live.map(({ runId }) => `run ${runId}`),
      ...[...held.keys()].map(runId => `run ${runId}`),
    ]),
    ...adoptions.map(({ group }) => `the adoption by ${group}`),
  ].map(what => `${what} is not undone yet`);
}

/** What is retired is not to be undone: a retirement that is cut off only leaves what it was waiting for. */
function refuseWhile(
  live: readonly RunRecord[],
  adopting: readonly AdoptionRecord[],
  retiring: readonly RetirementRecord[],
): void {
  const [what] = [
    ...live.map(({ runId }) => `Run ${runId} is live`),
    ...adopting.map(({ group }) => `A check is being adopted by ${group}`),
    ...retiring.map(({ subject }) => `${subject} is being retired`),
  ];
  if (what !== undefined)
    throw new RunInProgress(
      `${what}. Delete the stack when it is over, or set its parameter ForceDeletion to true: then it is ended.`,
    );
}

const CAUSE = 'The stack of Quiesce is being deleted.';

/** Once a request: an undo that fails is the sweep's to repeat, which runs meanwhile. */
const undo = ({ runId, owner, error, cause }: RunRecord, { RequestId }: ResourceRequest) =>
  startUndo({
    runId,
    error: error ?? 'StackDeleted',
    cause: cause ?? CAUSE,
    from: owner,
    attempt: RequestId,
    giveBack: true,
  });

const endAdoption = ({ group, owner: from }: AdoptionRecord, { RequestId }: ResourceRequest) =>
  startExecution(setting('PROMOTE_CHECK_ARN'), executionName('end-adoption', group, RequestId), {
    autoScalingGroupName: group,
    from,
    error: 'StackDeleted',
    cause: CAUSE,
  });
