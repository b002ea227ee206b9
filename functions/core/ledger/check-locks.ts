import { AdoptionInProgress, RetirementInProgress } from '../errors.ts';
import { findAdoption } from './adoptions.ts';
import { pk } from './items.ts';
import { findRetirement } from './retirements.ts';
import { change, get, type Item, remove, text, textAt } from './table.ts';

/**
 * One adoption at a time works on a check, and none while it is retired. What one that is over could not give back any more
 * is taken from it.
 *
 * @throws AdoptionInProgress, RetirementInProgress
 */
export async function takeCheck(checkId: string, group: string, owner: string): Promise<void> {
  const taking = { '#group': group, '#owner': owner };
  if (await lock(checkId, taking, 'attribute_not_exists(pk) OR #group = :group')) return;
  if (await takeFromTheDead(checkId, taking)) return;
  throw new AdoptionInProgress(`Another group is adopting ${checkId}. Wait until that has ended.`);
}

/**
 * Keeps adoptions away from a check that is retired.
 *
 * @throws AdoptionInProgress, RetirementInProgress
 */
export async function takeToRetire(checkId: string, owner: string): Promise<void> {
  const taking = { retirement: checkId, '#owner': owner };
  if (await lock(checkId, taking, 'attribute_not_exists(pk) OR retirement = :retirement')) return;
  if (await takeFromTheDead(checkId, taking)) return;
  throw new AdoptionInProgress(
    `A group is adopting ${checkId}, and counts on it. Wait until that has ended, then retire it.`,
  );
}

/** Lets others work on the check again. */
export async function giveCheck(checkId: string, group: string): Promise<void> {
  await remove(pk.check(checkId), {
    ConditionExpression: '#group = :group',
    ExpressionAttributeNames: { '#group': 'group' },
    ExpressionAttributeValues: { ':group': text(group) },
  });
}

/** Lets others work on a check of that id again. */
export async function giveRetired(checkId: string): Promise<void> {
  await remove(pk.check(checkId), {
    ConditionExpression: 'retirement = :check',
    ExpressionAttributeValues: { ':check': text(checkId) },
  });
}

type Taking = Readonly<Record<string, string>> & { readonly '#owner': string };

/** @throws RetirementInProgress when a live retirement has it @returns false when a live adoption has it */
async function takeFromTheDead(checkId: string, taking: Taking): Promise<boolean> {
  const holder = await get(pk.check(checkId));
  if (!holder) return false;
  if (holder.retirement) {
    if ((await findRetirement(checkId))?.status === 'live')
      throw new RetirementInProgress(`${checkId} is being retired, in ${textAt(holder, 'owner')}.`);
  } else {
    const adoption = await findAdoption(textAt(holder, 'group'));
    if (adoption?.checkId === checkId && adoption.status !== 'ended') return false;
  }
  // By its owner: a new adoption or retirement may have begun meanwhile.
  const was = { ':was': text(textAt(holder, 'owner')) };
  return lock(checkId, taking, '#owner = :was', was);
}

/** Writes who has the check, whatever was there before, where the condition holds. */
async function lock(
  checkId: string,
  taking: Taking,
  ConditionExpression: string,
  values: Item = {},
): Promise<boolean> {
  const names = Object.keys(taking);
  const placeholder = (name: string) => `:${name.replace('#', '')}`;
  const other = names.includes('retirement') ? '#group' : 'retirement';
  const locked = await change(pk.check(checkId), {
    UpdateExpression: `SET ${names.map(name => `${name} = ${placeholder(name)}`).join(', ')} REMOVE ${other}`,
    ConditionExpression,
    ExpressionAttributeNames: { '#group': 'group', '#owner': 'owner' },
    ExpressionAttributeValues: {
      ...values,
      ...Object.fromEntries(names.map(name => [placeholder(name), text(taking[name] ?? '')])),
    },
    ReturnValues: 'NONE',
  });
  return locked !== undefined;
}
