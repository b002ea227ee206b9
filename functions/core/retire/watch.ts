import { isDeepStrictEqual } from 'node:util';
import { securityGroups } from '../aws/security-groups.ts';
import { startExecution } from '../aws/step-functions.ts';
import { type CheckInterface, hourlyCost, InterfaceUse } from '../domain/check-interfaces.ts';
import { forgetInterface, type KnownInterface, rememberInterface } from '../ledger/check-interfaces.ts';
import { unfinishedRetirements } from '../ledger/retirements.ts';
import type { Measure } from '../metrics.ts';
import { executionName } from '../naming.ts';
import { subjectOf } from '../retirement-request.ts';
import { type OptInTag, setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { checksInUse } from './checks-in-use.ts';
import { awaitedGroups, everyCheckInterface, type RememberedInterface } from './every-interface.ts';
import { isDeletedWhenFree } from './plan.ts';
import { whatHolds } from './what-holds.ts';

export interface Watched {
  readonly interfaces: number;
  readonly lingering: number;
  readonly oldestSeconds: number;
  /** The checks, and security groups, whose retirement was begun now. */
  readonly retiring: readonly string[];
  readonly measures: readonly Measure[];
}

/**
 * Looks at every interface from which checks are asked, remembers which checks need it, and retires what none needs any more:
 * events are best effort, this is the truth (R-SWEEP).
 */
export async function watchInterfaces(optIn: OptInTag): Promise<Watched> {
  const now = nowSeconds();
  const use = new InterfaceUse(await checksInUse());
  const every = await everyCheckInterface();
  const { there, gone } = every;
  const current = there.map(one => nowKnown(one, use.usersOf(one), now));
  for (const [index, one] of current.entries())
    if (!isDeepStrictEqual(one, there[index]?.known)) await rememberInterface(one);
  const lingering = current.flatMap(({ lingersSince, ...one }) =>
    lingersSince === undefined ? [] : { ...one, lingersSince },
  );
  const awaited = awaitedGroups(every, use);
  const isNeeded = (groupId: string) => use.usersOfGroup(groupId).length > 0 || awaited.has(groupId);
  const retiring: string[] = [];
  for (const { subject, since, input } of await retirementsOf({ lingering, gone, isNeeded, optIn, now })) {
    const name = executionName('retire', subject, String(since));
    if ((await startExecution(setting('RETIRE_CHECK_ARN'), name, input)) === 'started')
      retiring.push(subject);
  }
  // What is awaited stays in memory, so that its group is retired when the check is; one at the same place stands for it.
  const isStill = (one: KnownInterface) =>
    use.isAwaited(one.checkIds) && !current.some(other => placeOf(other) === placeOf(one));
  for (const one of gone) if (!isStill(one)) await forgetInterface(one.id);
  const oldestSeconds = Math.max(0, ...lingering.map(({ lingersSince }) => now - lingersSince));
  return {
    interfaces: there.length,
    lingering: lingering.length,
    oldestSeconds,
    retiring,
    measures: [
      { metric: 'lingering_interfaces', value: lingering.length },
      { metric: 'oldest_lingering_seconds', value: oldestSeconds },
      { metric: 'lingering_dollars_per_hour', value: hourlyCost(lingering.length) },
    ],
  };
}

const placeOf = ({ subnetId, securityGroupIds }: CheckInterface): string =>
  JSON.stringify([subnetId, securityGroupIds.toSorted()]);

interface Left {
  readonly lingering: readonly (KnownInterface & { readonly lingersSince: number })[];
  readonly gone: readonly KnownInterface[];
  /** Is it asked from, or will it be? */
  readonly isNeeded: (groupId: string) => boolean;
  readonly optIn: OptInTag;
  readonly now: number;
}

/** A retirement to begin; one of the same subject and instant has the same name, and is begun once. */
interface Begin {
  readonly subject: string;
  readonly since: number;
  readonly input: object;
}

/** What has to be retired of what is left, and has no retirement yet: each subject once. */
async function retirementsOf({ lingering, gone, isNeeded, optIn, now }: Left): Promise<Begin[]> {
  const unfinished = await unfinishedRetirements();
  // What lingers is waited for by its retirement, or has outlasted it, of which people were told.
  const unattended = lingering.filter(
    ({ id }) => !unfinished.some(({ plan }) => plan.interfaceIds.includes(id)),
  );
  // What a retirement has been told to delete stays with it.
  const taken = unfinished.flatMap(({ plan }) => plan.groupIds);
  const groups = await securityGroups([
    ...new Set([...unattended, ...gone].flatMap(({ securityGroupIds }) => securityGroupIds)),
  ]);
  const groupsOf = ({ securityGroupIds }: CheckInterface, since: number): Begin[] =>
    securityGroupIds
      .flatMap(id => groups.get(id) ?? [])
      .filter(group => isDeletedWhenFree(group, optIn))
      .filter(({ id }) => !isNeeded(id) && !taken.includes(id))
      .map(({ id }) => ({ subject: id, since, input: { securityGroupIds: [id] } }));
  const inHand = unfinished.flatMap(({ endedAt, plan }) => (endedAt === undefined ? plan.groupIds : []));
  const again = await Promise.all(
    unfinished.map(async ({ endedAt, plan }): Promise<Begin[]> => {
      const securityGroupIds =
        endedAt === undefined
          ? []
          : await freeNow(plan.groupIds.filter(id => !inHand.includes(id) && !isNeeded(id)));
      if (endedAt === undefined || securityGroupIds.length === 0) return [];
      return [{ subject: subjectOf({ securityGroupIds }), since: endedAt, input: { securityGroupIds } }];
    }),
  );
  return onceEach([
    ...unattended.flatMap((one): Begin[] =>
      // Where nobody knows whose it was, its group can be deleted all the same.
      one.checkIds.length === 0
        ? groupsOf(one, one.lingersSince)
        : one.checkIds.map(checkId => ({
            subject: checkId,
            since: one.lingersSince,
            input: { checkId, keepCheck: true },
          })),
    ),
    ...gone.flatMap(one => groupsOf(one, now)),
    ...again.flat(),
  ]);
}

/** Two of one subject would be in each other's way. The latest one: an earlier may have been begun before. */
const onceEach = (begins: readonly Begin[]): Begin[] => [
  ...new Map(begins.toSorted((a, b) => a.since - b.since).map(one => [one.subject, one])).values(),
];

/** An interface as it is remembered from now on. The checks that needed it last stay in memory when none does. */
function nowKnown(
  { id, subnetId, securityGroupIds, known }: RememberedInterface,
  users: readonly string[],
  now: number,
): KnownInterface {
  if (users.length > 0) return { subnetId, securityGroupIds, checkIds: users, id };
  const { checkIds = [], lingersSince = now } = known ?? {};
  return { subnetId, securityGroupIds, checkIds, lingersSince, id };
}

/** Those of these groups that are there and that nothing holds. */
async function freeNow(groupIds: readonly string[]): Promise<string[]> {
  const held = await whatHolds([...(await securityGroups(groupIds)).keys()]);
  return held.filter(({ blockers }) => blockers.length === 0).map(({ id }) => id);
}
