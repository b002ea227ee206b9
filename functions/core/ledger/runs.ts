import { createHash } from 'node:crypto';
import type { Plan } from '../domain/plan.ts';
import { RunEnded, RunInProgress, RunUnknown } from '../errors.ts';
import type { RunRequest } from '../request.ts';
import { ITEM_VERSION, pk, type RunPhase, type RunRecord } from './items.ts';
import { change, get, getAll, type Item, json, number, parsed, text, textAt } from './table.ts';
import { markItemTold } from './told.ts';

const DAY = 86_400;

/** How long an ended run is remembered, in seconds. */
export const RUN_KEPT_SECONDS = 30 * DAY;

/** The digest that tells whether two requests of one runId ask for the same (D12). */
export const digestOf = (request: RunRequest): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 32);

/** Reads many runs; those that are not there are left out. */
export async function findRuns(runIds: readonly string[]): Promise<Map<string, RunRecord>> {
  const items = await getAll(runIds.map(pk.run));
  return new Map([...items.values()].map(toRun).map(run => [run.runId, run]));
}

/** Reads a run, or undefined. */
export async function findRun(runId: string): Promise<RunRecord | undefined> {
  const item = await get(pk.run(runId));
  return item && toRun(item);
}

/**
 * Writes the record of a new run. The same execution may repeat it (a retried step).
 *
 * @throws RunEnded when a run of this id has ended
 * @throws RunInProgress when another execution works on this id
 */
export async function createRun(
  run: Pick<RunRecord, 'runId' | 'owner' | 'request' | 'plan' | 'createdAt' | 'deadline'>,
): Promise<void> {
  const created = await change(pk.run(run.runId), {
    UpdateExpression:
      'SET version = :v, runId = :id, #status = :live, phase = :before, #owner = :me, digest = :digest, #request = :request, #plan = :plan, createdAt = :at, deadline = :deadline, acted = if_not_exists(acted, :no)',
    ConditionExpression: 'attribute_not_exists(pk) OR (#status = :live AND phase = :before AND #owner = :me)',
    ExpressionAttributeNames: {
      '#status': 'status',
      '#owner': 'owner',
      '#plan': 'plan',
      '#request': 'request',
    },
    ExpressionAttributeValues: {
      ':v': number(ITEM_VERSION),
      ':id': text(run.runId),
      ':live': text('live'),
      ':before': text('before'),
      ':me': text(run.owner),
      ':digest': text(digestOf(run.request)),
      ':request': json(run.request),
      ':plan': json(run.plan),
      ':at': number(run.createdAt),
      ':deadline': number(run.deadline),
      ':no': { BOOL: false },
    },
  });
  if (created) return;
  const existing = await findRun(run.runId);
  if (existing?.status === 'live')
    throw new RunInProgress(
      `Run ${run.runId} is live in ${existing.owner}. Wait for it, or use another runId.`,
    );
  throw new RunEnded(
    `Run ${run.runId} has ended${existing?.outcome ? ` (${existing.outcome})` : ''}. Start a new one with a runId of its own.`,
  );
}

/**
 * Reads a run that this execution may still act for. Every act calls it before each chunk (D5).
 *
 * @throws RunUnknown
 * @throws RunEnded when it was fenced, has ended, or another execution has taken it over
 */
export async function ownRun(runId: string, owner: string): Promise<RunRecord> {
  const run = await findRun(runId);
  if (!run) throw new RunUnknown(`There is no run ${runId}. Was before-deploy started with this runId?`);
  if (run.status === 'ended') throw new RunEnded(`Run ${runId} has ended: nothing more is done for it.`);
  if (run.owner !== owner)
    throw new RunEnded(`Run ${runId} belongs to ${run.owner} now: nothing more is done here.`);
  return run;
}

/** Reads a run that this execution has fenced, to undo it. @throws RunEnded */
export async function fencedRun(runId: string, owner: string): Promise<RunRecord> {
  const run = await findRun(runId);
  if (run?.status === 'ended' && run.owner === owner) return run;
  throw new RunEnded(`Run ${runId} was not fenced by this execution: nothing is undone here.`);
}

