import type { Entry } from '../account/journal.ts';
import type { Evidence } from './evidence.ts';
import {
  deploymentOfRun,
  deploymentsOf,
  findsDetached,
  isEmergency,
  leavesTraffic,
  policyOf,
} from './runs.ts';
import { targetIdOf } from './underway.ts';

/** Invariant 2: Auto Scaling terminates nothing for what a deployment does to it. */
export function judgeTermination(
  evidence: Evidence,
  { instanceId, cause }: Extract<Entry, { type: 'activity' }>,
): void {
  const { scenario, people, underway, broken } = evidence;
  const deployed = underway.deployments.get(instanceId);
  if (!deployed || underway.wasMarkedBefore(instanceId)) {
    judgeUnheld(evidence, instanceId, cause);
    return;
  }
  const spec = deploymentOfRun(scenario, deployed.runId);
  const byStatus = cause.includes('Application Status check');
  const { autoScaling } = policyOf(spec);
  // Nothing is held around an instance that leaves Standby, and a version that never answers fails its targets by itself.
  const unheld = autoScaling === 'none' || (autoScaling === 'standby' && spec.neverReady);
  const byTargets = cause.includes('ELB') && !unheld;
  const excused = byStatus
    ? isEmergency(spec) || people.changedSuppressionUnseen(instanceId, deployed.since)
    : people.hasBroken(instanceId) || isOutByOthers(evidence, instanceId);
  if ((byStatus || byTargets) && !excused)
    broken(2, `Auto Scaling terminated ${instanceId} in its deployment: ${cause}`);
}

/** What we have taken out of a target group, also before the go-ahead, is not to be replaced for that. */
function judgeUnheld(
  { fleet, scenario, people, underway, broken }: Evidence,
  instanceId: string,
  cause: string,
): void {
  const isOut = [...underway.out].some(target => fleet.behind(targetIdOf(target))?.id === instanceId);
  const isPermitted = deploymentsOf(scenario).some(spec => {
    const { autoScaling, afterFailure } = policyOf(spec);
    return autoScaling === 'none' || afterFailure !== undefined;
  });
  if (isOut && cause.includes('ELB') && !isPermitted && !people.hasBroken(instanceId))
    broken(2, `Auto Scaling terminated ${instanceId}, which we had taken out of traffic: ${cause}`);
}

/** Is it out of a group of its Auto Scaling group's that none of our acts took it out of: CodeDeploy's step, for one? */
function isOutByOthers({ account, fleet, underway }: Evidence, instanceId: string): boolean {
  const instance = fleet.behind(instanceId);
  const attached = fleet.built.targetGroups.filter(group => group.targetType === 'instance');
  return attached.some(
    group =>
      instance !== undefined &&
      account.loadBalancing.statesOf(group.arn, instance).every(({ state }) => state.endsWith('draining')) &&
      ![...underway.out].some(target => target.startsWith(`${group.arn} ${instanceId}:`)),
  );
}

/** Invariant 3: requests shorter than the deregistration delay do not fail because of us. */
export function judgeRequests(
  { account, fleet, scenario, people, underway, broken }: Evidence,
  entry: Extract<Entry, { type: 'requests-failed' }>,
): void {
  const target = fleet.behind(entry.targetId);
  // Whoever ended the instance ended its requests.
  if (target && !fleet.isRunning(target.id)) return;
  const delay = account.loadBalancing.deregistrationDelaySeconds(entry.targetGroupArn) * 1000;
  const ours = target === undefined ? underway.deployments.size > 0 : underway.deployments.has(target.id);
  const deployments = deploymentsOf(scenario);
  if (deployments.some(spec => leavesTraffic(spec) || isEmergency(spec)) || scenario.fleet.broken) return;
  const told = deployments.every(spec => findsDetached(scenario, spec));
  const { targetType } = account.loadBalancing.group(entry.targetGroupArn);
  if (targetType === 'ip' && !told) return;
  // CodeDeploy's own step knows no floor.
  if (!target && deployments.some(spec => spec.loadBalancerStep)) return;
  // An instance that is launched for one that a person has taken away gets requests as soon as nothing else is left.
  const isReplacement = fleet.launchedSince().some(({ id }) => id === target?.id);
  if (target && !isReplacement ? people.hasUnfitted(target.id) : people.tookCapacity) return;
  if ((ours || underway.out.size > 0) && entry.durationMs < delay)
    broken(
      3,
      `${entry.count} requests of ${entry.durationMs} ms failed (${entry.cause}) at ${entry.targetId ?? 'no target'}`,
    );
}
