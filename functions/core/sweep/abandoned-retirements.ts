import { describeExecution, startExecution } from '../aws/step-functions.ts';
import { findRetirement, type RetirementRecord } from '../ledger/retirements.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';

/**
 * Goes on with a retirement whose execution is gone: it was stopped, or has timed out. There is nothing to undo in it, and all
 * that it has still to do can be repeated.
 *
 * @returns whether another execution was started now
 */
export async function goOnIfAbandoned({ subject }: Pick<RetirementRecord, 'subject'>): Promise<boolean> {
  // Again: the pages of the sweep's scan are not of one instant.
  const record = await findRetirement(subject);
  if (record?.status !== 'live') return false;
  const { owner: from } = record;
  const execution = await describeExecution(from);
  if (execution && !execution.stoppedAt) return false;
  // One an hour: one that has died before it could take the retirement over must not be the last.
  const name = executionName('retire', subject, `${from} ${Math.floor(nowSeconds() / 3600)}`);
  return (await startExecution(setting('RETIRE_CHECK_ARN'), name, { subject, from })) === 'started';
}
