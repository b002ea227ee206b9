import { change, get, number, remove, text } from './table.ts';

const pk = (scope: string): string => `alarm#${scope}`;
const KEPT_SECONDS = 30 * 86_400;

const CLAIMED_SECONDS = 3_600;

/**
 * Claims what one alarm says in one minute for an invocation; false when another one has it. An alarm over thousands of instances
 * calls once for each that fails, and one look finds them all. Lambda's own retry keeps it.
 */
export async function claimTelling(what: string, invocation: string, nowSeconds: number): Promise<boolean> {
  const claimed = await change(pk(`telling#${what}`), {
    UpdateExpression: 'SET invocation = :invocation, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(pk) OR invocation = :invocation',
    ExpressionAttributeValues: {
      ':invocation': text(invocation),
      ':expires': number(nowSeconds + CLAIMED_SECONDS),
    },
    ReturnValues: 'NONE',
  });
  return claimed !== undefined;
}

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
