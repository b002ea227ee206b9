import { type AutoScalingGroupFacts, groups } from '../aws/auto-scaling.ts';
import { checkAssociations } from '../aws/check-associations.ts';
import {
  applicationStatusChecks,
  applicationStatuses,
  describeInstances,
  type InstanceFacts,
} from '../aws/ec2.ts';
import { targetGroups } from '../aws/elastic-load-balancing.ts';
import { type ActionResult, type LifecycleAction, recordHeartbeat } from '../aws/lifecycle-actions.ts';
import { sharingOf } from '../bracket/sharing.ts';
import type { Member } from '../domain/fleet.ts';
import {
  actionDeadline,
  appliesTo,
  type Evidence,
  judgeLaunch,
  readyBudget,
  turnSeconds,
  weigh,
} from '../domain/lifecycle-action.ts';
import { ATTENDANCE_SECONDS } from '../limits.ts';
import type { Policy } from '../request.ts';
import { nowSeconds } from '../time.ts';
import { beginAction, type OpenedAction } from './begin-action.ts';
import { holdForRuns } from './newcomer.ts';

/** What a launch is attended by, decided at its beginning. Instants are seconds since the epoch. */
export interface LaunchPlan {
  /** Checks whose failure reaches Auto Scaling: the launch waits for them. */
  readonly includedChecks: readonly string[];
  readonly excludedChecks: readonly string[];
  readonly readyDeadline: number;
  readonly actionDeadline: number;
  readonly turnSeconds: number;
  /** How long it may take from CONTINUE until it is in service. */
  readonly inServiceSeconds: number;
}

export interface BegunLaunch extends LaunchPlan {
  /** `at-once`: nothing is waited for. `left-alone`: the action is not this execution's. */
  readonly verdict: 'attend' | 'at-once' | 'left-alone';
  /** How the action ends where nothing is waited for. */
  readonly result: ActionResult;
  readonly reason: string;
  /** Evaluations that count are newer than this (milliseconds since the epoch). */
  readonly newerThan: number;
}

/**
 * Decides what the launch of an instance waits for (D3), and for how long.
 *
 * @param destination `WarmPool` when the instance goes there, and not into service
 */
export async function beginLaunch(
  opened: OpenedAction,
  destination: string,
  policy: Policy,
): Promise<BegunLaunch> {
  const begun = await beginAction(opened);
  const answer = { result: 'CONTINUE', reason: '', newerThan: opened.openedAt * 1000 } as const;
  if ('leftAlone' in begun) return { ...NOTHING, ...answer, verdict: 'left-alone', reason: begun.leftAlone };
  // What leaves the pool again comes to the hook again, and is proven then.
  if (destination === 'WarmPool')
    return { ...NOTHING, ...answer, verdict: 'at-once', reason: 'It goes into the warm pool.' };
  const { group, hook } = begun;
  const { instanceId } = opened.action;
  const instance = (await describeInstances([instanceId])).get(instanceId);
  const ids = instance ? await checksOn(instance) : [];
  const checks = [...(await applicationStatusChecks(ids)).values()];
  const included = checks.filter(check => check.aggregation === 'included');
  const now = nowSeconds();
  const end = actionDeadline(hook, opened.openedAt, ATTENDANCE_SECONDS);
  const sinceLaunch = now - (instance?.launchedAt ?? new Date()).getTime() / 1000;
  const budget = readyBudget(included, sinceLaunch, policy.readySeconds);
  return {
    ...answer,
    verdict: 'attend',
    includedChecks: included.map(check => check.id),
    excludedChecks: checks.filter(check => check.aggregation !== 'included').map(check => check.id),
    readyDeadline: Math.min(now + budget, end),
    actionDeadline: end,
    turnSeconds: turnSeconds(hook),
    inServiceSeconds: await inServiceBudget(group, policy),
  };
}

const NOTHING: LaunchPlan = {
  includedChecks: [],
  excludedChecks: [],
  readyDeadline: 0,
  actionDeadline: 0,
  turnSeconds: 0,
  inServiceSeconds: 0,
};

