import { createHash } from 'node:crypto';
import type { z } from 'zod/mini';
import { causesSince, groups } from '../aws/auto-scaling.ts';
import {
  type ApplicationStatusFacts,
  applicationStatuses,
  type CheckFacts,
  describeInstances,
} from '../aws/ec2.ts';
import { type Counted, countLook, harmOf, isOfApplicationStatus, type Streak } from '../domain/adoption.ts';
import { diagnose } from '../domain/diagnosis.ts';
import { type ObservedInstance, passedSince } from '../domain/observed-fleet.ts';
import { nextWait } from '../domain/pace.ts';
import { AutoScalingGroupUnknown, CheckDemoted, CheckNotProven, QuotaExceeded } from '../errors.ts';
import { type AdoptionRecord, ownAdoption } from '../ledger/adoptions.ts';
import { UNMONITORED_SECONDS } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { checkIdOf, currentCheck } from './check.ts';
import type { observePayload } from './payloads.ts';

/** What a look answers to the machine. Every member is always there (D15). */
export interface LookAnswer {
  readonly verdict: 'met' | 'waiting';
  readonly waitSeconds: number;
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
 * @throws CheckChanged, QuotaExceeded, CheckNotProven, CheckDemoted
 */
export async function lookAtCheck(looking: z.output<typeof observePayload>): Promise<LookAnswer> {
  const record = await ownAdoption(looking.group, looking.execution);
  const waitSeconds = nextWait(nowSeconds(), looking.deadline, LOOK_SECONDS);
  if (looking.of === 'harm') return lookForHarm(record, waitSeconds);
  const seen = await count(record, looking.of, looking.streak, looking.since);
  const { evaluations, newerThan, members, reasons } = seen.counted;
  const answer = {
    waitSeconds,
    streak: { evaluations, newerThan, members },
    instances: seen.instances.length,
    reasons: reasons.slice(0, 5),
  };
  if (evaluations >= record.request.evaluations) return { ...answer, verdict: 'met' };
  if (waitSeconds > 0) return { ...answer, verdict: 'waiting' };
  const what = [`${evaluations} until now`, ...reasons.slice(0, 10)].join('; ');
  throw new CheckNotProven(
    `Not every instance has passed ${record.request.evaluations} evaluations in a row: ${what}.${sentences(record, seen)}`,
  );
}

/** What one look has read of the group. */
export interface Seen {
  readonly check: CheckFacts | undefined;
  readonly instances: readonly Member[];
  readonly counted: Counted;
}

interface Member {
  readonly instanceId: string;
  readonly zone: string;
  readonly launchedAt: number;
  readonly status: ApplicationStatusFacts | undefined;
}

/** Counts a look at the instances in service, or at those of them that are in the sample. @throws CheckChanged, QuotaExceeded */
export async function count(
  record: AdoptionRecord,
  of: 'sample' | 'group',
  streak: Streak,
  associatedAt: number,
): Promise<Seen> {
  const check = await currentCheck(record, 'excluded');
  const inService = await membersOf(record);
  const instances =
    of === 'group'
      ? inService
      : inService.filter(({ instanceId }) => record.plan.sample.includes(instanceId));
  const id = checkIdOf(record);
  const observed = instances.map(({ instanceId, launchedAt, status }) => {
    const result = status?.checks.find(one => one.checkId === id);
    return { instanceId, since: Math.max(associatedAt, launchedAt), ...(result && { result }) };
  });
  const members = digest(instances.map(({ instanceId }) => instanceId));
  const counted = countLook(observed, members, streak, Date.now(), UNMONITORED_SECONDS * 1000);
  const { unmonitored } = counted;
  if (unmonitored.length > 0)
    throw new QuotaExceeded(
      `EC2 reports nothing of ${id} on ${unmonitored.length} instances after ${UNMONITORED_SECONDS} s (${unmonitored.slice(0, 5).join(', ')}): the account's quota of targets is used up. Raise it, or disassociate other checks.`,
    );
  return { check, instances, counted };
}

async function lookForHarm(record: AdoptionRecord, waitSeconds: number): Promise<LookAnswer> {
  const check = await currentCheck(record, 'included');
  const instances = await membersOf(record);
  const id = checkIdOf(record);
  const failing = instances.filter(
    ({ status }) =>
      status?.status === 'impaired' &&
      status.checks.some(one => one.checkId === id && one.status === 'failed'),
  );
  const impaired = failing.map(({ instanceId }) => instanceId);
  const causes = await causesSince(record.group, new Date((record.promotedAt ?? 0) * 1000));
  const replacements = causes.filter(isOfApplicationStatus);
  const harm = harmOf(
    { instances: instances.length, impaired, replacements },
    record.request.impairedPercent,
  );
  if (harm !== undefined)
    throw new CheckDemoted(`${id} is excluded again. ${harm}.${sentences(record, { check, instances })}`);
  return {
    verdict: waitSeconds > 0 ? 'waiting' : 'met',
    waitSeconds,
    streak: NO_STREAK,
    instances: instances.length,
    reasons: impaired.map(instanceId => `${instanceId} is impaired`),
  };
}

const NO_STREAK: Streak = { evaluations: 0, newerThan: 0, members: '' };

/** The instances of the group that are in service, with what EC2 reports of them. @throws AutoScalingGroupUnknown */
async function membersOf({ group: name }: AdoptionRecord): Promise<Member[]> {
  const group = (await groups([name])).get(name);
  if (!group) throw new AutoScalingGroupUnknown(`Auto Scaling group ${name} is gone.`);
  const ids = group.instances
    .filter(({ lifecycleState }) => lifecycleState === 'InService')
    .map(({ instanceId }) => instanceId);
  const statuses = await applicationStatuses(ids);
  const facts = await describeInstances(ids);
  return [...facts.values()].map(({ id: instanceId, zone, launchedAt }) => ({
    instanceId,
    zone,
    launchedAt: launchedAt?.getTime() ?? 0,
    status: statuses.get(instanceId),
  }));
}

/** What is wrong with the instances by this check, as `quiesce diagnose` says it. */
function sentences(record: AdoptionRecord, { check, instances }: Pick<Seen, 'check' | 'instances'>): string {
  const findings = diagnose({
    instances: instances.map(one => asObserved(one, record, check)),
    groups: [],
  }).findings;
  return findings.map(({ summary }) => ` ${summary}`).join('');
}

function asObserved(
  { instanceId, zone, launchedAt, status }: Member,
  { checkId }: AdoptionRecord,
  check: CheckFacts | undefined,
): ObservedInstance {
  const checkChangedAt = check?.changedAt?.getTime();
  const checks = (status?.checks ?? [])
    .filter(one => one.checkId === checkId)
    .map(({ since, ...result }) => {
      const seen = { ...result, ...(since && { since: since.getTime() }) };
      return {
        ...seen,
        passedSinceChange: check
          ? passedSince(seen, { launchedAt, checkChangedAt }, check)
          : ('unknown' as const),
      };
    });
  return { instanceId, zone, suppressed: status?.status === 'suppressed', checks, targets: [] };
}

const digest = (ids: readonly string[]): string =>
  createHash('sha256').update(ids.toSorted().join(' ')).digest('hex').slice(0, 16);
