import { change, number } from './table.ts';

/**
 * One account-wide pace for the calls that change target groups, held over all runs (D10, D42): half of the published
 * RegisterTargets + DeregisterTargets bucket, and with the read that goes with each call less than half of ELB's whole bucket.
 */
const CALLS_PER_SECOND = 2;

const PK = 'pace#elasticloadbalancing';

/**
 * Reserves the next `calls` calls for a run.
 *
 * @returns when they may be made, in milliseconds since the epoch: now, unless other runs are ahead
 */
export async function reserveCalls(calls: number, nowMs: number): Promise<number> {
  const cost = (calls * 1000) / CALLS_PER_SECOND;
  const idle = await change(PK, {
    UpdateExpression: 'SET nextAt = :next',
    ConditionExpression: 'attribute_not_exists(nextAt) OR nextAt <= :now',
    ExpressionAttributeValues: { ':next': number(nowMs + cost), ':now': number(nowMs) },
    ReturnValues: 'NONE',
  });
  if (idle) return nowMs;
  const queued = await change(PK, {
    UpdateExpression: 'ADD nextAt :cost',
    ExpressionAttributeValues: { ':cost': number(cost) },
  });
  return Number(queued?.nextAt?.N ?? nowMs) - cost;
}
