import {
  type ApplicationStatusFacts,
  applicationStatuses,
  type CheckFacts,
} from '../aws/application-status.ts';
import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { type BudgetFacts, computeBudgets } from '../domain/budgets.ts';
import type { Bystander, Member } from '../domain/fleet.ts';
import { judgeFloor } from '../domain/floors.ts';
import { chooseHolding, HEALTH_PROCESSES } from '../domain/holding.ts';
import { listAt } from '../domain/lists.ts';
import type { Plan, PlannedHolding } from '../domain/plan.ts';
import {
  BelowFloor,
  BudgetExceedsTimeout,
  FleetNotSettled,
  NothingToDo,
  NotOptedIn,
  StandbyNotPossible,
} from '../errors.ts';
import { findInstances } from '../ledger/instances.ts';
import type { Claim, InstanceRecord } from '../ledger/items.ts';
import { outByZone } from '../ledger/target-group-guards.ts';
import { type GuardsAndViews, guardsAndViews } from '../ledger/zone-views.ts';
import {
  CHECK_INTERVAL_SECONDS,
  MACHINE_TIMEOUT_SECONDS,
  RETRY_ROOM_SECONDS,
  SUPPRESSION_MARGIN_SECONDS,
} from '../limits.ts';
import type { RunRequest } from '../request.ts';
import type { OptInTag } from '../settings.ts';
import { findCover } from './cover.ts';
import { discoverFleet, type Fleet, list } from './discover-fleet.ts';
import { discoverTraffic, type Traffic } from './discover-traffic.ts';
import type { Reads } from './reads.ts';
import { leavingKeys, seenTargets } from './seen-targets.ts';
import { isInTraffic, toMember } from './to-member.ts';
import { refuseZoneEvents } from './zone-events.ts';

export interface PlannedRun {
  readonly plan: Plan;
  readonly members: readonly Member[];
  /** By instance: the run that moved its traffic when it was planned. */
  readonly movedBy: ReadonlyMap<string, string>;
  /** By instance that is in traffic: failed runs that keep it held (D38). */
  readonly heldBy: ReadonlyMap<string, readonly string[]>;
  /** As `movedBy`, of the bystanders: what a run keeps in Standby is in service again when it ends. */
  readonly putAsideBy: ReadonlyMap<string, string>;
}

/**
 * Reads everything about a fleet and decides what the run will do, its budgets, and whether it may. Touches nothing.
 *
 * @throws every Refusal that can be known beforehand
 */
