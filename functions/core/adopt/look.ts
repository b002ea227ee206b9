import { createHash } from 'node:crypto';
import type { z } from 'zod/mini';
import type { CheckFacts } from '../aws/application-status.ts';
import { activitiesSince } from '../aws/auto-scaling.ts';
import { checkAssociations } from '../aws/check-associations.ts';
import {
  type Counted,
  countLook,
  harmOf,
  isOfApplicationStatus,
  type Streak,
  watchedUntil,
} from '../domain/adoption.ts';
import { nextWait } from '../domain/pace.ts';
import { CheckChanged, CheckDemoted, CheckNotProven, QuotaExceeded } from '../errors.ts';
import { type AdoptionRecord, ownAdoption } from '../ledger/adoptions.ts';
import {
  ADOPTION_ROOM_SECONDS,
  BLIND_WATCH_SECONDS,
  MACHINE_TIMEOUT_SECONDS,
  RETRY_ROOM_SECONDS,
  UNMONITORED_SECONDS,
} from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { checkIdOf, currentCheck } from './check.ts';
import { diagnosisBy } from './diagnose-check.ts';
import { isOnGroup } from './group-tag.ts';
import { type Member, membersInService } from './members.ts';
import type { observePayload } from './payloads.ts';

/** What a look answers to the machine. Every member is always there (D15). */
export interface LookAnswer {
  readonly verdict: 'met' | 'waiting';
  readonly waitSeconds: number;
  /** Until when it is looked, in seconds since the epoch: later than asked where nothing could be seen. */
  readonly deadline: number;
  readonly streak: Streak;
  readonly instances: number;
  readonly reasons: readonly string[];
}

/**
 * Between two looks: more often than a check is evaluated, so that no evaluation between two others is passed over. In all the
 * time that an adoption may take these are 9,300 events of history, less than half of what an execution has (R-HISTORY).
 */
const LOOK_SECONDS = 20;

/**
 * One look at a check that is adopted: does every instance pass it, or has it done harm?
 *
 * @throws CheckChanged, QuotaExceeded, CheckNotProven, CheckDemoted, AutoScalingGroupUnknown, ObservationPending
 */
export async function lookAtCheck(looking: z.output<typeof observePayload>): Promise<LookAnswer> {
  const record = await ownAdoption(looking.group, looking.execution);
  if (looking.of === 'harm') return lookForHarm(record, looking);
  const { deadline } = looking;
  const waitSeconds = nextWait(nowSeconds(), deadline, LOOK_SECONDS);
  const seen = await count(record, looking.of, looking.streak, looking.since);
  if (looking.of === 'sample' && seen.instances.length === 0)
    throw new CheckNotProven(
      `None of the sample is in service any more (${record.plan.sample.slice(0, 5).join(', ')}): start again, with a larger sample.`,
    );
  const { evaluations, newerThan, members, reasons } = seen.counted;
  const answer = {
    waitSeconds,
    deadline,
    streak: { evaluations, newerThan, members },
    instances: seen.instances.length,
    reasons: reasons.slice(0, 5),
  };
  if (evaluations >= record.request.evaluations) return { ...answer, verdict: 'met' };
  if (waitSeconds > 0) return { ...answer, verdict: 'waiting' };
  const what = [`${evaluations} until now`, ...reasons.slice(0, 10)].join('; ');
  throw new CheckNotProven(
    `Not every instance has passed ${record.request.evaluations} evaluations in a row: ${what}.${diagnosisBy(seen.check, seen.instances)}`,
  );
}

/** What one look has read of the group. */
export interface Seen {
  readonly check: CheckFacts;
  readonly instances: readonly Member[];
  readonly counted: Counted;
}

