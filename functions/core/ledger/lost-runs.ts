import { ITEM_VERSION, pk, type RunRecord } from './items.ts';
import { digestOf, RUN_KEPT_SECONDS } from './runs.ts';
import { change, json, number, text } from './table.ts';

export interface LostRecord extends Pick<RunRecord, 'runId' | 'request' | 'plan'> {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly error: string;
  readonly cause: string;
}

/**
 * Writes the record of a run that the ledger has lost, as one that has failed: what is still held for it can be undone then.
 *
 * @returns false when there is one
 */
export async function recordLostRun({
  runId,
  request,
  plan,
  at,
  error,
  cause,
}: LostRecord): Promise<boolean> {
  const written = await change(pk.run(runId), {
    UpdateExpression:
      'SET version = :v, runId = :id, #status = :ended, phase = :done, outcome = :failed, #owner = :nobody, digest = :digest, #request = :request, #plan = :plan, createdAt = :at, deadline = :at, endedAt = :at, acted = :yes, #error = :error, cause = :cause, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(pk)',
    ExpressionAttributeNames: {
      '#status': 'status',
      '#owner': 'owner',
      '#plan': 'plan',
      '#request': 'request',
      '#error': 'error',
    },
    ExpressionAttributeValues: {
      ':v': number(ITEM_VERSION),
      ':id': text(runId),
      ':ended': text('ended'),
      ':done': text('done'),
      ':failed': text('failed'),
      ':nobody': text('nobody'),
      ':digest': text(digestOf(request)),
      ':request': json(request),
      ':plan': json(plan),
      ':at': number(at),
      ':yes': { BOOL: true },
      ':error': text(error),
      ':cause': text(cause),
      ':expires': number(at + RUN_KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
  return written !== undefined;
}
