import { describeExecution, type ExecutionFacts, startExecution } from '../aws/step-functions.ts';
import { type AdoptionRecord, findAdoption } from '../ledger/adoptions.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';

/**
 * Has an adoption undone whose execution is gone: it was stopped, has timed out, or could not finish its undo. One whose
 * execution runs is left to it.
 *
 * @returns whether an undo was started now
 */
export async function endIfAbandoned({ group }: Pick<AdoptionRecord, 'group'>): Promise<boolean> {
  // Again: the pages of the sweep's scan are not of one instant.
  const record = await findAdoption(group);
  if (!record || record.status === 'ended') return false;
  const execution = await describeExecution(record.owner);
  return execution && !execution.stoppedAt ? false : startUndo(record, execution);
}

/**
 * Has the adoption of an execution undone that was cut off before the adoption was over: no Catch hears of that. What has
 * failed by itself in its undo, or was begun for one, is the sweep's: the end of each try must not begin the next (R-LOOP).
 *
 * @returns the group whose undo was started now
 */
export async function endCutOffAdoption(executionArn: string): Promise<string | undefined> {
  const execution = await describeExecution(executionArn);
  if (!execution) return undefined;
  const { autoScalingGroupName, from } = inputOf(execution.input);
  const record = await findAdoption(String(autoScalingGroupName ?? ''));
  if (record?.owner !== executionArn || record.status === 'ended') return undefined;
  const wasUndoing = record.status === 'undoing' || from !== undefined;
  if (wasUndoing && execution.status === 'FAILED') return undefined;
  return (await startUndo(record, execution)) ? record.group : undefined;
}

/** Without a group there is no adoption of it. */
function inputOf(input: string): {
  readonly autoScalingGroupName?: unknown;
  /** Of an execution that was begun to undo another one's adoption. */
  readonly from?: unknown;
} {
  return Object(JSON.parse(input));
}

async function startUndo(
  { group, owner: from, ...record }: AdoptionRecord,
  execution: ExecutionFacts | undefined,
): Promise<boolean> {
  // R-FAIL: one that was cut off in its undo keeps the error that led to it.
  const error = record.error ?? (execution?.error || execution?.status || 'FORGOTTEN');
  const cause = record.cause ?? (execution?.cause || `${from} ended before the adoption did.`);
  // One an hour: an undo that has died before it could take the adoption over must not be the last.
  const attempt = `${from} ${Math.floor(nowSeconds() / 3600)}`;
  const name = executionName('end-adoption', group, attempt);
  const input = { autoScalingGroupName: group, from, error, cause };
  return (await startExecution(setting('PROMOTE_CHECK_ARN'), name, input)) === 'started';
}
