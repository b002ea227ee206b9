import type { Budgets } from '../domain/budgets.ts';
import { findHold } from '../ledger/auto-scaling-holds.ts';
import { findInstances } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { membersOf } from './members.ts';
import type { PlannedRun } from './plan-run.ts';

/**
 * A queued run is planned again, and what it has taken over while it waited is its own whatever has become of it: an instance
 * that is in service no more, a group with other health checks. It stays in the plan, since the plan says what the run's end has
 * to put back and to resume (D2, D4, R-UNDO).
 *
 * @param earlier the run as an earlier plan has left it
 */
export async function keepTakenOver(
  planned: PlannedRun,
  earlier: RunRecord | undefined,
): Promise<PlannedRun> {
  // Written before anything is taken over.
  if (!earlier?.acted) return planned;
  const { plan } = planned;
  const { runId } = earlier;
  const records = await findInstances(earlier.plan.instanceIds.filter(id => !plan.instanceIds.includes(id)));
  const members = membersOf(earlier, records).filter(
    ({ instanceId }) => records.get(instanceId)?.tookOver === runId,
  );
  const unplanned = earlier.plan.holdings.filter(
    ({ group }) => !plan.holdings.some(holding => holding.group === group),
  );
  const holds = await Promise.all(unplanned.map(({ group }) => findHold(group)));
  const holdings = unplanned.filter((_, index) => holds[index]?.runs.includes(runId));
  if (members.length + holdings.length === 0) return planned;

  const ids = members.map(({ instanceId }) => instanceId);
  const arns = new Set(members.flatMap(({ memberships }) => memberships.map(one => one.targetGroupArn)));
  const isNew = (arn: string) => arns.has(arn) && !plan.groups.some(group => group.arn === arn);
  const budgets = longerOf(plan.budgets, earlier.plan.budgets);
  return {
    ...planned,
    members: [...planned.members, ...members],
    plan: {
      ...plan,
      instanceIds: [...plan.instanceIds, ...ids],
      bystanders: plan.bystanders.filter(({ instanceId }) => !ids.includes(instanceId)),
      groups: [...plan.groups, ...earlier.plan.groups.filter(({ arn }) => isNew(arn))],
      holdings: [...plan.holdings, ...holdings],
      budgets,
      suppressing: plan.suppressing + members.filter(({ suppression }) => suppression !== 'none').length,
      draining: plan.draining + members.filter(({ memberships }) => memberships.length > 0).length,
      suppressUntil: plan.suppressUntil + budgets.whole - plan.budgets.whole,
    },
  };
}

const longerOf = (some: Budgets, others: Budgets): Budgets => ({
  lead: Math.max(some.lead, others.lead),
  traffic: Math.max(some.traffic, others.traffic),
  before: Math.max(some.before, others.before),
  deployment: Math.max(some.deployment, others.deployment),
  ready: Math.max(some.ready, others.ready),
  inService: Math.max(some.inService, others.inService),
  readyAgain: Math.max(some.readyAgain, others.readyAgain),
  release: Math.max(some.release, others.release),
  after: Math.max(some.after, others.after),
  undo: Math.max(some.undo, others.undo),
  whole: Math.max(some.whole, others.whole),
});
