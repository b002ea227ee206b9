import { groupMemberships, groups } from '../aws/auto-scaling.ts';
import type { Member } from '../domain/fleet.ts';
import { isSetAside } from '../domain/lifecycle.ts';
import type { RunRecord } from '../ledger/items.ts';

/**
 * Members that are not the run's to bring into service any more: their Auto Scaling group is ending them (EC2 may show them as
 * running for hours, while lifecycle hooks keep them), has retained them or taken them into its warm pool, or somebody has put
 * them in Standby. They are finished: nothing is waited for, and nothing is registered again (R-GONE, R-LIFECYCLE).
 *
 * One read a group tells it of every member, however many there are. Only those that their group does not list are asked for
 * by name: a group does not list its warm pool.
 *
 * @returns by instance, its lifecycle state
 */
export async function setAsideAmong(
  run: RunRecord,
  members: readonly Member[],
  read = { groups, groupMemberships },
): Promise<ReadonlyMap<string, string>> {
  const grouped = members.filter(({ autoScalingGroup }) => autoScalingGroup !== undefined);
  const names = new Set(grouped.flatMap(({ autoScalingGroup }) => autoScalingGroup ?? []));
  if (names.size === 0) return new Map();
  const listed = [...(await read.groups([...names].sort())).values()].flatMap(({ instances }) => instances);
  const known = new Map(listed.map(({ instanceId, lifecycleState }) => [instanceId, lifecycleState]));
  const unlisted = grouped.map(({ instanceId }) => instanceId).filter(id => !known.has(id));
  if (unlisted.length > 0)
    for (const [id, { lifecycleState }] of await read.groupMemberships(unlisted))
      known.set(id, lifecycleState);
  // What the run itself has put there it brings back.
  const ours = new Set(run.plan.holdings.filter(({ mode }) => mode === 'standby').map(({ group }) => group));
  const isOurs = ({ autoScalingGroup = '' }: Member, state: string) =>
    ours.has(autoScalingGroup) && state.endsWith('Standby');
  return new Map(
    grouped.flatMap((member): [string, string][] => {
      const state = known.get(member.instanceId);
      if (state === undefined || !isSetAside(state) || isOurs(member, state)) return [];
      return [[member.instanceId, state]];
    }),
  );
}
