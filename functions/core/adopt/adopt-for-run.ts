import { applicationStatusChecks } from '../aws/application-status.ts';
import { describeExecution, executionArn, startExecution } from '../aws/step-functions.ts';
import { metStep, type StepAnswer, waitingStep } from '../bracket/step-answer.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import type { Failure } from '../failure.ts';
import { findAdoption } from '../ledger/adoptions.ts';
import { ownRun } from '../ledger/runs.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import type { Promotion } from './promotions.ts';

/**
 * Has promote-check adopt what a run was asked to promote, each in an execution of its own, and says whether all of it is
 * included by now. The executions go on by themselves to watch it. Repeating it starts nothing twice.
 *
 * @throws RunEnded
 */
export async function adoptForRun(
  runId: string,
  owner: string,
  promotions: readonly Promotion[],
  deadline: number,
): Promise<StepAnswer> {
  await ownRun(runId, owner);
  const seen = await Promise.all(promotions.map(promotion => adopt(runId, promotion)));
  const [failure] = seen.flatMap(one => (typeof one === 'object' ? one : []));
  if (failure) return { ...waitingStep(0, []), ...failure };
  const waiting = promotions.filter((_, index) => seen[index] === 'waiting');
  if (waiting.length === 0) return metStep(promotions.length);
  const now = nowSeconds();
  const wait = nextWait(now, deadline, pollSeconds(deadline - now));
  return waitingStep(
    wait,
    waiting.map(({ checkId, group }) => `${checkId} is not proven on ${group} yet`),
  );
}

async function adopt(
  runId: string,
  { checkId, group }: Promotion,
): Promise<'included' | 'waiting' | Failure> {
  const machine = setting('PROMOTE_CHECK_ARN');
  const name = executionName('adopt', runId, checkId);
  const arn = executionArn(machine, name);
  const record = await findAdoption(group);
  if (record?.owner === arn && record.status === 'live') {
    if (record.promotedAt === undefined) return 'waiting';
    // Written before the act: what EC2 shows decides (R-STATE).
    const check = (await applicationStatusChecks([checkId])).get(checkId);
    return check?.aggregation === 'included' ? 'included' : 'waiting';
  }
  // The longest of it is the observation; the plan raises it to what the check needs.
  const input = { autoScalingGroupName: group, check: { id: checkId }, observeSeconds: 60 };
  if ((await startExecution(machine, name, input)) === 'started') return 'waiting';
  // It has not written its record yet, or it is over: a turn or two.
  const execution = await describeExecution(arn);
  if (!execution?.stoppedAt) return 'waiting';
  if (execution.status === 'SUCCEEDED') return 'included';
  return { error: execution.error || execution.status, cause: execution.cause || `${arn} was ended.` };
}
