import type { CheckInterface } from '../domain/check-interfaces.ts';
import { pk } from './items.ts';
import { change, json, parsed, remove, scan, text, textAt } from './table.ts';

/** An interface from which checks are asked, as it was last seen. Instants are seconds since the epoch. */
export interface KnownInterface extends CheckInterface {
  /** The checks that needed it when one last did; none of an interface that CloudTrail alone has told of. */
  readonly checkIds: readonly string[];
  /** Since when no check has been seen to need it. */
  readonly lingersSince?: number;
}

const PREFIX = pk.checkInterface('');

/** Every interface that is remembered. */
export async function knownInterfaces(): Promise<KnownInterface[]> {
  const items = await scan({
    FilterExpression: 'begins_with(pk, :interface)',
    ExpressionAttributeValues: { ':interface': text(PREFIX) },
  });
  return items.flatMap(item => {
    const known = parsed<Omit<KnownInterface, 'id'>>(item.known);
    return known ? [{ ...known, id: textAt(item, 'pk').slice(PREFIX.length) }] : [];
  });
}

/** Remembers an interface as it is now. */
export async function rememberInterface({ id, ...known }: KnownInterface): Promise<void> {
  await change(pk.checkInterface(id), {
    UpdateExpression: 'SET known = :known',
    ExpressionAttributeValues: { ':known': json(known) },
    ReturnValues: 'NONE',
  });
}

/** Remembers one that CloudTrail tells of, unless it is known: events come late and twice. */
export async function rememberCreated({ id, ...created }: CheckInterface): Promise<void> {
  await change(pk.checkInterface(id), {
    UpdateExpression: 'SET known = :known',
    ConditionExpression: 'attribute_not_exists(pk)',
    ExpressionAttributeValues: { ':known': json({ ...created, checkIds: [] }) },
    ReturnValues: 'NONE',
  });
}

/** Forgets an interface that is gone. */
export async function forgetInterface(id: string): Promise<void> {
  await remove(pk.checkInterface(id), { ConditionExpression: 'attribute_exists(pk)' });
}
