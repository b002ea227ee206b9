import { applicationStatuses } from '../aws/application-status.ts';
import { groupMemberships, groups } from '../aws/auto-scaling.ts';
import { targetHealth } from '../aws/elastic-load-balancing.ts';
import { describeInstances } from '../aws/instances.ts';
import type { Budgets } from '../domain/budgets.ts';
import { type Member, type Membership, targetKey } from '../domain/fleet.ts';
import {
  type Goal,
  isReversed,
  judgeDrained,
  judgeInService,
  judgeKeptOut,
  judgePutBack,
  judgeReady,
  judgeReleased,
  judgeSuppressed,
  passesUnbroken,
  type Sighting,
  type StatusSeen,
  sumUp,
  type TargetSeen,
} from '../domain/goals.ts';
import { hasEnded } from '../domain/lifecycle.ts';
import { nextWait, paceLimits, pollSeconds } from '../domain/pace.ts';
import { leaveSuppression } from '../domain/suppression.ts';
import { RunEnded, RunUnknown } from '../errors.ts';
import { findHold } from '../ledger/auto-scaling-holds.ts';
import { findInstances } from '../ledger/instances.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';
import { findRun } from '../ledger/runs.ts';
import { CHECK_INTERVAL_SECONDS, DESCRIBE_LAG_SECONDS, SUPPRESSION_MARGIN_SECONDS } from '../limits.ts';
import type { Measure } from '../metrics.ts';
import { nowSeconds } from '../time.ts';
import { earlierOf } from './cover.ts';
import { measureDrain, measureHealthy, measureTransitions } from './look-measures.ts';
import { instancesOf, membersOf, newcomersOf } from './members.ts';
import { healthUnlessGone } from './seen-targets.ts';
import { setAsideAmong } from './set-aside.ts';
import { HEALTH, sharingOf } from './sharing.ts';
import { metStep, type StepAnswer, waitingStep } from './step-answer.ts';

export interface LookRequest {
  readonly runId: string;
  readonly owner: string;
  readonly goals: readonly Goal[];
  /** The loop's end, in seconds since the epoch. */
  readonly deadline: number;
  /** For `suppressed`: it has to last until then, in seconds since the epoch. */
  readonly until: number;
  /** When the machine asked for this look: what a shared read saw earlier is no joint look (milliseconds since the epoch). */
  readonly enteredAt: number;
  /** For `ready`: evaluations must be newer than this, in milliseconds since the epoch. */
  readonly newerThan: number;
  /** For `ready`: changes of the checks have been counted up to then, in milliseconds since the epoch. */
  readonly countedUntil?: number | undefined;
}

export interface Looked extends StepAnswer {
  /** When `ready` is met: one evaluation of each check more is newer than this, in milliseconds since the epoch. */
  readonly evaluatedUntil: number;
  /** A check of a member does not pass at the moment: evaluations count from now on. */
  readonly broken: boolean;
  readonly countedUntil: number;
  readonly measures: readonly Measure[];
  /** A target of a member is not where the act has put it: the act has to be repeated. */
  readonly reversed: boolean;
}

/** What a look reads of AWS. */
interface Reads {
  readonly describeInstances: typeof describeInstances;
  readonly applicationStatuses: typeof applicationStatuses;
  readonly targetHealth: typeof targetHealth;
  readonly groups: typeof groups;
  readonly groupMemberships: typeof groupMemberships;
}

