import { pk } from './items.ts';
import { change, number, remove, text } from './table.ts';

/**
 * Claims the account's alarms for an execution, or keeps them for it; false while another one has them (R-SERIAL). The claim of
 * one that died ends by itself.
 *
 * @param until seconds since the epoch
 */
export async function claimAlarms(owner: string, until: number, now: number): Promise<boolean> {
  const claimed = await change(pk.alarms, {
    UpdateExpression: 'SET #owner = :owner, #until = :until',
    ConditionExpression: 'attribute_not_exists(#owner) OR #owner = :owner OR #until < :now',
    ExpressionAttributeNames: { '#owner': 'owner', '#until': 'until' },
    ExpressionAttributeValues: { ':owner': text(owner), ':until': number(until), ':now': number(now) },
    ReturnValues: 'NONE',
  });
  return claimed !== undefined;
}

/**
 * Takes the alarms from whoever has them: its next act finds that, and does nothing more (D5).
 *
 * @returns since when they are the owner's
 */
export async function fenceAlarms(owner: string, until: number, now: number): Promise<number> {
  const taken = await change(pk.alarms, {
    UpdateExpression: 'SET #owner = :owner, #until = :until, fencedAt = :now',
    ConditionExpression: 'attribute_not_exists(#owner) OR #owner <> :owner',
    ExpressionAttributeNames: { '#owner': 'owner', '#until': 'until' },
    ExpressionAttributeValues: { ':owner': text(owner), ':until': number(until), ':now': number(now) },
  });
  const fenced = taken ?? (await keepFenced(until));
  return Number(fenced?.fencedAt?.N ?? now);
}

const keepFenced = (until: number) =>
  change(pk.alarms, {
    UpdateExpression: 'SET #until = :until',
    ExpressionAttributeNames: { '#until': 'until' },
    ExpressionAttributeValues: { ':until': number(until) },
  });

export async function releaseAlarms(owner: string): Promise<void> {
  await remove(pk.alarms, {
    ConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': text(owner) },
  });
}
