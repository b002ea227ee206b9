import { StackClosing } from '../errors.ts';
import { nowSeconds } from '../time.ts';
import { pk } from './items.ts';
import { change, get, number, text } from './table.ts';

/** Long ago: the `until` of a deletion that was refused. */
const REOPENED = 0;

/**
 * Lets nothing begin any more, since the stack is being deleted. What was planned just before may still write its record.
 *
 * @param until when that has come to nothing at the latest, in seconds since the epoch
 * @returns since when it is so for this request
 */
export async function closeFor(requestId: string, until: number): Promise<number> {
  const now = nowSeconds();
  const closed = await change(pk.closing, {
    UpdateExpression: 'SET deletion = :request, closedAt = :now, #until = :until',
    // A refusal that died when it had reopened is decided again.
    ConditionExpression: 'attribute_not_exists(pk) OR deletion <> :request OR #until = :reopened',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: {
      ':request': text(requestId),
      ':now': number(now),
      ':until': number(until),
      ':reopened': number(REOPENED),
    },
  });
  const item = closed ?? (await get(pk.closing));
  return Number(item?.closedAt?.N);
}

/** Lets runs and adoptions begin again: the stack is not deleted after all. */
export async function reopen(): Promise<void> {
  await change(pk.closing, {
    UpdateExpression: 'SET #until = :reopened',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':reopened': number(REOPENED) },
    ReturnValues: 'NONE',
  });
}

/** What begins asks first. @throws StackClosing */
export async function requireOpen(): Promise<void> {
  const until = Number((await get(pk.closing))?.until?.N ?? 0);
  if (until > nowSeconds())
    throw new StackClosing('The stack of Quiesce is being deleted, and nothing could undo what begins now.');
}