/** One fresh look at the whole fleet, for one goal or several at the same moment (D36). Reads only. */
export async function look(request: LookRequest): Promise<Looked> {
  const run = await readable(request);
  const { state, instances } = await sharingOf(run.request.observer, freshness(request));
  const reads: Reads = {
    describeInstances: instances('instances', describeInstances),
    applicationStatuses: instances('statuses', applicationStatuses),
    targetHealth: state(HEALTH, targetHealth),
    groups: state('groups', groups),
    groupMemberships: instances('memberships', groupMemberships),
  };
  const wants = (...some: Goal[]) => some.some(goal => request.goals.includes(goal));
  const records = await findInstances(instancesOf(run));
  const leaving = wants('released', 'undone') ? newcomersOf(run, records) : [];
  const members = [...membersOf(run, records), ...leaving];
  const [statuses, targets] = await Promise.all([
    wants('suppressed', 'ready', 'released', 'undone')
      ? reads.applicationStatuses(members.filter(isWatched).map(member => member.instanceId))
      : new Map<string, StatusSeen>(),
    wants('drained', 'in-service', 'undone') ? readTargets(run, reads) : new Map<string, TargetsSeen>(),
  ]);

  const sightings = new Map<string, Sighting[]>();
  for (const member of members) {
    const record = records.get(member.instanceId);
    const seen = statuses.get(member.instanceId);
    const found = request.goals.flatMap(goal => judge(goal, member, record, seen, targets, request));
    sightings.set(member.instanceId, found);
  }
  const earlier = wants('earlier-ready') ? await sightEarlier(run, reads) : [];
  for (const { member, sighting } of earlier) sightings.set(member.instanceId, [sighting]);
  // Asked of a member only when it looks like it: its application fails, or a target of it is out or fails.
  const isFailing = (member: Member) =>
    wants('ready') && !passesUnbroken(member, statuses.get(member.instanceId));
  const isOut = ({ instanceId, memberships }: Member) =>
    wants('in-service') ||
    (sightings.get(instanceId) ?? []).some(isAbsent) ||
    request.goals.some(goal => hasReversed(goal, memberships, targets));
  const suspects = members.filter(member => isFailing(member) || isOut(member));
  await finishSetAside(run, sightings, [...suspects, ...earlier.map(({ member }) => member)], reads);
  await finishGone(sightings, reads);
  if (wants('undone'))
    for (const [group, sighting] of await openHolds(run, records)) sightings.set(group, [sighting]);

  const answered = answer(run, request, sightings);
  // Older than what describing lags behind, so that no change of before shows only later.
  const { countedUntil = request.enteredAt } = request;
  const counted = Math.max(countedUntil, request.enteredAt - DESCRIBE_LAG_SECONDS * 1000);
  return {
    ...answered,
    // Each check is evaluated once an interval, and a loop looks more often than that: no evaluation escapes it.
    evaluatedUntil: request.newerThan + CHECK_INTERVAL_SECONDS * 1000,
    broken: members.some(
      member => !isGone(sightings, member) && !passesUnbroken(member, statuses.get(member.instanceId)),
    ),
    countedUntil: counted,
    measures: [
      ...(request.goals.length === 1 && wants('drained') && answered.verdict === 'met'
        ? measureDrain(run, nowSeconds())
        : []),
      ...(wants('in-service') ? measureHealthy(run, members, targets) : []),
      ...(wants('ready') ? measureTransitions(members, statuses, countedUntil, counted) : []),
    ],
    reversed: members.some(
      member =>
        !isGone(sightings, member) &&
        request.goals.some(goal => hasReversed(goal, member.memberships, targets)),
    ),
  };
}

/** A loop may decide by what was read within the last poll; several goals at one moment only by what is read now (D36). */
const freshness = ({ goals, enteredAt }: LookRequest): number =>
  goals.length > 1 ? enteredAt : enteredAt - paceLimits.shortestSeconds * 1000;

async function readable({ runId, owner, goals }: LookRequest): Promise<RunRecord> {
  const run = await findRun(runId);
  if (!run) throw new RunUnknown(`There is no run ${runId}.`);
  const undoing = goals.includes('undone') && run.status === 'ended';
  if (run.owner !== owner || (run.status !== 'live' && !undoing))
    throw new RunEnded(`Run ${runId} has ended: nothing is waited for any more.`);
  return run;
}

