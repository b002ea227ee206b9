import type { ResourceAnswer } from '../domain/resource-answer.ts';
import { RequestAnswered } from '../errors.ts';
import { nowSeconds } from '../time.ts';
import { change, get, json, number, parsed } from './table.ts';

const pk = (requestId: string): string => `resource#${requestId}`;

/** A stack that is rolled back does so within a day; what comes later is another request. Ours. */
const KEPT_SECONDS = 604_800;

/** The answer to a request of CloudFormation, as it was decided; undefined until then. */
export async function findAnswer(requestId: string): Promise<ResourceAnswer | undefined> {
  return parsed<ResourceAnswer>((await get(pk(requestId)))?.answer);
}

/**
 * Every act asks first: what was answered may be the past, since CloudFormation goes on with the next request at once.
 *
 * @throws RequestAnswered
 */
export async function requireUnanswered(requestId: string): Promise<void> {
  const answer = await findAnswer(requestId);
  if (answer)
    throw new RequestAnswered(`CloudFormation's request ${requestId} was answered with ${answer.status}.`);
}

/** Decides the answer, unless it has been decided. @returns the one that stands: CloudFormation is never told two */
export async function decideAnswer(requestId: string, answer: ResourceAnswer): Promise<ResourceAnswer> {
  const decided = await change(pk(requestId), {
    UpdateExpression: 'SET answer = if_not_exists(answer, :answer), expiresAt = :expires',
    ExpressionAttributeValues: { ':answer': json(answer), ':expires': number(nowSeconds() + KEPT_SECONDS) },
  });
  return parsed<ResourceAnswer>(decided?.answer) ?? answer;
}

/** Writes down which associations a request brings about, before it does: what was there before is none of its undo's (R-UNDO). */
export async function noteBrought(requestId: string, values: readonly string[]): Promise<void> {
  if (values.length === 0) return;
  await change(pk(requestId), {
    UpdateExpression: 'SET expiresAt = :expires ADD brought :values',
    ExpressionAttributeValues: {
      ':values': { SS: [...values] },
      ':expires': number(nowSeconds() + KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
}

export const broughtBy = async (requestId: string): Promise<readonly string[]> =>
  (await get(pk(requestId)))?.brought?.SS ?? [];

/** Does CloudFormation have the answer? */
export async function isSent(requestId: string): Promise<boolean> {
  return (await get(pk(requestId)))?.sentAt !== undefined;
}

/** Writes down that CloudFormation has the answer. */
export async function markSent(requestId: string): Promise<void> {
  await change(pk(requestId), {
    UpdateExpression: 'SET sentAt = :now',
    ConditionExpression: 'attribute_exists(answer)',
    ExpressionAttributeValues: { ':now': number(nowSeconds()) },
    ReturnValues: 'NONE',
  });
}