/** Says in the record that something is about to be done, so that undo knows to wait for it. */
export async function markActed(runId: string, owner: string, suppressedAt?: number): Promise<void> {
  const marked = await change(pk.run(runId), {
    UpdateExpression: `SET acted = :yes${suppressedAt === undefined ? '' : ', suppressedAt = :at, suppressedSince = if_not_exists(suppressedSince, :at)'}`,
    ConditionExpression: '#status = :live AND #owner = :me',
    ExpressionAttributeNames: { '#status': 'status', '#owner': 'owner' },
    ExpressionAttributeValues: {
      ':yes': { BOOL: true },
      ':live': text('live'),
      ':me': text(owner),
      ...(suppressedAt === undefined ? {} : { ':at': number(suppressedAt) }),
    },
    ReturnValues: 'NONE',
  });
  if (!marked) throw new RunEnded(`Run ${runId} has ended: nothing more is done for it.`);
}

/**
 * Says in the record that an instance, which the fleet's group is launching, is about to be suppressed with the fleet: the
 * run's end has it to release. Repeating it changes nothing.
 *
 * @returns false when the run has ended, or its deployment is over
 */
export async function recordNewcomer(runId: string, instanceId: string): Promise<boolean> {
  const recorded = await change(pk.run(runId), {
    UpdateExpression: 'SET acted = :yes ADD newcomers :ids',
    ConditionExpression: '#status = :live AND phase IN (:before, :goAhead)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':yes': { BOOL: true },
      ':ids': { SS: [instanceId] },
      ':live': text('live'),
      ':before': text('before'),
      ':goAhead': text('go-ahead'),
    },
    ReturnValues: 'NONE',
  });
  return recorded !== undefined;
}

/** Says in the record that targets have just been deregistered: from then on they drain. */
export const markTakenOut = (runId: string, owner: string, at: number): Promise<void> =>
  stamp('takenOutAt', runId, owner, at);

/** Says in the record that the run's Auto Scaling groups are held: from then on somebody else may move the traffic. */
export const markHeld = (runId: string, owner: string, at: number): Promise<void> =>
  stamp('heldAt', runId, owner, at);

async function stamp(name: 'takenOutAt' | 'heldAt', runId: string, owner: string, at: number): Promise<void> {
  const marked = await change(pk.run(runId), {
    UpdateExpression: `SET ${name} = :at`,
    ConditionExpression: '#status = :live AND #owner = :me',
    ExpressionAttributeNames: { '#status': 'status', '#owner': 'owner' },
    ExpressionAttributeValues: { ':at': number(at), ':live': text('live'), ':me': text(owner) },
    ReturnValues: 'NONE',
  });
  if (!marked) throw new RunEnded(`Run ${runId} has ended: nothing more is done for it.`);
}

const STAMPS: { readonly [phase in RunPhase]?: string } = {
  'go-ahead': ', goAheadAt = :at',
  after: ', resumedAt = :at',
};

/** Moves a live run from one phase to the next; the same move may be repeated. False when it is not in `from`. */
export async function advance(
  runId: string,
  move: {
    readonly from: RunPhase;
    readonly to: RunPhase;
    readonly owner: string;
    readonly at: number;
    /** Must the run already belong to `owner`? Not when after-deploy takes over from before-deploy. */
    readonly takesOver?: boolean;
    readonly deadline?: number;
  },
): Promise<boolean> {
  const stamp = STAMPS[move.to] ?? '';
  const deadline = move.deadline === undefined ? '' : ', deadline = :deadline';
  const moved = await change(pk.run(runId), {
    UpdateExpression: `SET phase = :to, #owner = :me${stamp}${deadline}`,
    ConditionExpression: `#status = :live AND ((phase = :from${move.takesOver ? '' : ' AND #owner = :me'}) OR (phase = :to AND #owner = :me))`,
    ExpressionAttributeNames: { '#status': 'status', '#owner': 'owner' },
    ExpressionAttributeValues: {
      ':to': text(move.to),
      ':from': text(move.from),
      ':me': text(move.owner),
      ':live': text('live'),
      ...(stamp ? { ':at': number(move.at) } : {}),
      ...(move.deadline === undefined ? {} : { ':deadline': number(move.deadline) }),
    },
    ReturnValues: 'NONE',
  });
  return moved !== undefined;
}

/**
 * Ends a run: the fence before its undo, or its success. After this write no act of the run starts any more. A run that is
 * fenced again, for another undo, keeps its first end and error (R-FAIL), and is kept for longer.
 *
 * @returns false when this execution may not end it: it does not own it, or it has ended already
 */
