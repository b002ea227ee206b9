import { change, get, json, number, parsed } from './table.ts';

/** All instances of a deployment whose runs share their reads (D10). */
export interface Observer {
  readonly instanceIds: readonly string[];
}

const pk = (deploymentId: string): string => `observer#${deploymentId}`;
const KEPT_SECONDS = 2 * 86_400;

export async function findObserver(deploymentId: string): Promise<Observer | undefined> {
  const item = await get(pk(deploymentId));
  const instanceIds = parsed<string[]>(item?.instanceIds);
  return instanceIds && { instanceIds };
}

/** Writes the deployment's instances once; they are in the same order for every run. */
export async function recordObserver(
  deploymentId: string,
  instanceIds: readonly string[],
  nowSeconds: number,
): Promise<void> {
  await change(pk(deploymentId), {
    UpdateExpression: 'SET instanceIds = :ids, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(pk)',
    ExpressionAttributeValues: {
      ':ids': json([...instanceIds].sort()),
      ':expires': number(nowSeconds + KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
}