/** Counts a look at the instances in service, or at those of them that are in the sample. @throws CheckChanged, QuotaExceeded, ObservationPending */
export async function count(
  record: AdoptionRecord,
  of: 'sample' | 'group',
  streak: Streak,
  associatedAt: number,
): Promise<Seen> {
  const check = await currentCheck(record, 'excluded');
  const inService = await membersInService(record.group);
  const instances =
    of === 'group'
      ? inService
      : inService.filter(({ instanceId }) => record.plan.sample.includes(instanceId));
  const id = checkIdOf(record);
  const observed = instances.map(({ instanceId, launchedAt, status }) => {
    const result = status?.checks.find(one => one.checkId === id);
    return {
      instanceId,
      since: Math.max(associatedAt, launchedAt?.getTime() ?? 0),
      ...(result && { result }),
    };
  });
  const members = digest(instances.map(({ instanceId }) => instanceId));
  const counted = countLook(
    observed,
    members,
    sinceChange(streak, check),
    Date.now(),
    UNMONITORED_SECONDS * 1000,
  );
  const { unmonitored } = counted;
  if (unmonitored.length > 0 && !(await isAssociated(id, record.group, unmonitored)))
    throw new CheckChanged(
      `Somebody has disassociated ${id} from ${unmonitored.slice(0, 5).join(', ')} while it was adopted.`,
    );
  if (unmonitored.length > 0)
    throw new QuotaExceeded(
      `EC2 reports nothing of ${id} on ${unmonitored.length} instances after ${UNMONITORED_SECONDS} s (${unmonitored.slice(0, 5).join(', ')}): the account's quota of targets is used up. Raise it, or disassociate other checks.`,
    );
  return { check, instances, counted };
}

/** Is the check still on the group, or on one of these instances? */
const isAssociated = async (id: string, group: string, instanceIds: readonly string[]): Promise<boolean> =>
  (await checkAssociations())
    .filter(({ checkId }) => checkId === id)
    .some(one => isOnGroup(one, group) || ('instanceId' in one && instanceIds.includes(one.instanceId)));

/** What was counted before somebody modified the check was counted of another one. */
function sinceChange(streak: Streak, { changedAt }: CheckFacts): Streak {
  const changed = changedAt?.getTime() ?? 0;
  return changed > streak.newerThan ? { ...streak, evaluations: 0, newerThan: changed } : streak;
}

async function lookForHarm(
  record: AdoptionRecord,
  { since: includedAt, deadline: until }: Pick<z.output<typeof observePayload>, 'since' | 'deadline'>,
): Promise<LookAnswer> {
  const { promotedAt = 0, createdAt, request } = record;
  const check = await currentCheck(record, 'included', includedAt);
  const instances = await membersInService(record.group);
  const id = checkIdOf(record);
  const failing = instances.filter(
    ({ status }) =>
      status?.status === 'impaired' &&
      status.checks.some(one => one.checkId === id && one.status === 'failed'),
  );
  const impaired = failing.map(({ instanceId }) => instanceId);
  const activities = await activitiesSince(record.group, new Date(promotedAt * 1000));
  const replacements = activities.map(({ cause }) => cause).filter(isOfApplicationStatus);
  const harm = harmOf({ instances: instances.length, impaired, replacements }, request.impairedPercent);
  if (harm !== undefined)
    throw new CheckDemoted(`${id} is excluded again. ${harm}.${diagnosisBy(check, instances)}`);
  const suppressed = instances.filter(({ status }) => status?.status === 'suppressed').length;
  const latest = Math.min(
    promotedAt + request.watchSeconds + BLIND_WATCH_SECONDS,
    createdAt + MACHINE_TIMEOUT_SECONDS - RETRY_ROOM_SECONDS - ADOPTION_ROOM_SECONDS,
  );
  const now = nowSeconds();
  const { watchSeconds, impairedPercent } = request;
  const watch = { deadline: until, now, watchSeconds, latest, instances: instances.length, suppressed };
  const deadline = watchedUntil(watch, impairedPercent);
  const waitSeconds = nextWait(now, deadline, LOOK_SECONDS);
  return {
    verdict: waitSeconds > 0 ? 'waiting' : 'met',
    waitSeconds,
    deadline,
    streak: NO_STREAK,
    instances: instances.length,
    reasons: [
      ...(suppressed > 0 ? [`${suppressed} instances are suppressed, so no harm shows there`] : []),
      ...impaired.map(instanceId => `${instanceId} is impaired`),
    ],
  };
}

const NO_STREAK: Streak = { evaluations: 0, newerThan: 0, members: '' };

const digest = (ids: readonly string[]): string =>
  createHash('sha256').update(ids.toSorted().join(' ')).digest('hex').slice(0, 16);
