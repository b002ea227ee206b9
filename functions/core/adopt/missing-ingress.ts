import type { InstanceFacts } from '../aws/instances.ts';
import { cidrsOfSubnets, rulesOfGroups } from '../aws/security-groups.ts';
import { type CheckRoute, judgeIngress, pathEndOf, pathsTo } from '../domain/ingress.ts';

/** The AWS CLI calls that let a check reach these instances; none where it is let in, or nobody can tell. */
export async function missingIngress(
  instances: readonly InstanceFacts[],
  port: number,
  route: CheckRoute,
): Promise<string[]> {
  const ends = new Map(
    instances.map(pathEndOf).map(end => [[end.subnetId, ...end.groupIds].join(' '), end] as const),
  );
  const paths = [...ends.values()].map(end => pathsTo(end, port, route));
  const places = paths.flat().flatMap(({ source, destination }) => [source, destination]);
  const seen = {
    rulesByGroup: await rulesOfGroups([...new Set(places.flatMap(({ groupIds }) => groupIds))]),
    cidrsBySubnet: await cidrsOfSubnets([...new Set(places.map(({ subnetId }) => subnetId))]),
    // Not read: what a prefix list decides is unknown, and the excluded observation decides.
    cidrsByPrefixList: new Map<string, string[]>(),
  };
  const add = paths.flatMap(some => {
    const verdicts = some.map(path => judgeIngress(path, seen));
    const closed = verdicts.flatMap(verdict => (verdict.kind === 'closed' ? [verdict] : []));
    // Of several ways to an instance one that may be open is enough to leave it to the observation.
    return closed.length < verdicts.length
      ? []
      : closed.flatMap(({ add }) => add.map(({ command }) => command));
  });
  return [...new Set(add)];
}
