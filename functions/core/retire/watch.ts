import { securityGroups } from '../aws/security-groups.ts';
import { startExecution } from '../aws/step-functions.ts';
import { type CheckInterface, hourlyCost, InterfaceUse } from '../domain/check-interfaces.ts';
import {
  forgetInterface,
  type KnownInterface,
  knownInterfaces,
  rememberInterface,
} from '../ledger/check-interfaces.ts';
import { unfinishedRetirements } from '../ledger/retirements.ts';
import type { Measure } from '../metrics.ts';
import { executionName } from '../naming.ts';
import { subjectOf } from '../retirement-request.ts';
import { type OptInTag, setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { checksInUse } from './checks-in-use.ts';
import { everyCheckInterface } from './every-interface.ts';
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
  const known = new Map((await knownInterfaces()).map(one => [one.id, one]));
  const seen = (await everyCheckInterface()).map(({ id, subnetId, securityGroupIds }) => ({
    id,
    subnetId,
    securityGroupIds,
  }));
  const current = seen.map(one => nowKnown(one, use.usersOf(one), known.get(one.id), now));
  for (const one of current)
    if (JSON.stringify(one) !== JSON.stringify(known.get(one.id))) await rememberInterface(one);
  const gone = [...known.values()].filter(({ id }) => !seen.some(one => one.id === id));
  const lingering = current.filter(({ lingersSince }) => lingersSince !== undefined);
  const unfinished = await unfinishedRetirements();
  const retiring = new Set<string>();
  const retire = async (subject: string, since: number, input: object) => {
    if (unfinished.some(one => one.subject === subject && one.status === 'live')) return;
    const name = executionName('retire', subject, String(since));
    if ((await startExecution(setting('RETIRE_CHECK_ARN'), name, input)) === 'started') retiring.add(subject);
  };
  const groups = await securityGroups([
    ...new Set([...lingering, ...gone].flatMap(one => one.securityGroupIds)),
  ]);
  // What a retirement has been told to delete stays with it.
  const taken = new Set(unfinished.flatMap(({ plan }) => plan.groupIds));
  const free = ({ securityGroupIds }: CheckInterface) =>
    securityGroupIds
      .flatMap(id => groups.get(id) ?? [])
      .filter(group => isDeletedWhenFree(group, optIn))
      .map(({ id }) => id)
      .filter(id => use.usersOfGroup(id).length === 0 && !taken.has(id));
  for (const one of lingering) {
    const since = one.lingersSince ?? now;
    for (const checkId of one.checkIds) await retire(checkId, since, { checkId, keepCheck: true });
    // Nobody knows whose it was: its group can be deleted all the same.
    if (one.checkIds.length === 0)
      for (const id of free(one)) await retire(id, since, { securityGroupIds: [id] });
  }
  for (const one of gone) {
    for (const id of free(one)) await retire(id, now, { securityGroupIds: [id] });
    await forgetInterface(one.id);
  }
  for (const { outcome, endedAt = now, plan } of unfinished) {
    const securityGroupIds = outcome === 'failed' ? await freeNow(plan.groupIds) : [];
    if (securityGroupIds.length > 0)
      await retire(subjectOf({ securityGroupIds }), endedAt, { securityGroupIds });
  }
  const oldestSeconds = Math.max(0, ...lingering.map(({ lingersSince = now }) => now - lingersSince));
  return {
    interfaces: seen.length,
    lingering: lingering.length,
    oldestSeconds,
    retiring: [...retiring],
    measures: [
      { metric: 'lingering_interfaces', value: lingering.length },
      { metric: 'oldest_lingering_seconds', value: oldestSeconds },
      { metric: 'lingering_dollars_per_hour', value: hourlyCost(lingering.length) },
    ],
  };
}

/** An interface as it is remembered from now on. The checks that needed it last stay in memory when none does. */
function nowKnown(
  { id, subnetId, securityGroupIds }: CheckInterface,
  users: readonly string[],
  before: KnownInterface | undefined,
  now: number,
): KnownInterface {
  if (users.length > 0) return { subnetId, securityGroupIds, checkIds: users, id };
  const { checkIds = [], lingersSince = now } = before ?? {};
  return { subnetId, securityGroupIds, checkIds, lingersSince, id };
}

/** Those of these groups that are there and that nothing holds. */
async function freeNow(groupIds: readonly string[]): Promise<string[]> {
  const held = await whatHolds([...(await securityGroups(groupIds)).keys()]);
  return held.filter(({ blockers }) => blockers.length === 0).map(({ id }) => id);
}
