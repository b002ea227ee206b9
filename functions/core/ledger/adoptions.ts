import type { AdoptionRequest } from '../adoption-request.ts';
import { AdoptionEnded, AdoptionInProgress } from '../errors.ts';
import { ITEM_VERSION, pk } from './items.ts';
import { change, get, type Item, json, number, parsed, text, textAt } from './table.ts';
import { markItemTold } from './told.ts';

/** What an adoption has to undo, written before it is done. */
export type AdoptionAct = 'created' | 'sampled' | 'widened' | 'promoted';

/** What was decided before anything was touched. Times are seconds. */
export interface AdoptionPlan {
  /** By which a created check is found again: the value of its tag `quiesce-adoption`. */
  readonly token: string;
  /** Empty when the check was on the whole group already. */
  readonly sample: readonly string[];
  /** Was it, excluded, before the adoption? Then it stays so when that is undone. */
  readonly wasOnGroup: boolean;
  readonly observeSeconds: number;
  readonly optInTagValue: string;
}

/** Why a check was promoted: every one of these instances passed each of these evaluations in a row. */
export interface AdoptionEvidence {
  readonly instances: number;
  readonly evaluations: number;
  /** Of the last of them, in milliseconds since the epoch. */
  readonly evaluatedAt: number;
}

/** The latest adoption of a check by a group. Instants are seconds since the epoch. */
export interface AdoptionRecord {
  readonly group: string;
  /** `undoing`: fenced, and perhaps not undone yet. */
  readonly status: 'live' | 'undoing' | 'ended';
  readonly owner: string;
  readonly request: AdoptionRequest;
  readonly plan: AdoptionPlan;
  readonly acts: readonly AdoptionAct[];
  readonly createdAt: number;
  /** Absent until a check that is to be created is. */
  readonly checkId?: string;
  readonly evidence?: AdoptionEvidence;
  readonly promotedAt?: number;
  readonly endedAt?: number;
  readonly outcome?: 'succeeded' | 'failed';
  readonly error?: string;
  readonly cause?: string;
  /** What people were told of its failure. */
  readonly told: readonly string[];
}

const NAMES = { '#status': 'status', '#owner': 'owner' };

/**
 * Writes the record of a new adoption over that of an earlier one that has ended. The same execution may repeat it.
 *
 * @throws AdoptionInProgress when one of this group is live, or has still to be undone
 */
export async function createAdoption(
  record: Pick<AdoptionRecord, 'group' | 'owner' | 'request' | 'plan' | 'createdAt'> & {
    readonly checkId?: string | undefined;
  },
): Promise<void> {
  const { checkId } = record;
  const created = await change(pk.adoption(record.group), {
    UpdateExpression: `SET version = :v, #status = :live, #owner = :me, #request = :request, #plan = :plan, createdAt = :at${checkId === undefined ? '' : ', checkId = :check'} REMOVE acts, evidence, promotedAt, endedAt, outcome, #error, cause, told${checkId === undefined ? ', checkId' : ''}`,
    ConditionExpression:
      'attribute_not_exists(pk) OR #status = :ended OR (#status = :live AND #owner = :me AND attribute_not_exists(acts))',
    ExpressionAttributeNames: { ...NAMES, '#request': 'request', '#plan': 'plan', '#error': 'error' },
    ExpressionAttributeValues: {
      ':v': number(ITEM_VERSION),
      ':live': text('live'),
      ':ended': text('ended'),
      ':me': text(record.owner),
      ':request': json(record.request),
      ':plan': json(record.plan),
      ':at': number(record.createdAt),
      ...(checkId === undefined ? {} : { ':check': text(checkId) }),
    },
    ReturnValues: 'NONE',
  });
  if (created) return;
  const other = await findAdoption(record.group);
  throw new AdoptionInProgress(
    `${record.group} is adopting a check in ${other?.owner ?? 'another execution'}. Wait until that has ended.`,
  );
}

export async function findAdoption(group: string): Promise<AdoptionRecord | undefined> {
  const item = await get(pk.adoption(group));
  return item && toAdoption(group, item);
}

/**
 * Reads an adoption that this execution works on. Every act and look calls it first (D5).
 *
 * @param status `live`, or `undoing` for its undo
 * @throws AdoptionEnded
 */
export async function ownAdoption(
  group: string,
  owner: string,
  status: 'live' | 'undoing' = 'live',
): Promise<AdoptionRecord> {
  const record = await findAdoption(group);
  if (record?.status === status && record.owner === owner) return record;
  throw new AdoptionEnded(
    `The adoption by ${group} is not ${status} in this execution: nothing is done here.`,
  );
}

/** Says in the record what is about to be done. @throws AdoptionEnded */
export async function markAct(group: string, owner: string, act: AdoptionAct): Promise<void> {
  await write(group, owner, { UpdateExpression: 'ADD acts :acts', values: { ':acts': { SS: [act] } } });
}