export async function planRun(
  request: RunRequest,
  optIn: OptInTag,
  now: number,
  reads: Reads,
): Promise<PlannedRun> {
  const fleet = await discoverFleet(request, optIn, reads);
  const ids = fleet.candidates.map(candidate => candidate.facts.id);
  const [seen, records] = await Promise.all([reads.applicationStatuses(ids), findInstances(ids)]);
  const statuses = await seenSinceLedger(seen, records);
  const traffic =
    request.traffic === 'drain'
      ? await discoverTraffic(request, fleet, optIn, reads, groupsOut(records))
      : NO_TRAFFIC;
  const checks = await reads.applicationStatusChecks(checkIds(statuses));
  const holdings = await planHoldings(request, fleet, optIn, reads);

  const members: Member[] = [];
  const bystanders: Bystander[] = [...fleet.bystanders];
  for (const candidate of fleet.candidates) {
    const { id } = candidate.facts;
    const member = toMember(candidate, statuses.get(id), records.get(id), traffic, request);
    const held = holdings.some(holding => holding.group === member.autoScalingGroup);
    if (member.suppression === 'none' && !isInTraffic(member) && !held)
      bystanders.push({ instanceId: id, reason: 'has no check and is in no target group' });
    else members.push(member);
  }
  if (members.length === 0)
    throw new NothingToDo(
      `Nothing to do: ${list(bystanders.map(({ instanceId, reason }) => `${instanceId} ${reason}`))}.`,
    );

  const emergency = emergencyOf(request, now);
  if (!emergency) {
    const heeds = request.policy.zoneEvents === 'refuse' && !fleet.rollback;
    const { guards, views } = await guardsAndViews(
      traffic.groups.map(group => group.arn),
      heeds ? servingArns(traffic, fleet) : [],
    );
    await refuseBelowFloor(request.runId, members, traffic, guards);
    refuseZoneEvents(members, views, now);
  }
  const suppressing = members.filter(member => member.suppression !== 'none').length;
  const draining = members.filter(member => isInTraffic(member)).length;
  const facts: Omit<BudgetFacts, 'covered'> = {
    leadSeconds: request.policy.leadSeconds,
    suppressing: suppressing > 0,
    drainDelaySeconds:
      draining > 0 ? greatest(traffic.groups.map(group => group.deregistrationDelaySeconds)) : undefined,
    holding: holdings.length > 0,
    floorWaitSeconds: request.policy.waitSeconds,
    deploymentSeconds: request.policy.deploymentSeconds,
    readySeconds: readySeconds(request, checks),
    readyBeforeTraffic: request.policy.readyBeforeTraffic,
    readyEvaluations: request.policy.readyEvaluations,
    checked: members.some(member => member.includedChecks.length > 0),
    checkIntervalSeconds: greatest([
      CHECK_INTERVAL_SECONDS,
      ...[...checks.values()].map(check => check.intervalSeconds),
    ]),
    provesAfterFailure: request.policy.afterFailure !== 'put-back',
    // A hold waits for healthy targets too, also for those that somebody else moves.
    inServiceSeconds:
      draining > 0 || holdings.length > 0
        ? greatest(traffic.groups.map(group => group.inServiceSeconds))
        : undefined,
  };
  const endOf = (whole: number) =>
    now + Math.max(whole, request.policy.suppressSeconds) + SUPPRESSION_MARGIN_SECONDS;
  const inside = computeBudgets({ ...facts, covered: true });
  // Only the runs of one deployment know which of their instances were deployed to before.
  const coveredBy =
    request.observer === undefined
      ? undefined
      : await findCover(request.runId, recordsOf(members, records), endOf(inside.whole));
  const budgets = coveredBy ? inside : computeBudgets({ ...facts, covered: false });
  refuseTimeouts(request, budgets);

  const plan: Plan = {
    instanceIds: members.map(member => member.instanceId),
    bystanders,
    groups: traffic.groups,
    holdings,
    budgets,
    suppressing,
    draining,
    suppressUntil: endOf(budgets.whole),
    ...(coveredBy !== undefined && { coveredBy }),
    remarks: [...traffic.remarks, ...remarksOn(members, emergency)],
  };
  const putAside = await findInstances(fleet.bystanders.map(bystander => bystander.instanceId));
  return {
    plan,
    members,
    movedBy: moversOf(records, request.runId),
    heldBy: new Map(
      members
        .filter(({ memberships }) => memberships.length > 0)
        .map(({ instanceId }) => [instanceId, holdersOf(records.get(instanceId))]),
    ),
    putAsideBy: moversOf(putAside, request.runId),
  };
}

/** The groups of the fleet, also where somebody else moves the traffic. */
const servingArns = (traffic: Traffic, fleet: Fleet): readonly string[] => [
  ...new Set([
    ...traffic.groups.map(group => group.arn),
    ...fleet.autoScalingGroups.flatMap(group => group.targetGroupArns),
  ]),
];

/**
 * What looks like somebody else's suppression may be one of ours that has ended since it was seen: now that the ledger was read,
 * those without a claim are seen again (D10, D39).
 */
async function seenSinceLedger(
  seen: ReadonlyMap<string, ApplicationStatusFacts>,
  records: ReadonlyMap<string, InstanceRecord>,
): Promise<ReadonlyMap<string, ApplicationStatusFacts>> {
  const doubtful = [...seen].filter(
    ([id, { status }]) => status === 'suppressed' && (records.get(id)?.claims.size ?? 0) === 0,
  );
  return new Map([...seen, ...(await applicationStatuses(doubtful.map(([id]) => id)))]);
}

