import type { z } from 'zod/mini';
import { deleteOwnAlarms } from '../alarms/delete-alarms.ts';
import { startExecution } from '../aws/step-functions.ts';
import { heldByRun } from '../domain/sweep.ts';
import { InvalidRequest, RunInProgress } from '../errors.ts';
import { isBeingUndone, startUndo } from '../hooks/start-undo.ts';
import type { AdoptionRecord } from '../ledger/adoptions.ts';
import { type AllHeld, readAllHeld } from '../ledger/all-held.ts';
import { closeFor, reopen } from '../ledger/closing.ts';
import type { RunRecord } from '../ledger/items.ts';
import { requireUnanswered } from '../ledger/resource-requests.ts';
import { JOINING_SECONDS } from '../limits.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import type { cleanUpPayload } from './payloads.ts';
import { propertiesOf } from './properties.ts';
import { cleanUpProperties, type ResourceRequest, serviceTimeoutOf } from './request.ts';
import { deadlineOf, type Missing, type Served, served } from './serve.ts';

/**
 * Nothing of this stack's is left in anybody's fleet when it is deleted (R-OWN): what runs have suppressed, taken out of traffic or
 * held is undone, and the alarms are deleted. Nothing begins meanwhile.
 *
 * @throws RequestAnswered, BudgetSpent
 * @throws InvalidRequest of another stack
 * @throws RunInProgress while a deployment is live, unless the deletion is forced
 */
export async function cleanUp(cleaning: z.output<typeof cleanUpPayload>): Promise<Served> {
  const { request } = cleaning;
  const deadline = deadlineOf(cleaning);
  await requireUnanswered(request.RequestId);
  return served(request, deadline, await turn(request));
}

async function turn(request: ResourceRequest): Promise<Missing> {
  // Whoever has the service token can ask for anything in a stack (D9).
  if (request.StackId !== setting('STACK_ID')) return refuseForeign(request);
  const properties = propertiesOf(cleanUpProperties, request);
  if (request.RequestType !== 'Delete') return [];
  const closedAt = await closeFor(request.RequestId, nowSeconds() + serviceTimeoutOf(request));
  const all = await readAllHeld();
  if (!properties?.Force) await refuseWhile(all);
  const undone = await undoEverything(all, request);
  if (undone.length > 0) return undone;
  const { left, kept, fencedAt } = await deleteOwnAlarms(setting('ALARM_PREFIX'));
  const named = kept.map(name => `a composite alarm of somebody else's names ${name}`);
  if (left > 0) return [`${left} alarms are still there`, ...named];
  const isSettled = nowSeconds() > Math.max(closedAt, fencedAt) + JOINING_SECONDS;
  return isSettled ? [] : ['what had begun before may still write its record, or make an alarm'];
}

/** A deletion succeeds: nothing was made of it. */
function refuseForeign({ RequestType, ResourceType }: ResourceRequest): Missing {
  if (RequestType === 'Delete') return [];
  throw new InvalidRequest(`${ResourceType} is a resource of the stack of Quiesce alone.`);
}

/** Of a live run and an adoption, as long as nobody undoes them; and of retirements, which are not to be undone. */
async function refuseWhile({ runs, adoptions, retirements }: AllHeld): Promise<void> {
  const [what] = [
    ...liveOf(runs).map(({ runId }) => `Run ${runId} is live`),
    ...adoptions.flatMap(({ status, group }) =>
      status === 'live' ? `A check is being adopted by ${group}` : [],
    ),
    ...retirements.map(({ subject }) => `${subject} is being retired`),
  ];
  if (what === undefined) return;
  await reopen();
  throw new RunInProgress(
    `${what}. Delete the stack when it is over, or set its parameter ForceDeletion to true: then it is ended.`,
  );
}

const liveOf = (runs: AllHeld['runs']): RunRecord[] =>
  [...runs.values()].filter(run => run.status === 'live' && !isBeingUndone(run));

/** @returns what is still to be undone */
async function undoEverything(all: AllHeld, request: ResourceRequest): Promise<Missing> {
  const { runs, instances, guards, holds, adoptions } = all;
  const outByGroup = new Map([...guards].map(([arn, guard]) => [arn, guard.outByRun.keys()]));
  const held = heldByRun({ instances, holds, outByGroup });
  // One that is being undone is left to its undo, unless that keeps something held.
  const failed = [...runs.values()].filter(
    run =>
      run.status === 'ended' && held.has(run.runId) && !(isBeingUndone(run) && run.heldUntil === undefined),
  );
  for (const run of [...liveOf(runs), ...failed]) await undo(run, request);
  for (const adoption of adoptions) if (adoption.status === 'live') await endAdoption(adoption, request);
  const live = [...runs.values()].filter(({ status }) => status === 'live').map(({ runId }) => runId);
  return [
    ...[...new Set([...live, ...held.keys()])].map(runId => `run ${runId}`),
    ...adoptions.map(({ group }) => `the adoption by ${group}`),
  ].map(what => `${what} is not undone yet`);
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
