import { groups } from '../aws/auto-scaling.ts';
import type { Member } from '../domain/fleet.ts';
import { isLeaving } from '../domain/lifecycle.ts';

/**
 * Members that their Auto Scaling group is ending. EC2 may show them as running for hours, while lifecycle hooks keep them; they
 * are finished all the same: nothing is waited for, and nothing is registered again (R-GONE).
 *
 * One read a group tells it of every member, however many there are.
 */
export async function leavingAmong(
  members: readonly Member[],
  read: typeof groups = groups,
): Promise<ReadonlySet<string>> {
  const names = new Set(members.flatMap(({ autoScalingGroup }) => autoScalingGroup ?? []));
  if (names.size === 0) return new Set();
  const found = [...(await read([...names].sort())).values()].flatMap(({ instances }) => instances);
  return new Set(found.filter(one => isLeaving(one.lifecycleState)).map(({ instanceId }) => instanceId));
}