/** By instance: the run that moves its traffic, unless it is this one. */
function moversOf(records: ReadonlyMap<string, InstanceRecord>, runId: string): ReadonlyMap<string, string> {
  const movers = new Map<string, string>();
  for (const { instanceId, traffic } of records.values())
    if (traffic !== undefined && traffic !== runId) movers.set(instanceId, traffic);
  return movers;
}

const holdersOf = (record: InstanceRecord | undefined): string[] =>
  [...(record?.claims ?? [])].filter(([, { fate }]) => fate?.how === 'held').map(([runId]) => runId);

/** The target groups of which a live or failed run has taken one of these instances out. */
const groupsOut = (records: ReadonlyMap<string, InstanceRecord>): ReadonlySet<string> =>
  new Set(
    [...records.values()].flatMap(({ traffic, memberships }) =>
      traffic === undefined ? [] : memberships.map(membership => membership.targetGroupArn),
    ),
  );

/** One a member, claimed by nobody when the ledger knows nothing of it. */
const recordsOf = (
  members: readonly Member[],
  records: ReadonlyMap<string, InstanceRecord>,
): InstanceRecord[] =>
  members.map(
    ({ instanceId }) =>
      records.get(instanceId) ?? { instanceId, claims: new Map<string, Claim>(), memberships: [] },
  );

const NO_TRAFFIC: Traffic = {
  groups: [],
  health: new Map(),
  membershipsOf: () => [],
  drainingOf: () => [],
  remarks: [],
};

const greatest = (values: readonly number[]): number => Math.max(0, ...values);

/** The reason of an emergency that still holds. */
export function emergencyOf(request: RunRequest, now: number): string | undefined {
  const { emergency } = request;
  return emergency && Date.parse(emergency.until) / 1000 > now ? emergency.reason : undefined;
}

const checkIds = (statuses: ReadonlyMap<string, ApplicationStatusFacts>): string[] => [
  ...new Set([...statuses.values()].flatMap(status => status.checks.map(check => check.checkId))),
];

/** How long the fleet may need to be ready: never less than its slowest check needs to pass. */
function readySeconds(request: RunRequest, checks: ReadonlyMap<string, CheckFacts>): number {
  const slowest = [...checks.values()].map(
    check => check.successThreshold * check.intervalSeconds + check.timeoutSeconds + CHECK_INTERVAL_SECONDS,
  );
  return greatest([request.policy.readySeconds, ...slowest]);
}

/** Decides about each Auto Scaling group's own verdicts, and refuses groups that are in motion (D4). */
async function planHoldings(
  request: RunRequest,
  fleet: Fleet,
  optIn: OptInTag,
  reads: Reads,
): Promise<PlannedHolding[]> {
  const holdings: PlannedHolding[] = [];
  for (const group of fleet.autoScalingGroups) {
    const marked = group.instances
      .filter(instance => instance.healthStatus !== 'Healthy')
      .map(one => one.instanceId);
    if (marked.length > 0)
      throw new FleetNotSettled(
        `Auto Scaling group ${group.name} is about to replace ${list(marked)}, which it holds Unhealthy. Wait until the group has settled.`,
      );
    if (await reads.refreshInProgress(group.name))
      throw new FleetNotSettled(
        `Auto Scaling group ${group.name} has an instance refresh in progress. Wait for it, or cancel it.`,
      );
    const mode = chooseHolding(request.policy.autoScaling, group.healthCheckTypes);
    if (mode === 'none') continue;
    refuseUntaggedGroup(group, optIn);
    if (mode === 'standby' && request.traffic === 'leave')
      throw new StandbyNotPossible(
        `Standby would take the instances of Auto Scaling group ${group.name} out of its target groups, and the request says traffic: leave. Use policy.autoScaling: hold, or traffic: drain.`,
      );
    const count = fleet.candidates.filter(candidate => candidate.autoScalingGroup === group.name).length;
    if (mode === 'standby' && group.desiredCapacity - count < group.minSize)
      throw new StandbyNotPossible(
        `Putting ${count} instances of Auto Scaling group ${group.name} in Standby would leave ${group.desiredCapacity - count}, below its MinSize of ${group.minSize}. Deploy in smaller batches or use policy.autoScaling: hold.`,
      );
    const wanted = mode === 'standby' ? ['AZRebalance'] : [...HEALTH_PROCESSES];
    holdings.push({
      group: group.name,
      mode,
      processes: [...new Set([...wanted, ...request.policy.alsoSuspend])],
      targetGroupArns: group.targetGroupArns,
    });
  }
  return holdings;
}

