import type { HealthCheckSummary, SeenTarget } from '../domain/health-check-summary.ts';
import type { Measure } from '../metrics.ts';
import { type Place, placeOf } from './places.ts';

/**
 * A file's checks by target group, zone and reason, and those that failed by the zone of their node: never by target, since each
 * value is a metric that is paid for.
 */
export function measureHealthChecks(
  summary: HealthCheckSummary,
  places: ReadonlyMap<string, Place>,
  nodeZone: string,
): readonly Measure[] {
  const byPlace = Map.groupBy(summary.targets(), ({ group, target }) =>
    JSON.stringify({ target_group: group, az: placeOf(places, target).zone }),
  );
  const measures = [
    ...Array.from(byPlace, ([place, targets]) => measuresOf(JSON.parse(place), targets)).flat(),
    ...failuresAt(summary, nodeZone),
  ];
  return summary.badLines === 0
    ? measures
    : [...measures, { metric: 'health_check_bad_line_total', value: summary.badLines }];
}

/** By the zone of the node that made the checks: a node that cannot reach any zone is told from a zone that no node reaches. */
function failuresAt(summary: HealthCheckSummary, nodeZone: string): readonly Measure[] {
  const byGroup = Map.groupBy(summary.targets(), ({ group }) => group);
  return Array.from(byGroup, ([group, targets]) => {
    const failures = targets.flatMap(({ failures: ofTarget }) => [...ofTarget.values()]);
    const value = failures.reduce((sum, count) => sum + count, 0);
    return {
      metric: 'health_check_node_failure_total',
      value,
      target_group: group,
      node_az: nodeZone,
    } as const;
  }).filter(({ value }) => value > 0);
}

interface GroupInZone {
  readonly target_group: string;
  readonly az: string;
}

function measuresOf(place: GroupInZone, targets: readonly SeenTarget[]): readonly Measure[] {
  const failures = new Map<string, number>();
  for (const { failures: ofTarget } of targets)
    for (const [reason, count] of ofTarget) failures.set(reason, (failures.get(reason) ?? 0) + count);
  const checks = targets.reduce((sum, target) => sum + target.checks, 0);
  return [
    { metric: 'health_check_total', value: checks, ...place },
    ...Array.from(
      failures,
      ([reason, value]): Measure => ({ metric: 'health_check_failure_total', value, ...place, reason }),
    ),
    ...targets.flatMap(({ slowestPassSeconds: value }): Measure[] =>
      value === null ? [] : [{ metric: 'health_check_latency_seconds', value, ...place }],
    ),
  ];
}
