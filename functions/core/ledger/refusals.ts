import { change, get, number, text, textAt } from './table.ts';

/** Why a run was refused before it had a record of its own: hooks answer with it. */
export interface RefusalRecord {
  readonly error: string;
  readonly cause: string;
}

const pk = (runId: string): string => `refusal#${runId}`;
const DAY = 86_400;

/** Keeps the first refusal of a run. */
export async function recordRefusal(runId: string, refusal: RefusalRecord, at: number): Promise<void> {
  await change(pk(runId), {
    UpdateExpression: 'SET #error = :error, cause = :cause, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(pk)',
    ExpressionAttributeNames: { '#error': 'error' },
    ExpressionAttributeValues: {
      ':error': text(refusal.error),
      ':cause': text(refusal.cause),
      ':expires': number(at + DAY),
    },
    ReturnValues: 'NONE',
  });
}

export async function findRefusal(runId: string): Promise<RefusalRecord | undefined> {
  const item = await get(pk(runId));
  return item && { error: textAt(item, 'error'), cause: textAt(item, 'cause') };
}
