import { diagnosisBy } from '../adopt/diagnose-check.ts';
import { groupIn } from '../adopt/group-tag.ts';
import { type Member, membersOfGroups } from '../adopt/members.ts';
import { missingIngress } from '../adopt/missing-ingress.ts';
import { applicationStatusChecks, type CheckFacts } from '../aws/application-status.ts';
import { activitiesSince } from '../aws/auto-scaling.ts';
import { checkAssociations } from '../aws/check-associations.ts';
import { checkBesides, checksWithTag, setAggregation } from '../aws/checks.ts';
import { describeInstances } from '../aws/instances.ts';
import { startExecution } from '../aws/step-functions.ts';
import { isOfApplicationStatus } from '../domain/adoption.ts';
import type { DemotionTopic } from '../domain/demotion-announcement.ts';
import type { Inclusion } from '../domain/inclusion.ts';
import { observedCheck } from '../domain/observed-fleet.ts';
import {
  type Exposed,
  failsThrough,
  isOver,
  type Loop,
  loopOf,
  mayLoop,
} from '../domain/replacement-loop.ts';
import { isConnectionTimeout } from '../domain/symptoms.ts';
import { findAdoption } from '../ledger/adoptions.ts';
import {
  beginDemotion,
  type Demotion,
  endDemotion,
  findDemotion,
  nameIncluder,
} from '../ledger/demotions.ts';
import type { Measure } from '../metrics.ts';
import { executionName } from '../naming.ts';
import { type OptInTag, setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';

/** What one look has found and done, by check. */
export interface LoopsBroken {
  readonly demoted: readonly string[];
  /** Those that would have been demoted. */
  readonly observed: readonly string[];
  /** Demoted checks whose cause is gone. */
  readonly over: readonly string[];
}

/** How many checks a look has acted on, by what it did. */
export const measuresOf = (broken: LoopsBroken): Measure[] =>
  (['demoted', 'observed', 'over'] as const)
    .map(what => ({ metric: 'loop_total' as const, what, value: broken[what].length }))
    .filter(({ value }) => value > 0);

export type BreakerMode = 'demote' | 'observe';

/** Replacements longer ago are no part of a loop that goes on now. Ours: five were measured in 14 minutes. */
const RECENT_SECONDS = 3600;

interface CheckOnGroups {
  readonly check: CheckFacts;
  /** By the names of those of its groups that are there. */
  readonly members: ReadonlyMap<string, readonly Member[]>;
}

/**
 * Looks at every check of ours that is on Auto Scaling groups, and excludes those that have, or are about to have, instances
 * replaced one after the other. Decided from the groups' activities and statuses alone. A demoted check that somebody includes
 * again is demoted again for as long as its cause lasts (D40); none is ever included.
 *
 * Every look is one describe each of checks, associations, groups, statuses and instances, by pages and chunks of 50 and 100,
 * and one of activities for a group of which an instance has never passed: well below EC2's and Auto Scaling's buckets.
 *
 * @param inclusion what CloudTrail has just told of, if that is why to look
 * @throws AggregateError of what could not be looked at or done, after everything else was: the next look is a minute away
 */
export async function breakLoops(
  tag: OptInTag,
  mode: BreakerMode,
  inclusion?: Inclusion,
): Promise<LoopsBroken> {
  // Before the look, so that what is told of it has the name.
  const named = inclusion && (await nameIncluder(inclusion.checkId, inclusion.by));
  const acted = { demoted: [] as string[], observed: [] as string[], over: [] as string[] };
  const failures: unknown[] = [];
  for (const one of await checksOnGroups(tag)) {
    try {
      const what = await lookAt(one, mode);
      if (what !== undefined) acted[what].push(one.check.id);
    } catch (error) {
      // One check must not keep the others in their loops (R-PARTIAL).
      failures.push(error);
    }
  }
  // What was told without the name.
  if (named?.told.includes('again') && !named.told.includes('named')) await tell(named, 'named');
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
  return acted;
}

async function checksOnGroups({ key, value }: OptInTag): Promise<CheckOnGroups[]> {
  const ids = await checksWithTag(key, value);
  if (ids.length === 0) return [];
  const checks = await applicationStatusChecks(ids);
  const associations = await checkAssociations();
  const names = (id: string) => associations.flatMap(one => (one.checkId === id ? (groupIn(one) ?? []) : []));
  const members = await membersOfGroups([...new Set([...checks.keys()].flatMap(names))]);
  return [...checks.values()].map(check => ({
    check,
    members: new Map(
      names(check.id).flatMap(name => {
        const some = members.get(name);
        return some ? [[name, some] as const] : [];
      }),
    ),
  }));
}

async function lookAt(one: CheckOnGroups, mode: BreakerMode): Promise<keyof LoopsBroken | undefined> {
  const before = await findDemotion(one.check.id);
  const open = before && isOpen(before) ? before : undefined;
  const what = await actOn(one, open, mode);
  // Where an earlier look has acted and could not say so: by its name it is said once.
  if (open && what === undefined && !open.told.includes(open.status)) await tell(open, open.status);
  return what;
}

type OpenDemotion = Demotion & { readonly status: 'demoted' | 'observed' };

const isOpen = (demotion: Demotion): demotion is OpenDemotion => demotion.status !== 'over';

async function actOn(
  one: CheckOnGroups,
  open: OpenDemotion | undefined,
  mode: BreakerMode,
): Promise<keyof LoopsBroken | undefined> {
  const { check, members } = one;
  // It is on none of them any more: a loop elsewhere is another one.
  if (open && !open.groups.some(group => members.has(group)))
    return (await endDemotion(open)) ? 'over' : undefined;
  if (
    open &&
    isOver(
      [...members.values()].map(some => exposedTo(check, some)),
      open,
    )
  ) {
    await tell(open, open.status === 'observed' ? 'passed' : 'over');
    return (await endDemotion(open)) ? 'over' : undefined;
  }
  if (check.aggregation !== 'included' || (await isBeingAdopted(one))) return undefined;
  // D40: its cause lasts, so it is not asked for again.
  if (open?.status === 'demoted') return mode === 'demote' ? again(open, check) : undefined;
  if (open && mode === 'observe') return undefined;
  const loop = await loopUnder(one);
  return loop && demote(one, loop, mode);
}

/** An adoption that is live demotes its own check itself, and says why. */
async function isBeingAdopted({ check, members }: CheckOnGroups): Promise<boolean> {
  for (const group of members.keys()) {
    const adoption = await findAdoption(group);
    if (adoption?.status === 'live' && adoption.checkId === check.id) return true;
  }
  return false;
}

async function loopUnder({ check, members }: CheckOnGroups): Promise<Loop | undefined> {
  for (const [group, some] of members) {
    const instances = exposedTo(check, some);
    // First what the statuses alone show: it must not wait for activities that cannot be read.
    const loop =
      loopOf({ group, instances, endings: [] }) ??
      (mayLoop(instances) ? loopOf({ group, instances, endings: await endingsIn(group, check) }) : undefined);
    if (loop) return { ...loop, why: `${loop.why}${diagnosisBy(check, some)}${await advice(check, some)}` };
  }
  return undefined;
}

async function endingsIn(group: string, { changedAt }: CheckFacts): Promise<number[]> {
  const since = Math.max((nowSeconds() - RECENT_SECONDS) * 1000, changedAt?.getTime() ?? 0);
  const activities = await activitiesSince(group, new Date(since));
  return activities
    .filter(({ cause }) => isOfApplicationStatus(cause))
    .map(({ startedAt }) => startedAt.getTime());
}

/** Never fails: an advice that cannot be given must not keep the loop from being broken. */
const advice = (check: CheckFacts, members: readonly Member[]): Promise<string> =>
  whatToAdd(check, members).catch(
    (error: unknown) => ` What the security groups lack could not be read: ${error}.`,
  );

/** The rules that a closed security group lacks; empty where that is not it. */
async function whatToAdd({ id, port }: CheckFacts, members: readonly Member[]): Promise<string> {
  const isBlocked = ({ status }: Member) =>
    status?.checks.some(({ checkId, code }) => checkId === id && isConnectionTimeout(code)) ?? false;
  const blocked = members.filter(isBlocked).map(({ instanceId }) => instanceId);
  const besides = blocked.length === 0 ? undefined : await checkBesides(id);
  if (!besides) return '';
  const add = await missingIngress([...(await describeInstances(blocked)).values()], port, besides.route);
  return add.length === 0 ? '' : ` Add:\n${add.join('\n')}`;
}

async function demote(
  { check: { id: checkId }, members }: CheckOnGroups,
  { why: cause, inVain }: Loop,
  mode: BreakerMode,
): Promise<'demoted' | 'observed' | undefined> {
  const status = mode === 'demote' ? 'demoted' : 'observed';
  const demotion = { checkId, status, at: nowSeconds(), groups: [...members.keys()], inVain, cause } as const;
  // Written first: of two looks at once one acts (R-SERIAL).
  if (!(await beginDemotion(demotion))) return undefined;
  if (mode === 'demote') await setAggregation(checkId, 'excluded');
  await tell(demotion, status);
  return status;
}

async function again(demotion: Demotion, { changedAt }: CheckFacts): Promise<'demoted'> {
  await setAggregation(demotion.checkId, 'excluded');
  // Nobody has included it again where an earlier look has failed to exclude it, or where a description lies behind.
  const isIncludedAgain = (changedAt?.getTime() ?? 0) > demotion.at * 1000;
  await tell(demotion, isIncludedAgain && demotion.told.includes('demoted') ? 'again' : 'demoted');
  return 'demoted';
}

/** Has people told by another machine: what fails there must not keep a loop from being broken. */
async function tell({ checkId, at }: Pick<Demotion, 'checkId' | 'at'>, what: DemotionTopic): Promise<void> {
  const name = executionName('tell', checkId, `${at} ${what}`);
  await startExecution(setting('TELL_PEOPLE_ARN'), name, { checkId, what, at });
}

/** Those of the members that the check decides about: it reports on them, and they are not suppressed. */
function exposedTo(check: CheckFacts, members: readonly Member[]): Exposed[] {
  return members.flatMap(({ instanceId, launchedAt, status }) => {
    const result = status?.checks.find(({ checkId }) => checkId === check.id);
    if (!result || !launchedAt || status?.status === 'suppressed') return [];
    return [
      {
        instanceId,
        launchedAt: launchedAt.getTime(),
        check: observedCheck(result, launchedAt, check),
        failsThrough: failsThrough(result, check),
      },
    ];
  });
}
