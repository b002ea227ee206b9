import { change, get, number, remove } from './table.ts';

const pk = (scope: string): string => `alarm#${scope}`;
const KEPT_SECONDS = 30 * 86_400;

/** Writes down that people were told of a failure there. @param scope a group's label, or a check's id */
export async function markFailureTold(scope: string, nowSeconds: number): Promise<void> {
  await change(pk(scope), {
    UpdateExpression: 'SET toldAt = :now, expiresAt = :expires',
    ExpressionAttributeValues: { ':now': number(nowSeconds), ':expires': number(nowSeconds + KEPT_SECONDS) },
    ReturnValues: 'NONE',
  });
}

/** Was a failure told there, and not yet that it is over? */
export const wasFailureTold = async (scope: string): Promise<boolean> => (await get(pk(scope))) !== undefined;

/** People were told that it is over. */
export async function forgetFailureTold(scope: string): Promise<void> {
  await remove(pk(scope), {});
}
