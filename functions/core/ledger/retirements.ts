import { RetirementEnded, RetirementInProgress } from '../errors.ts';
import { RETIREMENT_REMEMBERED_SECONDS } from '../limits.ts';
import { type RetirementRequest, subjectOf } from '../retirement-request.ts';
import { ITEM_VERSION, pk } from './items.ts';
import { change, get, type Item, json, number, parsed, scan, text, textAt } from './table.ts';
import { markItemTold } from './told.ts';

/** What is about to be done, written before it is. */
export type RetirementAct = 'check-deleted' | 'groups-deleted';

/** What was decided before anything was touched. */
export interface RetirementPlan {
  /** Is the check to be deleted? Not one that is gone, nor one that is kept. */
  readonly deletesCheck: boolean;
  /** The interfaces that nothing else needs. */
  readonly interfaceIds: readonly string[];
  /** The groups to delete, named or tagged. */
  readonly groupIds: readonly string[];
  readonly optInTagValue: string;
}

/** The latest retirement of a check, or of security groups alone. Instants are seconds since the epoch. */
export interface RetirementRecord {
  readonly subject: string;
  readonly status: 'live' | 'ended';
  readonly owner: string;
  readonly request: RetirementRequest;
  readonly plan: RetirementPlan;
  readonly createdAt: number;
  readonly deadline: number;
  readonly acts: readonly RetirementAct[];
  readonly endedAt?: number;
  readonly outcome?: 'succeeded' | 'failed';
  readonly error?: string;
  readonly cause?: string;
  /** What people were told of its failure. */
  readonly told: readonly string[];
}

const NAMES = { '#status': 'status', '#owner': 'owner' };

/**
 * Writes the record of a new retirement over that of an earlier one that has ended. The same execution may repeat it.
 *
 * @throws RetirementInProgress
 */
export async function createRetirement(
  record: Pick<RetirementRecord, 'owner' | 'request' | 'plan' | 'createdAt' | 'deadline'>,
): Promise<void> {
  const subject = subjectOf(record.request);
  const created = await change(pk.retirement(subject), {
    UpdateExpression:
      'SET version = :v, #status = :live, #owner = :me, #request = :request, #plan = :plan, createdAt = :at, deadline = :deadline REMOVE acts, endedAt, outcome, #error, cause, told, expiresAt',
    ConditionExpression: 'attribute_not_exists(pk) OR #status = :ended OR #owner = :me',
    ExpressionAttributeNames: { ...NAMES, '#request': 'request', '#plan': 'plan', '#error': 'error' },
    ExpressionAttributeValues: {
      ':v': number(ITEM_VERSION),
      ':live': text('live'),
      ':ended': text('ended'),
      ':me': text(record.owner),
      ':request': json(record.request),
      ':plan': json(record.plan),
      ':at': number(record.createdAt),
      ':deadline': number(record.deadline),
    },
    ReturnValues: 'NONE',
  });
  if (!created) throw inProgress(subject, await findRetirement(subject));
}

export const inProgress = (subject: string, other: RetirementRecord | undefined): RetirementInProgress =>
  new RetirementInProgress(
    `${subject} is being retired in ${other?.owner ?? 'another execution'}. Wait until that has ended.`,
  );

export async function findRetirement(subject: string): Promise<RetirementRecord | undefined> {
  const item = await get(pk.retirement(subject));
  return item && toRetirement(subject, item);
}

/** Reads a retirement that this execution works on. Every act and look calls it first (D5). @throws RetirementEnded */
export async function ownRetirement(subject: string, owner: string): Promise<RetirementRecord> {
  const record = await findRetirement(subject);
  if (record?.status === 'live' && record.owner === owner) return record;
  throw new RetirementEnded(
    `The retirement of ${subject} is not live in this execution: nothing is done here.`,
  );
}

