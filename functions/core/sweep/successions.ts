import { groupTag } from '../adopt/group-tag.ts';
import { groups } from '../aws/auto-scaling.ts';
import { disassociateOrConfirm } from '../aws/confirmed-association.ts';
import { forgetSuccession, type Succession } from '../ledger/successions.ts';

/**
 * Takes the checks off the Auto Scaling groups of a blue/green deployment that are gone: the original ones after it went well,
 * the copy after it did not. What names a group that is not there counts against the quotas, and holds nothing.
 *
 * @returns whether a group was gone
 * @throws AggregateError of what could not be taken off, after everything else was: the next sweep goes on
 */
export async function endSuccession({ deploymentId, to, from, checkIds }: Succession): Promise<boolean> {
  const all = [to, ...from];
  const there = await groups(all);
  const gone = all.filter(group => !there.has(group));
  const failures: unknown[] = [];
  for (const group of gone)
    for (const id of checkIds)
      await disassociateOrConfirm(id, { tag: groupTag(group) }).catch((error: unknown) =>
        failures.push(error),
      );
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
  // Whatever is left of them then is a group like any other.
  if (gone.includes(to) || gone.length === from.length) await forgetSuccession(deploymentId);
  return gone.length > 0;
}
