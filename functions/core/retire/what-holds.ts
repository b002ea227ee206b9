import { concurrently } from '../aws/batch.ts';
import { interfacesInGroups } from '../aws/network-interfaces.ts';
import { groupsReferringTo, vpcsAssociatedWith } from '../aws/security-groups.ts';
import type { HeldGroup } from '../domain/group-blockers.ts';
import { DESCRIBES_AT_ONCE } from '../limits.ts';

/** What keeps each of these security groups from being deleted: interfaces, rules of other groups, VPCs (D34). */
export async function whatHolds(groupIds: readonly string[]): Promise<HeldGroup[]> {
  const interfaces = await interfacesInGroups(groupIds);
  return concurrently(groupIds, DESCRIBES_AT_ONCE, async id => {
    const own = interfaces.filter(({ securityGroupIds }) => securityGroupIds.includes(id));
    return {
      id,
      blockers: [
        ...own.map(found => ({ kind: 'interface', found }) as const),
        ...(await groupsReferringTo(id)).map(groupId => ({ kind: 'rule', groupId }) as const),
        ...(await vpcsAssociatedWith(id)).map(vpcId => ({ kind: 'vpc', vpcId }) as const),
      ],
    };
  });
}
