import { type Member, targetKey } from '../domain/fleet.ts';
import type { StatusSeen, TargetSeen } from '../domain/goals.ts';
import { changeOf } from '../domain/readiness.ts';
import type { RunRecord } from '../ledger/items.ts';
import type { Measure } from '../metrics.ts';

/** Healthy targets of the members, by target group and zone; a zone without one counts nought. */
export function measureHealthy(
  run: RunRecord,
  members: readonly Member[],
  targets: ReadonlyMap<string, ReadonlyMap<string, TargetSeen>>,
): Measure[] {
  return run.plan.groups.flatMap(group => {
    const healthy = new Map<string, number>();
    for (const { zone, memberships } of members)
      for (const { targetGroupArn, target } of memberships) {
        if (targetGroupArn !== group.arn) continue;
        const seen = targets.get(group.arn)?.get(targetKey(target));
        healthy.set(zone, (healthy.get(zone) ?? 0) + (seen?.state === 'healthy' ? 1 : 0));
      }
    return [...healthy].map(
      ([az, value]): Measure => ({ metric: 'healthy_host_count', value, target_group: group.name, az }),
    );
  });
}

/** Changes of included checks after `after` and until `until`, in milliseconds since the epoch. */
export function measureTransitions(
  members: readonly Member[],
  statuses: ReadonlyMap<string, StatusSeen>,
  after: number,
  until: number,
): Measure[] {
  return members.flatMap(({ instanceId, includedChecks }) =>
    (statuses.get(instanceId)?.checks ?? [])
      .filter(({ checkId }) => includedChecks.includes(checkId))
      .flatMap(result => changeOf(result, after, until) ?? [])
      .map((change): Measure => ({ metric: 'readiness_transition_total', value: 1, ...change })),
  );
}

/** From the last deregistration to now, in seconds since the epoch; nothing of a run that took nothing out. */
export const measureDrain = ({ takenOutAt }: RunRecord, now: number): Measure[] =>
  takenOutAt === undefined ? [] : [{ metric: 'drain_seconds', value: now - takenOutAt }];