/** Names the check that was created. @throws AdoptionEnded */
export async function nameCheck(group: string, owner: string, checkId: string): Promise<void> {
  await write(group, owner, { UpdateExpression: 'SET checkId = :id', values: { ':id': text(checkId) } });
}

/** Says in the record that the check is about to be included, and why. The first instant stays. @throws AdoptionEnded */
export async function markPromoted(
  group: string,
  owner: string,
  evidence: AdoptionEvidence,
  at: number,
): Promise<void> {
  await write(group, owner, {
    UpdateExpression: 'SET evidence = :evidence, promotedAt = if_not_exists(promotedAt, :at) ADD acts :acts',
    values: { ':evidence': json(evidence), ':at': number(at), ':acts': { SS: ['promoted'] } },
  });
}

async function write(
  group: string,
  owner: string,
  { UpdateExpression, values }: { readonly UpdateExpression: string; readonly values: Item },
): Promise<void> {
  const written = await change(pk.adoption(group), {
    UpdateExpression,
    ConditionExpression: '#status = :live AND #owner = :me',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ...values, ':live': text('live'), ':me': text(owner) },
    ReturnValues: 'NONE',
  });
  if (!written) throw new AdoptionEnded(`The adoption by ${group} has ended: nothing more is done for it.`);
}

/**
 * Ends an adoption: as succeeded, or as failed, which is the fence before its undo. A repeated fence keeps the first error.
 *
 * @returns false when this execution may not
 */
export async function endAdoption(
  group: string,
  owner: string,
  end: {
    readonly outcome: 'succeeded' | 'failed';
    readonly at: number;
    readonly error: string;
    readonly cause: string;
  },
): Promise<boolean> {
  const ended = await change(pk.adoption(group), {
    UpdateExpression:
      'SET #status = :next, outcome = :outcome, endedAt = if_not_exists(endedAt, :at), #error = if_not_exists(#error, :error), cause = if_not_exists(cause, :cause)',
    ConditionExpression: '#owner = :me AND (#status = :live OR (#status = :next AND outcome = :outcome))',
    ExpressionAttributeNames: { ...NAMES, '#error': 'error' },
    ExpressionAttributeValues: {
      ':next': text(end.outcome === 'succeeded' ? 'ended' : 'undoing'),
      ':outcome': text(end.outcome),
      ':at': number(end.at),
      ':error': text(end.error),
      ':cause': text(end.cause),
      ':me': text(owner),
      ':live': text('live'),
    },
    ReturnValues: 'NONE',
  });
  return ended !== undefined;
}

/** Says in the record that an adoption is undone: the group may adopt again. */
export async function closeAdoption(group: string, owner: string): Promise<void> {
  await change(pk.adoption(group), {
    UpdateExpression: 'SET #status = :ended',
    ConditionExpression: '#owner = :me AND #status = :undoing',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ':ended': text('ended'), ':undoing': text('undoing'), ':me': text(owner) },
    ReturnValues: 'NONE',
  });
}

/** Gives an adoption to another execution, which fences and undoes it. @param from whoever has it meanwhile keeps it */
export async function takeAdoptionOver(group: string, from: string, owner: string): Promise<boolean> {
  const taken = await change(pk.adoption(group), {
    UpdateExpression: 'SET #owner = :me',
    ConditionExpression: '#owner IN (:from, :me) AND #status IN (:live, :undoing)',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: {
      ':me': text(owner),
      ':from': text(from),
      ':live': text('live'),
      ':undoing': text('undoing'),
    },
    ReturnValues: 'NONE',
  });
  return taken !== undefined;
}

/** Says in the record that people were told. @returns false when they had been told before */
export const markAdoptionTold = (group: string, what: string): Promise<boolean> =>
  markItemTold(pk.adoption(group), what);

/** Reads an adoption's item. */
export function toAdoption(group: string, item: Item): AdoptionRecord {
  const optional = (name: string) => (item[name]?.N === undefined ? {} : { [name]: Number(item[name].N) });
  const said = (name: string) => (item[name]?.S ? { [name]: item[name].S } : {});
  const evidence = parsed<AdoptionEvidence>(item.evidence);
  return {
    group,
    status: textAt(item, 'status') as AdoptionRecord['status'],
    owner: textAt(item, 'owner'),
    request: parsed<AdoptionRequest>(item.request) as AdoptionRequest,
    plan: parsed<AdoptionPlan>(item.plan) as AdoptionPlan,
    acts: (item.acts?.SS ?? []) as AdoptionAct[],
    createdAt: Number(item.createdAt?.N),
    told: item.told?.SS ?? [],
    ...(evidence && { evidence }),
    ...optional('promotedAt'),
    ...optional('endedAt'),
    ...said('checkId'),
    ...said('outcome'),
    ...said('error'),
    ...said('cause'),
  };
}
