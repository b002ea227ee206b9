import { concurrently } from '../aws/batch.ts';
import { deregisterTargets, type TargetHealthFacts, targetHealth } from '../aws/elastic-load-balancing.ts';
import { describeInstances, type InstanceFacts } from '../aws/instances.ts';
import { type LifecycleAction, recordHeartbeat } from '../aws/lifecycle-actions.ts';
import { list } from '../bracket/discover-fleet.ts';
import { type Reads, readsFor } from '../bracket/reads.ts';
import { healthUnlessGone } from '../bracket/seen-targets.ts';
import { metStep, type StepAnswer, waitingStep } from '../bracket/step-answer.ts';
import { isRegistered } from '../domain/floors.ts';
import { actionDeadline, turnSeconds } from '../domain/lifecycle-action.ts';
import { nextWait } from '../domain/pace.ts';
import { ATTENDANCE_SECONDS, DEREGISTRATION_DELAY_SECONDS, DESCRIBES_AT_ONCE } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { beginAction, type OpenedAction } from './begin-action.ts';

interface LeftGroup {
  readonly arn: string;
  readonly targetType: string;
}

/** What a termination still has to drain. */
export interface TerminationPlan {
  /** The instance's id and private addresses: whatever of them is registered leaves. */
  readonly targetIds: readonly string[];
  readonly groups: readonly LeftGroup[];
  /** In seconds since the epoch. */
  readonly deadline: number;
  readonly turnSeconds: number;
}

export interface BegunTermination extends TerminationPlan {
  /** `at-once`: nothing is to be drained. `left-alone`: the action is not this execution's. */
  readonly verdict: 'attend' | 'at-once' | 'left-alone';
  readonly reason: string;
}

/** Beyond the deregistration delay, as in a run's own budget (R-BUDGET). */
const DRAIN_SLACK_SECONDS = 60;

/**
 * Finds what Auto Scaling does not drain by itself when it terminates an instance (D3): it takes it out of its own target
 * groups, on their default ports, and knows neither other groups, nor other ports, nor addresses. No floor is asked: the
 * instance goes in any case, and taking it out first is the gentler way.
 *
 * @param destination `WarmPool` when the instance goes there: what it is registered in would be lost when it comes back
 */
export async function beginTermination(opened: OpenedAction, destination: string): Promise<BegunTermination> {
  const begun = await beginAction(opened);
  if ('leftAlone' in begun) return { ...NOTHING, verdict: 'left-alone', reason: begun.leftAlone };
  if (destination === 'WarmPool')
    return {
      ...NOTHING,
      verdict: 'at-once',
      reason: 'It goes into the warm pool, and comes back to the target groups that it is in.',
    };
  const { instanceId, group } = opened.action;
  const instance = (await describeInstances([instanceId])).get(instanceId);
  if (instance?.state !== 'running')
    return { ...NOTHING, verdict: 'at-once', reason: 'The instance does not run any more.' };
  // Instances that a group terminates together share these reads: every group of the VPC is looked at (D11).
  const reads = await readsFor(`auto-scaling-group ${group}`, opened.openedAt * 1000);
  const targetIds = [instance.id, ...instance.privateAddresses];
  const found = await groupsWith(targetIds, instance, reads);
  const tags = await reads.tagsOf(found.map(({ arn }) => arn));
  const optedIn = ({ arn }: LeftGroup) => tags.get(arn)?.[opened.optIn.key] === opened.optIn.value;
  const groups = found.filter(optedIn);
  const without = found.filter(one => !optedIn(one)).map(({ arn }) => arn.split('/')[1] ?? arn);
  const reason =
    without.length > 0 ? `Not opted in, and so left as it is: target group ${list(without)}.` : '';
  if (groups.length === 0)
    return { ...NOTHING, verdict: 'at-once', reason: reason || 'It is in no further target group.' };
  const delays = await Promise.all(groups.map(({ arn }) => delaySeconds(arn, reads)));
  const now = nowSeconds();
  const deadline = Math.min(
    now + Math.max(...delays) + DRAIN_SLACK_SECONDS,
    actionDeadline(begun.hook, opened.openedAt, ATTENDANCE_SECONDS),
  );
  return { verdict: 'attend', reason, targetIds, groups, deadline, turnSeconds: turnSeconds(begun.hook) };
}

const NOTHING: TerminationPlan = { targetIds: [], groups: [], deadline: 0, turnSeconds: 0 };

const delaySeconds = async (arn: string, reads: Reads): Promise<number> =>
  Number(
    (await reads.targetGroupAttributes(arn))['deregistration_delay.timeout_seconds'] ??
      DEREGISTRATION_DELAY_SECONDS,
  );

async function groupsWith(
  targetIds: readonly string[],
  { vpcId }: InstanceFacts,
  reads: Reads,
): Promise<LeftGroup[]> {
  const all = vpcId === undefined ? [] : await reads.targetGroupsOfVpc(vpcId);
  const usable = all.filter(({ targetType }) => targetType === 'instance' || targetType === 'ip');
  const seen = await concurrently(usable, DESCRIBES_AT_ONCE, async group => ({
    group,
    health: await healthUnlessGone(group.arn, reads.targetHealth),
  }));
  return seen
    .filter(({ health = [] }) => health.some(one => targetIds.includes(one.target.id) && isThere(one)))
    .map(({ group: { arn, targetType } }) => ({ arn, targetType }));
}

/** Still registered, or still draining its connections. */
const isThere = (seen: TargetHealthFacts): boolean => isRegistered(seen) || seen.state === 'draining';

export interface AttendedTermination extends StepAnswer {
  /** Somebody else, or its time-out, has ended the action. */
  readonly over: boolean;
}

/** One turn: a heartbeat, then whatever is registered is deregistered, and what drains is waited for. */
export async function attendTermination(
  action: LifecycleAction,
  plan: TerminationPlan,
): Promise<AttendedTermination> {
  if (!(await recordHeartbeat(action))) return { ...metStep(0), over: true };
  const instance = (await describeInstances([action.instanceId])).get(action.instanceId);
  // Its addresses may be somebody else's by now.
  if (instance?.state !== 'running') return { ...metStep(plan.groups.length), over: false };
  const waits: string[] = [];
  for (const group of plan.groups) {
    const health = (await healthUnlessGone(group.arn, targetHealth)) ?? [];
    const ours = health.filter(seen => plan.targetIds.includes(seen.target.id));
    const registered = ours.filter(isRegistered).map(seen => seen.target);
    if (registered.length > 0) await deregisterTargets(group.arn, registered, group.targetType);
    for (const { target, state } of ours.filter(isThere))
      waits.push(`target ${target.id}:${target.port ?? '-'} of ${group.arn.split('/')[1]} is ${state}`);
  }
  if (waits.length === 0) return { ...metStep(plan.groups.length), over: false };
  const wait = nextWait(nowSeconds(), plan.deadline, plan.turnSeconds);
  return { ...waitingStep(wait, waits.slice(0, 5)), over: false };
}
