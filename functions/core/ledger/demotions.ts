import { pk } from './items.ts';
import { change, get, type Item, json, number, parsed, remove, text, textAt } from './table.ts';
import { markItemTold } from './told.ts';

/** What the loop breaker has done about a check, the last time that it did. Instants are seconds since the epoch. */
export interface Demotion {
  readonly checkId: string;
  /** `observed`: it only watches. `over`: the cause is gone. */
  readonly status: 'demoted' | 'observed' | 'over';
  /** When it began: it tells this demotion from an earlier one. */
  readonly at: number;
  /** The Auto Scaling groups that the check is on. */
  readonly groups: readonly string[];
  /** The replacements that had never passed; none where the whole group showed the loop. */
  readonly inVain: readonly string[];
  readonly cause: string;
  /** The ARN of who has included the check again last, where CloudTrail tells it. */
  readonly includedBy?: string;
  readonly told: readonly string[];
}

export async function findDemotion(checkId: string): Promise<Demotion | undefined> {
  const item = await get(pk.demotion(checkId));
  return item && toDemotion(checkId, item);
}

/**
 * Says in the ledger that a check is about to be demoted. What was only observed until now may be.
 *
 * @returns false when another one has said so just before: of two looks at once one acts
 */
export async function beginDemotion(
  demotion: Omit<Demotion, 'told' | 'status'> & { readonly status: 'demoted' | 'observed' },
): Promise<boolean> {
  const isDemoted = demotion.status === 'demoted';
  const begun = await change(pk.demotion(demotion.checkId), {
    UpdateExpression:
      'SET #status = :status, #at = :at, #groups = :groups, inVain = :inVain, cause = :cause REMOVE told, includedBy',
    ConditionExpression: `attribute_not_exists(pk) OR #status = :over${isDemoted ? ' OR #status = :observed' : ''}`,
    ExpressionAttributeNames: { '#status': 'status', '#at': 'at', '#groups': 'groups' },
    ExpressionAttributeValues: {
      ':status': text(demotion.status),
      ':at': number(demotion.at),
      ':groups': json(demotion.groups),
      ':inVain': json(demotion.inVain),
      ':cause': text(demotion.cause),
      ':over': text('over'),
      ...(isDemoted && { ':observed': text('observed') }),
    },
    ReturnValues: 'NONE',
  });
  return begun !== undefined;
}

/** Says in the ledger who has included a demoted check again. @returns the demotion; undefined when there is none */
export async function nameIncluder(checkId: string, by: string): Promise<Demotion | undefined> {
  const item = await change(pk.demotion(checkId), {
    UpdateExpression: 'SET includedBy = :by',
    ConditionExpression: '#status = :demoted',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':by': text(by), ':demoted': text('demoted') },
  });
  return item && toDemotion(checkId, item);
}

/** Begins a look, unless one has begun in these last seconds. */
export async function beginLook(now: number, apartSeconds: number): Promise<boolean> {
  const begun = await change(pk.looks, {
    UpdateExpression: 'SET beganAt = :now',
    ConditionExpression: 'attribute_not_exists(pk) OR beganAt <= :before',
    ExpressionAttributeValues: { ':now': number(now), ':before': number(now - apartSeconds) },
    ReturnValues: 'NONE',
  });
  return begun !== undefined;
}

/** Says in the ledger that the cause is gone. @returns false when that was said before */
export async function endDemotion({ checkId, at }: Pick<Demotion, 'checkId' | 'at'>): Promise<boolean> {
  const ended = await change(pk.demotion(checkId), {
    UpdateExpression: 'SET #status = :over',
    ConditionExpression: '#at = :at AND #status <> :over',
    ExpressionAttributeNames: { '#status': 'status', '#at': 'at' },
    ExpressionAttributeValues: { ':over': text('over'), ':at': number(at) },
    ReturnValues: 'NONE',
  });
  return ended !== undefined;
}

/** Says in the record that people were told. @returns false when they had been told before */
export const markDemotionTold = (checkId: string, what: string): Promise<boolean> =>
  markItemTold(pk.demotion(checkId), what);

/** Of this demotion, and not of a later one. */
export async function forgetDemotion({ checkId, at }: Pick<Demotion, 'checkId' | 'at'>): Promise<void> {
  await remove(pk.demotion(checkId), {
    ConditionExpression: '#at = :at',
    ExpressionAttributeNames: { '#at': 'at' },
    ExpressionAttributeValues: { ':at': number(at) },
  });
}

export const toDemotion = (checkId: string, item: Item): Demotion => ({
  checkId,
  status: textAt(item, 'status') as Demotion['status'],
  at: Number(item.at?.N),
  groups: parsed<string[]>(item.groups) as string[],
  inVain: parsed<string[]>(item.inVain) as string[],
  cause: textAt(item, 'cause'),
  ...(item.includedBy?.S !== undefined && { includedBy: item.includedBy.S }),
  told: item.told?.SS ?? [],
});
