import { applicationStatuses } from '../aws/application-status.ts';
import { type AutoScalingGroupFacts, groups } from '../aws/auto-scaling.ts';
import { describeInstances, type InstanceFacts } from '../aws/instances.ts';
import { type ActionResult, type LifecycleAction, recordHeartbeat } from '../aws/lifecycle-actions.ts';
import { type Sharing, sharingOf } from '../bracket/sharing.ts';
import type { Member } from '../domain/fleet.ts';
import { hasEnded } from '../domain/lifecycle.ts';
import {
  judgeLaunch,
  type LaunchEvidence,
  type LaunchSeen,
  nextReadyDeadline,
  weigh,
} from '../domain/lifecycle-action.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import type { LaunchPlan } from './launch.ts';
import { checksOn } from './launch-checks.ts';
import { holdForRuns } from './newcomer.ts';

export interface AttendedLaunch {
  /** `met`: complete the action with `result`. `over`: somebody else, or its time-out, has ended it. */
  readonly verdict: 'met' | 'waiting' | 'refused' | 'over';
  readonly result: ActionResult;
  readonly reason: string;
  readonly evidence: LaunchEvidence;
  readonly waitSeconds: number;
  /** The error to end with, and its sentence; empty unless refused. */
  readonly error: string;
  readonly cause: string;
}

/** One turn: a heartbeat, a look at the instance, and what the live runs on its group want of it. */
export async function attendLaunch(
  action: LifecycleAction,
  plan: LaunchPlan,
  before: LaunchEvidence,
  optIn: OptInTag,
): Promise<AttendedLaunch> {
  const answer = {
    evidence: before,
    result: 'CONTINUE',
    reason: '',
    waitSeconds: 0,
    error: '',
    cause: '',
  } as const;
  if (!(await recordHeartbeat(action)))
    return { ...answer, verdict: 'over', reason: 'The lifecycle action is over.' };
  const { instanceId } = action;
  const instance = (await describeInstances([instanceId])).get(instanceId);
  if (instance && hasEnded(instance.state))
    return { ...answer, verdict: 'met', result: 'ABANDON', reason: 'The instance is gone.' };
  const { seen, evidence } = instance
    ? await look(instance, action, plan, before, optIn)
    : { seen: NOT_DESCRIBED, evidence: before };
  const judged = judgeLaunch(
    seen,
    { readyDeadline: evidence.readyDeadline, actionDeadline: plan.actionDeadline },
    plan.turnSeconds,
    nowSeconds(),
  );
  if (judged.verdict !== 'refused') return { ...answer, ...judged, evidence };
  return {
    ...answer,
    ...judged,
    evidence,
    error: 'BudgetSpent',
    cause: `${instanceId} was launched in ${action.group} and is not ready in its budget: ${judged.reason}.`,
  };
}

/** It was described when the launch began, and a terminated instance is described for an hour: the read lags (R-EVENTUAL). */
const NOT_DESCRIBED: LaunchSeen = {
  ready: false,
  whyNotReady: 'EC2 does not describe it',
  held: 'a later read may show it',
  remark: '',
};

async function look(
  instance: InstanceFacts,
  action: LifecycleAction,
  plan: LaunchPlan,
  before: LaunchEvidence,
  optIn: OptInTag,
): Promise<{ readonly seen: LaunchSeen; readonly evidence: LaunchEvidence }> {
  // Instances that a group launches together share these reads (D10).
  const sharing = await sharingOf(`auto-scaling-group ${action.group}`, Date.now() - SHARED_MAX_AGE_MS);
  const status = (await applicationStatuses([instance.id])).get(instance.id);
  const member = newcomer(instance, action, plan);
  const weighAll = (included: readonly string[]) =>
    weigh({ ...member, includedChecks: included }, status, before, Date.now());
  const first = weighAll(plan.includedChecks);
  const weighed = first.ready ? first : weighAll(await stillIncluded(instance, plan, sharing));
  const group = await groupOf(action, sharing);
  const { held, remark, unsuppressedSince } = group
    ? await holdForRuns(
        group,
        { member, tags: instance.tags, optedIn: instance.tags[optIn.key] === optIn.value, status },
        before.unsuppressedSince,
      )
    : NOT_HELD;
  const seen = { ready: weighed.ready, whyNotReady: weighed.reason, held, remark };
  const { evaluations, newerThan } = weighed;
  const readyDeadline = nextReadyDeadline(seen, before.readyDeadline, plan.againSeconds, nowSeconds());
  return { seen, evidence: { evaluations, newerThan, readyDeadline, unsuppressedSince } };
}

const NOT_HELD = { held: undefined, remark: '', unsuppressedSince: 0 };

/** A check that somebody demotes, deletes or takes off the instance, to stop what it does, is not waited for any more. */
async function stillIncluded(
  instance: InstanceFacts,
  { includedChecks }: LaunchPlan,
  sharing: Sharing,
): Promise<string[]> {
  const now = await checksOn(instance, sharing);
  return includedChecks.filter(id => now.some(check => check.id === id && check.aggregation === 'included'));
}

const groupOf = async (
  { group }: LifecycleAction,
  { state }: Sharing,
): Promise<AutoScalingGroupFacts | undefined> => (await state('groups', groups)([group])).get(group);

const SHARED_MAX_AGE_MS = 15_000;

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
