import type { Evidence } from './evidence.ts';
import { deploymentOfRun, findsDetached, isEmergency, leavesTraffic } from './runs.ts';

const LEAD_MS = 180_000;

/** Invariant 1: what is deployed to is suppressed for long enough, and out of traffic. */
export function judgeGoAhead(evidence: Evidence, runId: string, instanceIds: readonly string[]): void {
  const { account, fleet, scenario, people, setAside, underway, broken } = evidence;
  const now = account.world.clock.now();
  const decidedAt = underway.goAheadOf(runId) ?? now;
  const spec = deploymentOfRun(scenario, runId);
  for (const id of instanceIds) {
    const instance = account.ec2.instance(id);
    // What its group is ending, or somebody has put in Standby, is left alone: it is in nobody else's hands (D30, R-LIFECYCLE).
    if (instance?.state !== 'running' || setAside.stateOf(id) !== undefined) continue;
    underway.deployments.set(id, { runId, since: now });
    if (!isEmergency(spec) && !people.changedSuppressionUnseen(id, decidedAt))
      judgeSuppression(evidence, id, now + spec.downSeconds * 1000);
    if (leavesTraffic(spec) || people.registeredUnseen(id, decidedAt)) continue;
    const found = findsDetached(scenario, spec);
    for (const group of fleet.built.targetGroups.filter(one => found || one.targetType === 'instance'))
      for (const { target, state } of account.loadBalancing.statesOf(group.arn, instance))
        if (state !== 'unused')
          broken(1, `go-ahead while ${target.id}:${target.port} was ${state} in ${group.name}`);
  }
}

function judgeSuppression(
  { account: { checks, world }, underway, broken }: Evidence,
  id: string,
  until: number,
): void {
  if (!checks.hasIncludedCheck(id)) return;
  const now = world.clock.now();
  if (checks.overall(id).status !== 'suppressed') broken(1, `go-ahead while ${id} was not suppressed`);
  const ends = checks.suppression(id)?.resumesAt;
  if (ends !== undefined && ends < until)
    broken(1, `go-ahead although the suppression of ${id} ends during the deployment`);
  const since = underway.suppressedSince.get(id);
  if (since !== undefined && now - since < LEAD_MS)
    broken(1, `go-ahead ${(now - since) / 1000} s after ${id} was suppressed`);
}