/** Says in the record what is about to be done. @throws RetirementEnded */
export async function markRetirementAct(subject: string, owner: string, act: RetirementAct): Promise<void> {
  const written = await change(pk.retirement(subject), {
    UpdateExpression: 'ADD acts :acts',
    ConditionExpression: '#status = :live AND #owner = :me',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ':acts': { SS: [act] }, ':live': text('live'), ':me': text(owner) },
    ReturnValues: 'NONE',
  });
  if (!written)
    throw new RetirementEnded(`The retirement of ${subject} has ended: nothing more is done for it.`);
}

/** Ends a retirement. The same execution may repeat it. @returns false when this execution may not */
export async function endRetirement(
  subject: string,
  owner: string,
  end: {
    readonly outcome: 'succeeded' | 'failed';
    readonly at: number;
    readonly error: string;
    readonly cause: string;
  },
): Promise<boolean> {
  const ended = await change(pk.retirement(subject), {
    UpdateExpression:
      'SET #status = :ended, outcome = :outcome, endedAt = if_not_exists(endedAt, :at), #error = if_not_exists(#error, :error), cause = if_not_exists(cause, :cause), expiresAt = :expires',
    ConditionExpression: '#owner = :me AND (#status = :live OR outcome = :outcome)',
    ExpressionAttributeNames: { ...NAMES, '#error': 'error' },
    ExpressionAttributeValues: {
      ':ended': text('ended'),
      ':live': text('live'),
      ':outcome': text(end.outcome),
      ':at': number(end.at),
      ':error': text(end.error),
      ':cause': text(end.cause),
      ':expires': number(end.at + RETIREMENT_REMEMBERED_SECONDS),
      ':me': text(owner),
    },
    ReturnValues: 'NONE',
  });
  return ended !== undefined;
}

/** Gives a retirement to another execution, which goes on with it. @param from whoever has it meanwhile keeps it */
export async function takeRetirementOver(
  subject: string,
  from: string,
  owner: string,
): Promise<RetirementRecord | undefined> {
  const taken = await change(pk.retirement(subject), {
    UpdateExpression: 'SET #owner = :me',
    ConditionExpression: '#owner IN (:from, :me) AND #status = :live',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ':me': text(owner), ':from': text(from), ':live': text('live') },
  });
  return taken && toRetirement(subject, taken);
}

/** Says in the record that people were told. @returns false when they had been told before */
export const markRetirementTold = (subject: string, what: string): Promise<boolean> =>
  markItemTold(pk.retirement(subject), what);

const PREFIX = pk.retirement('');

/** Has it left anything undone? One that was refused before it deleted its check has not: the check needs it all. */
export const leavesSomething = ({ status, plan, acts }: RetirementRecord): boolean =>
  status === 'live' || !plan.deletesCheck || acts.length > 0;

/** Those that are live, and of those that are remembered the ones that have failed with something left. */
export async function unfinishedRetirements(): Promise<RetirementRecord[]> {
  const items = await scan({
    FilterExpression: 'begins_with(pk, :retirement) AND (#status = :live OR outcome = :failed)',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':retirement': text(PREFIX),
      ':live': text('live'),
      ':failed': text('failed'),
    },
  });
  return items
    .map(item => toRetirement(textAt(item, 'pk').slice(PREFIX.length), item))
    .filter(leavesSomething);
}

/** Reads a retirement's item. */
export function toRetirement(subject: string, item: Item): RetirementRecord {
  const said = (name: string) => (item[name]?.S ? { [name]: item[name].S } : {});
  return {
    subject,
    status: textAt(item, 'status') as RetirementRecord['status'],
    owner: textAt(item, 'owner'),
    request: parsed<RetirementRequest>(item.request) as RetirementRequest,
    plan: parsed<RetirementPlan>(item.plan) as RetirementPlan,
    createdAt: Number(item.createdAt?.N),
    deadline: Number(item.deadline?.N),
    acts: (item.acts?.SS ?? []) as RetirementAct[],
    told: item.told?.SS ?? [],
    ...(item.endedAt?.N !== undefined && { endedAt: Number(item.endedAt.N) }),
    ...said('outcome'),
    ...said('error'),
    ...said('cause'),
  };
}
