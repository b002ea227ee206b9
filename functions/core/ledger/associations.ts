import { change, getAll, type Item, number, remove } from './table.ts';

/** One association of a check that custom resources want: `key=value` of a tag, or an instance's id. */
export interface AssociationKey {
  readonly checkId: string;
  readonly value: string;
}

export interface AssociationHold {
  /** The resources that still want it. */
  readonly holders: readonly string[];
  /** Was it made for them? What somebody else had made stays when they are gone. */
  readonly made: boolean;
  /** When a resource last came to want it while it was being let go, in seconds since the epoch. */
  readonly retakenAt?: number;
}

const pk = ({ checkId, value }: AssociationKey): string => `association#${checkId}#${value}`;

/** By value; those that no resource has wanted have no entry. */
export async function findHolds(keys: readonly AssociationKey[]): Promise<Map<string, AssociationHold>> {
  const items = await getAll(keys.map(pk));
  return new Map(
    keys.flatMap(key => {
      const item = items.get(pk(key));
      return item ? [[key.value, toHold(item)] as const] : [];
    }),
  );
}

/**
 * Writes down that a resource wants an association, before it is made.
 *
 * @param isMissing it is about to be made, since EC2 does not show it
 */
export async function holdAssociation(
  key: AssociationKey,
  holder: string,
  isMissing: boolean,
): Promise<void> {
  await change(pk(key), {
    UpdateExpression: `ADD holders :holder${isMissing ? ' SET made = :yes' : ''}`,
    ExpressionAttributeValues: { ':holder': { SS: [holder] }, ...(isMissing && { ':yes': { BOOL: true } }) },
    ReturnValues: 'NONE',
  });
}

/**
 * Writes down that a resource wants an association that is just being let go.
 *
 * @returns false when it is not
 */
export async function retakeAssociation(key: AssociationKey, holder: string, now: number): Promise<boolean> {
  const retaken = await change(pk(key), {
    UpdateExpression: 'ADD holders :holder SET retakenAt = :now',
    ConditionExpression: 'made = :yes AND attribute_not_exists(holders)',
    ExpressionAttributeValues: { ':holder': { SS: [holder] }, ':now': number(now), ':yes': { BOOL: true } },
    ReturnValues: 'NONE',
  });
  return retaken !== undefined;
}

/** Writes down that a resource does not want it any more. @returns undefined when none ever did, or it is gone already */
export async function dropAssociation(
  key: AssociationKey,
  holder: string,
): Promise<AssociationHold | undefined> {
  const left = await change(pk(key), {
    UpdateExpression: 'DELETE holders :holder',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':holder': { SS: [holder] } },
  });
  return left && toHold(left);
}

/** Nobody wants it any more, and it is not there. */
export async function forgetAssociation(key: AssociationKey): Promise<void> {
  await remove(pk(key), { ConditionExpression: 'attribute_not_exists(holders)' });
}

const toHold = (item: Item): AssociationHold => ({
  holders: item.holders?.SS ?? [],
  made: item.made?.BOOL === true,
  ...(item.retakenAt?.N !== undefined && { retakenAt: Number(item.retakenAt.N) }),
});
