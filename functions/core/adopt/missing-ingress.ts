import type { InstanceFacts } from '../aws/ec2.ts';
import { cidrsOfSubnets, rulesOfGroups } from '../aws/security-groups.ts';
import { judgeIngress, managedPath, pathEndOf } from '../domain/ingress.ts';

/** The AWS CLI calls that let an AWS-managed check reach these instances; none where it is let in, or nobody can tell. */
export async function missingIngress(instances: readonly InstanceFacts[], port: number): Promise<string[]> {
  const ends = new Map(
    instances.map(pathEndOf).map(end => [[end.subnetId, ...end.groupIds].join(' '), end] as const),
  );
  const seen = {
    rulesByGroup: await rulesOfGroups([...new Set(instances.flatMap(one => one.securityGroupIds))]),
    cidrsBySubnet: await cidrsOfSubnets([...new Set([...ends.values()].map(({ subnetId }) => subnetId))]),
    // Not read: what a prefix list decides is unknown, and the excluded observation decides.
    cidrsByPrefixList: new Map<string, string[]>(),
  };
  const add = [...ends.values()].flatMap(end => {
    const verdict = judgeIngress(managedPath(end, port, 'ipv4'), seen);
    return verdict.kind === 'closed' ? verdict.add.map(({ command }) => command) : [];
  });
  return [...new Set(add)];
}
