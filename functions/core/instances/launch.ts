import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { targetGroups } from '../aws/elastic-load-balancing.ts';
import { describeInstances } from '../aws/instances.ts';
import type { ActionResult } from '../aws/lifecycle-actions.ts';
import { sharingOf } from '../bracket/sharing.ts';
import {
  actionDeadline,
  type LaunchEvidence,
  readyAgainBudget,
  readyBudget,
  turnSeconds,
} from '../domain/lifecycle-action.ts';
import { ObservationPending } from '../errors.ts';
import { ATTENDANCE_SECONDS, WATCH_SECONDS } from '../limits.ts';
import type { Policy } from '../request.ts';
import { nowSeconds } from '../time.ts';
import { beginAction, type OpenedAction } from './begin-action.ts';
import { checksOn } from './launch-checks.ts';

/** What a launch is attended by, decided at its beginning. Instants are seconds since the epoch. */
export interface LaunchPlan {
  /** Checks whose failure reaches Auto Scaling: the launch waits for them. */
  readonly includedChecks: readonly string[];
  readonly excludedChecks: readonly string[];
  readonly actionDeadline: number;
  /** How long it may take to be ready again, once its budget has run out while it was. */
  readonly againSeconds: number;
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
  /** What the first turn begins with. */
  readonly evidence: LaunchEvidence;
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
  const evidence = {
    evaluations: 0,
    newerThan: opened.openedAt * 1000,
    readyDeadline: 0,
    unsuppressedSince: 0,
  };
  const answer = { result: 'CONTINUE', reason: '', evidence } as const;
  if ('leftAlone' in begun) return { ...NOTHING, ...answer, verdict: 'left-alone', reason: begun.leftAlone };
  // What leaves the pool again comes to the hook again, and is proven then.
  if (destination === 'WarmPool')
    return { ...NOTHING, ...answer, verdict: 'at-once', reason: 'It goes into the warm pool.' };
  const { group, hook } = begun;
  const { instanceId } = opened.action;
  const instance = (await describeInstances([instanceId])).get(instanceId);
  if (!instance) throw new ObservationPending(`EC2 does not describe ${instanceId} yet.`);
  const checks = await checksOn(instance, await sharingOf(undefined, 0));
  const included = checks.filter(check => check.aggregation === 'included');
  const now = nowSeconds();
  const watch = await inServiceBudget(group, policy);
  const end = actionDeadline(hook, opened.openedAt, ATTENDANCE_SECONDS - watch);
  const sinceLaunch = now - (instance.launchedAt ?? new Date()).getTime() / 1000;
  const budget = readyBudget(included, sinceLaunch, policy.readySeconds);
  return {
    ...answer,
    verdict: 'attend',
    includedChecks: included.map(check => check.id),
    excludedChecks: checks.filter(check => check.aggregation !== 'included').map(check => check.id),
    evidence: { ...evidence, readyDeadline: now + budget },
    actionDeadline: end,
    againSeconds: readyAgainBudget(included),
    turnSeconds: turnSeconds(hook),
    inServiceSeconds: watch,
  };
}

const NOTHING: LaunchPlan = {
  includedChecks: [],
  excludedChecks: [],
  actionDeadline: 0,
  againSeconds: 0,
  turnSeconds: 0,
  inServiceSeconds: 0,
};

/**
 * As long as a run waits for it: three times what the slowest health check needs, or what the policy says; but no longer than
 * one execution has room for after its attendance.
 */
async function inServiceBudget(group: AutoScalingGroupFacts, policy: Policy): Promise<number> {
  const slowest = (await targetGroups(group.targetGroupArns)).map(
    ({ healthCheck }) =>
      healthCheck.intervalSeconds * healthCheck.healthyThreshold + healthCheck.timeoutSeconds,
  );
  return Math.min(WATCH_SECONDS, Math.max(policy.readySeconds, 3 * Math.max(0, ...slowest)));
}
