import { pk } from './items.ts';
import { change, get, type Item, json, number, parsed, remove, text, textAt } from './table.ts';

/** An Auto Scaling group that a blue/green deployment has made takes over the checks of another one. */
export interface Succession {
  readonly deploymentId: string;
  /** The group that was made, and those that it stands for. */
  readonly to: string;
  readonly from: readonly string[];
  /** The checks that were associated with it. */
  readonly checkIds: readonly string[];
}

/** For two days longer than a deployment may take: a group that is kept beside its copy keeps its checks. Ours. */
const KEPT_SECONDS = 3 * 86_400;

/** Has the deployment's new group what the old ones had? */
export async function isSuccessionDone(deploymentId: string): Promise<boolean> {
  return (await get(pk.succession(deploymentId)))?.isDone?.BOOL === true;
}

/** One at a time looks for what is to be taken over; whoever dies of it is followed by another. */
export async function claimSuccession(deploymentId: string, now: number, seconds: number): Promise<boolean> {
  const claimed = await change(pk.succession(deploymentId), {
    UpdateExpression: 'SET claimedUntil = :until, expiresAt = :expires',
    ConditionExpression:
      'attribute_not_exists(pk) OR (attribute_not_exists(isDone) AND claimedUntil <= :now)',
    ExpressionAttributeValues: {
      ':until': number(now + seconds),
      ':now': number(now),
      ':expires': number(now + KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
  return claimed !== undefined;
}

/** Written before the checks are associated. */
export async function recordSuccession({ deploymentId, to, from, checkIds }: Succession): Promise<void> {
  await change(pk.succession(deploymentId), {
    UpdateExpression: 'SET takesOver = :to, stoodFor = :from, checkIds = :checkIds',
    ExpressionAttributeValues: { ':to': text(to), ':from': json(from), ':checkIds': json(checkIds) },
    ReturnValues: 'NONE',
  });
}

export async function markSuccessionDone(deploymentId: string): Promise<void> {
  await change(pk.succession(deploymentId), {
    UpdateExpression: 'SET isDone = :true',
    ExpressionAttributeValues: { ':true': { BOOL: true } },
    ReturnValues: 'NONE',
  });
}

export async function forgetSuccession(deploymentId: string): Promise<void> {
  await remove(pk.succession(deploymentId), { ConditionExpression: 'attribute_exists(pk)' });
}

export const toSuccession = (deploymentId: string, item: Item): Succession => ({
  deploymentId,
  to: textAt(item, 'takesOver'),
  from: parsed<string[]>(item.stoodFor) as string[],
  checkIds: parsed<string[]>(item.checkIds) as string[],
});