export async function endRun(
  runId: string,
  end: {
    readonly owner: string;
    readonly outcome: 'succeeded' | 'failed';
    readonly at: number;
    readonly error?: string;
    readonly cause?: string;
  },
): Promise<boolean> {
  const ended = await change(pk.run(runId), {
    UpdateExpression:
      'SET #status = :ended, outcome = :outcome, endedAt = if_not_exists(endedAt, :at), #error = if_not_exists(#error, :error), cause = if_not_exists(cause, :cause), expiresAt = :expires',
    ConditionExpression: '#owner = :me AND (#status = :live OR (#status = :ended AND outcome = :outcome))',
    ExpressionAttributeNames: { '#status': 'status', '#owner': 'owner', '#error': 'error' },
    ExpressionAttributeValues: {
      ':ended': text('ended'),
      ':live': text('live'),
      ':outcome': text(end.outcome),
      ':me': text(end.owner),
      ':at': number(end.at),
      ':error': text(end.error ?? ''),
      ':cause': text(end.cause ?? ''),
      ':expires': number(end.at + RUN_KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
  return ended !== undefined;
}

/**
 * Gives a run that its execution cannot end any more to another execution, which fences and undoes it.
 *
 * @param from the execution that owned it: whoever has taken it over meanwhile keeps it
 * @returns false when it is not `from`'s any more, or has succeeded
 */
export async function takeOver(runId: string, from: string, owner: string): Promise<boolean> {
  const taken = await change(pk.run(runId), {
    UpdateExpression: 'SET #owner = :me',
    ConditionExpression: '#owner IN (:from, :me) AND (#status = :live OR outcome = :failed)',
    ExpressionAttributeNames: { '#status': 'status', '#owner': 'owner' },
    ExpressionAttributeValues: {
      ':me': text(owner),
      ':from': text(from),
      ':live': text('live'),
      ':failed': text('failed'),
    },
    ReturnValues: 'NONE',
  });
  return taken !== undefined;
}

/**
 * Writes until when a failed run holds what is not proven ready (D38). The first end that is written stays.
 *
 * @returns that end, in seconds since the epoch
 * @throws RunEnded when the run was not fenced by this execution
 */
export async function beginHolding(runId: string, owner: string, until: number): Promise<number> {
  const item = await change(pk.run(runId), {
    UpdateExpression: 'SET heldUntil = if_not_exists(heldUntil, :until)',
    ConditionExpression: '#status = :ended AND #owner = :me',
    ExpressionAttributeNames: { '#status': 'status', '#owner': 'owner' },
    ExpressionAttributeValues: { ':until': number(until), ':ended': text('ended'), ':me': text(owner) },
  });
  if (!item) throw new RunEnded(`Run ${runId} was not fenced by this execution: nothing is held here.`);
  return Number(item.heldUntil?.N);
}

/**
 * Whatever the run holds, or would hold after a failure, is given back by the next undo.
 *
 * @param only `held`: nothing is written of a run that has not begun to hold
 */
export async function endHolding(runId: string, at: number, only: 'held' | 'any'): Promise<void> {
  const unheld = only === 'any' ? 'attribute_not_exists(heldUntil) OR ' : '';
  await change(pk.run(runId), {
    UpdateExpression: 'SET heldUntil = :at',
    ConditionExpression: `attribute_exists(pk) AND (${unheld}heldUntil > :at)`,
    ExpressionAttributeValues: { ':at': number(at) },
    ReturnValues: 'NONE',
  });
}

/** People were told this of the run: they are not told it again. False when they had been. */
export const markTold = (runId: string, what: string): Promise<boolean> => markItemTold(pk.run(runId), what);

/** Reads a run's item. */
export function toRun(item: Item): RunRecord {
  const optional = (name: string) => (item[name]?.N === undefined ? {} : { [name]: Number(item[name].N) });
  const said = (name: string) => (item[name]?.S ? { [name]: item[name].S } : {});
  return {
    runId: textAt(item, 'runId'),
    status: item.status?.S === 'live' ? 'live' : 'ended',
    phase: (item.phase?.S ?? 'done') as RunPhase,
    owner: textAt(item, 'owner'),
    digest: textAt(item, 'digest'),
    request: parsed<RunRequest>(item.request) as RunRequest,
    plan: parsed<Plan>(item.plan) as Plan,
    createdAt: Number(item.createdAt?.N),
    deadline: Number(item.deadline?.N),
    acted: item.acted?.BOOL ?? false,
    newcomers: item.newcomers?.SS ?? [],
    ...optional('suppressedSince'),
    ...optional('suppressedAt'),
    ...optional('takenOutAt'),
    ...optional('heldAt'),
    ...optional('goAheadAt'),
    ...optional('resumedAt'),
    ...optional('endedAt'),
    ...optional('heldUntil'),
    ...(item.told?.SS ? { told: item.told.SS } : {}),
    ...said('outcome'),
    ...said('error'),
    ...said('cause'),
  };
}
