import { change, number, text } from './table.ts';

const pk = (token: string): string => `lifecycle#${token}`;

/**
 * Makes an execution the one that attends an Auto Scaling lifecycle action. EventBridge may deliver an event twice, and names
 * the executions that it starts by itself: so the token decides which of them goes on (R-HOOK, R-IDEMP).
 *
 * @param expiresAt when the action is over in any case, in seconds since the epoch
 * @returns false when another execution attends it
 */
export async function takeAction(token: string, owner: string, expiresAt: number): Promise<boolean> {
  const taken = await change(pk(token), {
    UpdateExpression: 'SET #owner = :me, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(pk) OR #owner = :me',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':me': text(owner), ':expires': number(expiresAt) },
    ReturnValues: 'NONE',
  });
  return taken !== undefined;
}
