import { groupMemberships, groups } from '../aws/auto-scaling.ts';
import type { LifecycleAction } from '../aws/lifecycle-actions.ts';
import { healthUnlessGone } from '../bracket/seen-targets.ts';
import { metStep, type StepAnswer, waitingStep } from '../bracket/step-answer.ts';
import { judgeInService, type Sighting, sumUp } from '../domain/goals.ts';
import { nextWait, pollSeconds } from '../domain/pace.ts';
import { nowSeconds } from '../time.ts';

/**
 * Is an instance whose launch goes on in service: InService, and healthy in each target group that is attached to its group?
 *
 * @param deadline in seconds since the epoch, and @param budgetSeconds how long the whole watch may last
 */
export async function watchLaunch(
  { group, instanceId }: LifecycleAction,
  deadline: number,
  budgetSeconds: number,
): Promise<StepAnswer> {
  const state = (await groupMemberships([instanceId])).get(instanceId)?.lifecycleState;
  if (state === undefined || state.startsWith('Terminat')) return metStep(0, 1);
  const sightings = state === 'InService' ? await inTargetGroups(group, instanceId) : [stillLaunching(state)];
  const sum = sumUp(new Map([[instanceId, sightings]]));
  if (sum.verdict === 'met') return metStep(1);
  return waitingStep(nextWait(nowSeconds(), deadline, pollSeconds(budgetSeconds)), sum.reasons, sum);
}

const stillLaunching = (state: string): Sighting => ({
  verdict: 'waiting',
  reason: `is ${state}: another hook of the group may hold it`,
  absent: false,
});

async function inTargetGroups(groupName: string, instanceId: string): Promise<Sighting[]> {
  const arns = (await groups([groupName])).get(groupName)?.targetGroupArns ?? [];
  const seen = await Promise.all(arns.map(async arn => ({ arn, health: await healthUnlessGone(arn) })));
  return seen.flatMap(({ arn, health }) => {
    if (!health) return [];
    const target = health.find(one => one.target.id === instanceId);
    const membership = { targetGroupArn: arn, target: target?.target ?? { id: instanceId } };
    return [judgeInService(membership, target)];
  });
}