const isWatched = (member: Member): boolean =>
  member.suppression !== 'none' || member.includedChecks.length > 0;

function judge(
  goal: Goal,
  member: Member,
  record: InstanceRecord | undefined,
  seen: StatusSeen | undefined,
  targets: ReadonlyMap<string, TargetsSeen>,
  request: LookRequest,
): Sighting[] {
  const releasing = record?.releasing === request.runId;
  switch (goal) {
    case 'suppressed':
      return [judgeSuppressed(member, seen, request.until * 1000)];
    case 'ready':
      // Another run may have left it to this one since the loop began: then its evidence begins later (D17).
      return [judgeReady(member, seen, Math.max(request.newerThan, (record?.deployed?.at ?? 0) * 1000))];
    // It is about other instances than the run's own.
    case 'earlier-ready':
      return [];
    case 'released':
      return releasing ? [judgeReleased(member, seen)] : [];
    case 'drained':
      return overMemberships(
        { memberships: [...member.memberships, ...(member.draining ?? [])] },
        targets,
        judgeDrained,
      );
    case 'in-service':
      return overMemberships(member, targets, judgeInService);
    case 'undone': {
      const claim = record?.claims.get(request.runId);
      const how = claim?.fate?.how;
      if (claim && how === 'held')
        return [
          judgeSuppressed(member, seen, (claim.until - SUPPRESSION_MARGIN_SECONDS) * 1000),
          ...overMemberships(member, targets, judgeKeptOut),
        ];
      return [
        releasing ? judgeReleased(member, seen) : judgeLeft(member, record, request.runId),
        ...(record?.traffic === request.runId && how === undefined
          ? overMemberships(member, targets, judgePutBack)
          : []),
      ];
    }
  }
}

/** Does every instance that the deployment has been to pass its checks? While one does not, no other is touched. */
async function sightEarlier(
  run: RunRecord,
  reads: Reads,
): Promise<{ readonly member: Member; readonly sighting: Sighting }[]> {
  const earlier = await earlierOf(run);
  const seen = await reads.applicationStatuses(earlier.map(({ member }) => member.instanceId));
  return earlier.map(({ member, newerThan }) => ({
    member,
    sighting: judgeReady(member, seen.get(member.instanceId), newerThan),
  }));
}

/** Undo gives a claim back only with its suppression: what is still to disable is not undone. */
function judgeLeft(member: Member, record: InstanceRecord | undefined, runId: string): Sighting {
  const until = record?.claims.get(runId)?.until ?? 0;
  if (leaveSuppression(member, until, nowSeconds()).how !== 'disable') return { verdict: 'met' };
  return { verdict: 'waiting', reason: 'its suppression is not released yet', absent: true };
}

type TargetsSeen = ReadonlyMap<string, TargetSeen>;

/** A membership in a group that exists no more has nothing left to wait for. */
function overMemberships(
  { memberships }: Pick<Member, 'memberships'>,
  targets: ReadonlyMap<string, TargetsSeen>,
  judgeOne: typeof judgeDrained,
): Sighting[] {
  return memberships.flatMap(membership => {
    const group = targets.get(membership.targetGroupArn);
    return group ? [judgeOne(membership, group.get(targetKey(membership.target)))] : [];
  });
}

const hasReversed = (
  goal: Goal,
  memberships: readonly Membership[],
  targets: ReadonlyMap<string, TargetsSeen>,
): boolean =>
  memberships.some(({ targetGroupArn, target }) => {
    const group = targets.get(targetGroupArn);
    return group !== undefined && isReversed(goal, group.get(targetKey(target)));
  });

async function readTargets(run: RunRecord, reads: Reads): Promise<Map<string, TargetsSeen>> {
  const seen = new Map<string, TargetsSeen>();
  await Promise.all(
    run.plan.groups.map(async group => {
      const health = await healthUnlessGone(group.arn, reads.targetHealth);
      if (health) seen.set(group.arn, new Map(health.map(one => [targetKey(one.target), one])));
    }),
  );
  return seen;
}