/**
 * By association, not by what the instance's application status shows: a check that has just begun shows nothing yet, and
 * neither does one that does not exist.
 */
async function checksOn(instance: InstanceFacts): Promise<string[]> {
  const associations = (await checkAssociations()).filter(association => appliesTo(association, instance));
  return [...new Set(associations.map(association => association.checkId))];
}

/** As long as a run waits for it: three times what the slowest health check needs, or what the policy says. */
async function inServiceBudget(group: AutoScalingGroupFacts, policy: Policy): Promise<number> {
  const slowest = (await targetGroups(group.targetGroupArns)).map(
    ({ healthCheck }) =>
      healthCheck.intervalSeconds * healthCheck.healthyThreshold + healthCheck.timeoutSeconds,
  );
  return Math.max(policy.readySeconds, 3 * Math.max(0, ...slowest));
}

export interface AttendedLaunch extends Evidence {
  /** `met`: complete the action with `result`. `over`: somebody else, or its time-out, has ended it. */
  readonly verdict: 'met' | 'waiting' | 'refused' | 'over';
  readonly result: ActionResult;
  readonly reason: string;
  readonly waitSeconds: number;
  /** The error to end with, and its sentence; empty unless refused. */
  readonly error: string;
  readonly cause: string;
}

/** One turn: a heartbeat, a look at the instance, and what the live runs on its group want of it. */
export async function attendLaunch(
  action: LifecycleAction,
  plan: LaunchPlan,
  evidence: Evidence,
): Promise<AttendedLaunch> {
  const { instanceId } = action;
  const answer = {
    ...evidence,
    result: 'CONTINUE',
    reason: '',
    waitSeconds: 0,
    error: '',
    cause: '',
  } as const;
  if (!(await recordHeartbeat(action)))
    return { ...answer, verdict: 'over', reason: 'The lifecycle action is over.' };
  const instance = (await describeInstances([instanceId])).get(instanceId);
  if (!instance || instance.state === 'shutting-down' || instance.state === 'terminated')
    return { ...answer, verdict: 'met', result: 'ABANDON', reason: 'The instance is gone.' };
  const status = (await applicationStatuses([instanceId])).get(instanceId);
  const group = (await readGroup(action.group)).get(action.group);
  const member = newcomer(instance, action, plan);
  const weighed = weigh(member, status, evidence, Date.now());
  const held = group && (await holdForRuns(group, member, instance.tags, status));
  const seen = { ready: weighed.ready, whyNotReady: weighed.reason, held };
  const judged = judgeLaunch(seen, plan, plan.turnSeconds, nowSeconds());
  const { evaluations, newerThan } = weighed;
  if (judged.verdict !== 'refused') return { ...answer, ...judged, evaluations, newerThan };
  return {
    ...answer,
    ...judged,
    evaluations,
    newerThan,
    error: 'BudgetSpent',
    cause: `${instanceId} was launched in ${action.group} and is not ready in its budget: ${judged.reason}.`,
  };
}

/** Instances that a group launches together share this read (D10). */
async function readGroup(name: string): Promise<Map<string, AutoScalingGroupFacts>> {
  const { state } = await sharingOf(`auto-scaling-group ${name}`, Date.now() - GROUP_MAX_AGE_MS);
  return state('groups', groups)([name]);
}

const GROUP_MAX_AGE_MS = 15_000;

/** As a run would claim it: it is in no target group yet, so only its checks count. */
const newcomer = (
  { id, zone, privateAddresses }: InstanceFacts,
  action: LifecycleAction,
  { includedChecks, excludedChecks }: LaunchPlan,
): Member => ({
  instanceId: id,
  zone,
  addresses: privateAddresses,
  autoScalingGroup: action.group,
  includedChecks,
  excludedChecks,
  suppression: includedChecks.length + excludedChecks.length > 0 ? 'ours' : 'none',
  memberships: [],
});
