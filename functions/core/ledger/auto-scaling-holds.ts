import { pk } from './items.ts';
import { change, get, type Item, remove, text } from './table.ts';

/** A counted hold on an Auto Scaling group: the processes that we suspended, for as long as a run needs it (D4). */
export interface Hold {
  readonly runs: readonly string[];
  readonly suspended: readonly string[];
  /** Standby: no other run may hold the group beside this one. */
  readonly alone?: boolean;
  readonly resuming?: string;
}

export async function findHold(group: string): Promise<Hold | undefined> {
  const item = await get(pk.autoScaling(group));
  return item && toHold(item);
}

/**
 * Joins the hold, or begins it, with the processes that are about to be suspended: written before they are.
 *
 * @param join `alone`: no other run may hold the group beside this one (Standby has one writer)
 * @returns undefined while another run is resuming, or while either of the two wants to be alone
 */
export async function joinHold(
  group: string,
  runId: string,
  join: { readonly alone: boolean; readonly suspending: readonly string[] },
): Promise<Hold | undefined> {
  const some = join.suspending.length > 0;
  const onlyMe = 'runs = :me';
  const item = await change(pk.autoScaling(group), {
    UpdateExpression: `${join.alone ? 'SET alone = :yes ' : ''}ADD runs :me${some ? ', suspended :suspended' : ''}`,
    ConditionExpression: `attribute_not_exists(resuming) AND (attribute_not_exists(${join.alone ? 'runs' : 'alone'}) OR ${onlyMe})`,
    ExpressionAttributeValues: {
      ':me': { SS: [runId] },
      ...(join.alone ? { ':yes': { BOOL: true } } : {}),
      ...(some ? { ':suspended': { SS: [...join.suspending] } } : {}),
    },
  });
  return item && toHold(item);
}

/**
 * Leaves the hold. The last one to leave is told what to resume, and holds the place until `endHold`; two that leave at
 * once cannot both take the other for the last.
 *
 * @returns the processes to resume; undefined when others stay, or there is no hold of this run
 */
export async function leaveHold(group: string, runId: string): Promise<readonly string[] | undefined> {
  const asLast = await change(pk.autoScaling(group), {
    UpdateExpression: 'SET resuming = :run',
    ConditionExpression: 'runs = :onlyMe',
    ExpressionAttributeValues: { ':run': text(runId), ':onlyMe': { SS: [runId] } },
  });
  if (asLast) return toHold(asLast).suspended;
  const left = await change(pk.autoScaling(group), {
    UpdateExpression: 'DELETE runs :me',
    ConditionExpression: 'contains(runs, :run) AND size(runs) > :one',
    ExpressionAttributeValues: { ':me': { SS: [runId] }, ':run': text(runId), ':one': { N: '1' } },
    ReturnValues: 'NONE',
  });
  if (left) return undefined;
  const hold = await findHold(group);
  return hold?.runs.includes(runId) ? leaveHold(group, runId) : undefined;
}

/** The processes are resumed: the hold is over. */
export async function endHold(group: string, runId: string): Promise<void> {
  await remove(pk.autoScaling(group), {
    ConditionExpression: 'attribute_not_exists(pk) OR resuming = :run',
    ExpressionAttributeValues: { ':run': text(runId) },
  });
}

/** Reads a group's item. */
export const toHold = (item: Item): Hold => ({
  runs: item.runs?.SS ?? [],
  suspended: item.suspended?.SS ?? [],
  ...(item.alone?.BOOL ? { alone: true } : {}),
  ...(item.resuming?.S ? { resuming: item.resuming.S } : {}),
});
