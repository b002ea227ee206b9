import { change, text } from './table.ts';

/** Says in an item that people were told. @returns false when they had been told before, or there is no such item */
export async function markItemTold(key: string, what: string): Promise<boolean> {
  const marked = await change(key, {
    UpdateExpression: 'ADD told :what',
    ConditionExpression: 'attribute_exists(pk) AND NOT contains(told, :one)',
    ExpressionAttributeValues: { ':what': { SS: [what] }, ':one': text(what) },
    ReturnValues: 'NONE',
  });
  return marked !== undefined;
}
