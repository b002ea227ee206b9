import { type TargetHealthFacts, targetHealth } from '../aws/elastic-load-balancing.ts';
import { describeInstances } from '../aws/instances.ts';
import { type Member, targetKey } from '../domain/fleet.ts';
import { isRegistered, type SeenTarget } from '../domain/floors.ts';
import type { PlannedGroup } from '../domain/plan.ts';
import { TargetGroupUnknown } from '../errors.ts';

/** The health of a group's targets; undefined when the group was deleted under the run: nothing is left to move or wait for (R-GONE). */
export async function healthUnlessGone(
  arn: string,
  read: typeof targetHealth = targetHealth,
): Promise<TargetHealthFacts[] | undefined> {
  try {
    return await read(arn);
  } catch (error) {
    if (error instanceof TargetGroupUnknown) return undefined;
    throw error;
  }
}

/**
 * Target health as the floors read it. The zone of an instance target is its instance's, since the target's own is not
 * listed (D27); it is looked up only where each zone counts for itself.
 */
export async function seenTargets(
  group: PlannedGroup,
  health: readonly TargetHealthFacts[],
  members: readonly Member[],
): Promise<SeenTarget[]> {
  const zones = new Map(
    members.flatMap(({ instanceId, addresses, zone }) =>
      [instanceId, ...addresses].map(id => [id, zone] as const),
    ),
  );
  const strangers = health
    .filter(seen => !group.floor.crossZone && isRegistered(seen) && !zones.has(seen.target.id))
    .map(seen => seen.target.id)
    .filter(id => id.startsWith('i-'));
  for (const [id, facts] of await describeInstances([...new Set(strangers)])) zones.set(id, facts.zone);
  return health.map(({ target, state, reason, zonalShift }) => ({
    key: targetKey(target),
    zone: zones.get(target.id) ?? target.availabilityZone ?? 'unknown',
    state,
    reason,
    shifted: zonalShift,
  }));
}

/** What leaves this group with these members. */
export const leavingKeys = (members: readonly Member[], group: PlannedGroup): ReadonlySet<string> =>
  new Set(
    members
      .flatMap(member => member.memberships)
      .filter(membership => membership.targetGroupArn === group.arn)
      .map(membership => targetKey(membership.target)),
  );