function refuseUntaggedGroup(group: AutoScalingGroupFacts, { key, value }: OptInTag): void {
  if (group.tags[key] === value) return;
  throw new NotOptedIn(
    `Auto Scaling group ${group.name} does not carry the tag ${key}=${value}, so its health checks cannot be held. Add the tag, or say policy.autoScaling: none.`,
  );
}

/** Refuses what no waiting can make possible: even with every registered target healthy too few would be left. */
async function refuseBelowFloor(
  runId: string,
  members: readonly Member[],
  traffic: Traffic,
  guards: GuardsAndViews['guards'],
): Promise<void> {
  for (const group of traffic.groups) {
    if (!group.serves) continue;
    const verdict = judgeFloor(
      group.floor,
      await seenTargets(group, listAt(traffic.health, group.arn), members),
      leavingKeys(members, group),
      outByZone(guards.get(group.arn), runId),
      'best',
    );
    if (!verdict.permitted)
      throw new BelowFloor(
        `Taking ${verdict.leaving} of the targets out of target group ${group.name} would leave less than its floor of ${verdict.floor} in ${verdict.scope}, even with all others healthy. Deploy to fewer instances at once, or lower policy.minHealthyPercent or the group's own thresholds.`,
      );
  }
}

function refuseTimeouts(request: RunRequest, budgets: Plan['budgets']): void {
  const { timeoutSeconds, afterTimeoutSeconds, policy } = request;
  // A live run may be waited for first: as long as the policy says with `queue`, and in any case while it releases.
  const queue = request.queue ? policy.waitSeconds : 0;
  if (timeoutSeconds !== undefined && timeoutSeconds < queue + budgets.before)
    throw new BudgetExceedsTimeout(
      `before-deploy may take ${queue + budgets.before} s and the caller waits ${timeoutSeconds} s. Raise timeoutSeconds, or lower the deregistration delay or policy.waitSeconds.`,
    );
  if (afterTimeoutSeconds !== undefined && afterTimeoutSeconds < budgets.after)
    throw new BudgetExceedsTimeout(
      `after-deploy may take ${budgets.after} s and the caller waits ${afterTimeoutSeconds} s. Raise afterTimeoutSeconds, or lower policy.readySeconds (${policy.readySeconds} s, before the traffic, in it, and after it) or policy.readyEvaluations.`,
    );
  const longest =
    Math.max(policy.waitSeconds + budgets.before, budgets.after) + budgets.undo + RETRY_ROOM_SECONDS;
  if (longest > MACHINE_TIMEOUT_SECONDS)
    throw new BudgetExceedsTimeout(
      `A phase may take ${longest} s and the machine's own time-out is ${MACHINE_TIMEOUT_SECONDS} s. Lower the deregistration delay, policy.waitSeconds or policy.readySeconds.`,
    );
}

function remarksOn(members: readonly Member[], emergency: string | undefined): string[] {
  const others = members.filter(member => member.suppression === 'others').map(member => member.instanceId);
  return [
    ...(emergency ? [`Emergency: the lead and the floors are lifted (${emergency}).`] : []),
    ...(others.length > 0 ? [`Suppressed by somebody else, and left so: ${list(others)}.`] : []),
  ];
}