const isAbsent = (sighting: Sighting): boolean => sighting.verdict === 'waiting' && sighting.absent;

/** An instance that lacks something may be terminated: then it is finished, not waited for (R-GONE). */
async function finishGone(sightings: Map<string, Sighting[]>, reads: Reads): Promise<void> {
  const suspects = [...sightings]
    .filter(([, found]) => found.some(isAbsent))
    .map(([instanceId]) => instanceId);
  if (suspects.length === 0) return;
  const facts = await reads.describeInstances(suspects);
  for (const instanceId of suspects) {
    if (hasEnded(facts.get(instanceId)?.state)) sightings.set(instanceId, [{ verdict: 'gone' }]);
  }
}

/** Nor is one waited for that its group is ending, or that was put aside, although it runs: it is to serve no more. */
async function finishSetAside(
  run: RunRecord,
  sightings: Map<string, Sighting[]>,
  suspects: readonly Member[],
  reads: Reads,
): Promise<void> {
  const isAwaited = ({ instanceId }: Member) =>
    sightings.get(instanceId)?.some(({ verdict }) => verdict === 'waiting') ?? false;
  const aside = await setAsideAmong(run, suspects.filter(isAwaited), reads);
  for (const instanceId of aside.keys()) sightings.set(instanceId, [{ verdict: 'gone' }]);
}

const isGone = (sightings: ReadonlyMap<string, readonly Sighting[]>, { instanceId }: Member): boolean =>
  sightings.get(instanceId)?.some(sighting => sighting.verdict === 'gone') ?? false;

/** Groups that the run still holds, except for those with members that it keeps held (D38). */
async function openHolds(
  run: RunRecord,
  records: ReadonlyMap<string, InstanceRecord>,
): Promise<[string, Sighting][]> {
  const claims = [...records.values()].flatMap(({ claims }) => claims.get(run.runId) ?? []);
  const kept = new Set(
    claims.filter(({ fate }) => fate?.how === 'held').map(({ member }) => member.autoScalingGroup),
  );
  const open: [string, Sighting][] = [];
  for (const { group } of run.plan.holdings.filter(holding => !kept.has(holding.group))) {
    const hold = await findHold(group);
    if (hold?.runs.includes(run.runId))
      open.push([
        group,
        { verdict: 'waiting', reason: 'its health processes are still held', absent: false },
      ]);
  }
  return open;
}

function answer(
  run: RunRecord,
  request: LookRequest,
  sightings: ReadonlyMap<string, readonly Sighting[]>,
): StepAnswer {
  const sum = sumUp(sightings);
  if (sum.verdict === 'met') return metStep(sum.met, sum.gone);
  if (sum.verdict === 'refused')
    return {
      ...metStep(sum.met, sum.gone),
      ...sum,
      error: 'FleetRefused',
      cause: `${sum.reasons.join('; ')}. Waiting cannot help: correct it and start a new run.`,
    };
  const now = nowSeconds();
  // A later round of a loop may last longer than the goal's own budget: until the run's.
  const budget = Math.max(
    request.deadline - now,
    ...request.goals.map(goal => budgetOf(goal, run.plan.budgets)),
  );
  return waitingStep(nextWait(now, request.deadline, pollSeconds(budget)), sum.reasons, sum);
}

/** What the loop that waits for a goal may last, from which its polls are derived. */
function budgetOf(goal: Goal, budgets: Budgets): number {
  switch (goal) {
    case 'suppressed':
      return budgets.lead;
    case 'earlier-ready':
      return budgets.before;
    case 'drained':
      return budgets.traffic;
    case 'in-service':
      return budgets.inService;
    case 'ready':
      return Math.max(budgets.ready, budgets.readyAgain);
    case 'released':
      return budgets.release;
    case 'undone':
      return budgets.undo;
  }
}
