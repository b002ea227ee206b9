import { concurrently } from '../aws/batch.ts';
import { type CheckAssociation, checkAssociations } from '../aws/check-associations.ts';
import { allChecks, routeOf } from '../aws/checks.ts';
import { describeInstances, type InstanceFacts, instancesWithTag } from '../aws/instances.ts';
import type { CheckInUse } from '../domain/check-interfaces.ts';
import { pathEndOf } from '../domain/ingress.ts';
import { DESCRIBES_AT_ONCE } from '../limits.ts';

/** A check that exists, with whatever it is associated with now. */
export interface AssociatedCheck extends CheckInUse {
  readonly associations: readonly CheckAssociation[];
  readonly members: readonly InstanceFacts[];
}

/**
 * The checks of the account, and the instances that each is on: by its associations, not by what EC2 reports, which lags and
 * leaves out what is over the quota (D47).
 */
export async function checksInUse(): Promise<AssociatedCheck[]> {
  const checks = await allChecks();
  const associations = await checkAssociations();
  const named = associations.flatMap(one => ('instanceId' in one ? [one.instanceId] : []));
  const instances = await describeInstances(named);
  const tags = new Map(
    associations.flatMap(one => ('tag' in one ? [[JSON.stringify(one.tag), one.tag] as const] : [])),
  );
  const tagged = new Map(
    await concurrently([...tags], DESCRIBES_AT_ONCE, async ([tag, { key, value }]) => {
      return [tag, await instancesWithTag(key, value)] as const;
    }),
  );
  const membersOf = (one: CheckAssociation): readonly InstanceFacts[] => {
    if ('tag' in one) return tagged.get(JSON.stringify(one.tag)) ?? [];
    const found = instances.get(one.instanceId);
    return found && found.state !== 'terminated' ? [found] : [];
  };
  return checks.map(check => {
    const id = check.ApplicationStatusCheckId ?? '';
    const own = associations.filter(({ checkId }) => checkId === id);
    const members = own.flatMap(membersOf);
    return {
      id,
      associations: own,
      members,
      instances: members.map(pathEndOf),
      route: routeOf(check),
      isAssociated: own.length > 0,
    };
  });
}
