import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { chunk } from './aws/batch.ts';

/**
 * Every metric of the namespace Quiesce: its unit and its dimensions besides `service`. Each combination of their values is a
 * metric that is paid for by itself, so ids of instances and runs are never among them: the log has those.
 */
export const catalogue = {
  /** One run that was given its go-ahead. */
  go_ahead_total: { unit: MetricUnit.Count, dimensions: [] },
  /** From a run's last suppression to its go-ahead. */
  suppression_lead_seconds: { unit: MetricUnit.Seconds, dimensions: [] },
  /** From a run's last deregistration to the look that saw all its targets drained. */
  drain_seconds: { unit: MetricUnit.Seconds, dimensions: [] },
  /** One DeregisterTargets, retries included. */
  deregistration_duration_ms: { unit: MetricUnit.Milliseconds, dimensions: ['target_group'] },
  /** One included check on one member whose status has changed after the deployment. */
  readiness_transition_total: { unit: MetricUnit.Count, dimensions: ['from', 'to', 'reason'] },
  /** The run's own healthy targets, at a look at whether they are in service. */
  healthy_host_count: { unit: MetricUnit.Count, dimensions: ['target_group', 'az'] },
  /** One run that has ended. */
  run_total: { unit: MetricUnit.Count, dimensions: ['outcome', 'error'] },
  /** Instances times the minutes in which a run kept them suppressed and the deployment did not act (D41). */
  blind_instance_minutes: { unit: MetricUnit.Count, dimensions: [] },
  /** Runs that a sweep found with nobody to look after them, by what had become of them. */
  sweep_found_total: { unit: MetricUnit.Count, dimensions: ['kind'] },
  /** Those whose undo it began, or whose remains it ended. */
  sweep_healed_total: { unit: MetricUnit.Count, dimensions: ['kind'] },
  /** At each sweep: for how long nobody has looked after the oldest such run; 0 when there is none. */
  oldest_unhealed_seconds: { unit: MetricUnit.Seconds, dimensions: [] },
  /** Interfaces from which checks are asked and that no check needs any more, at a look at them. */
  lingering_interfaces: { unit: MetricUnit.Count, dimensions: [] },
  /** At each look: since when the oldest of them is seen so; 0 when there is none. */
  oldest_lingering_seconds: { unit: MetricUnit.Seconds, dimensions: [] },
  /** What they cost in US dollars for every hour that they stay. */
  lingering_dollars_per_hour: { unit: MetricUnit.NoUnit, dimensions: [] },
  /** Health checks of the nodes of load balancers, by their logs; by the zone of the target. */
  health_check_total: { unit: MetricUnit.Count, dimensions: ['target_group', 'az'] },
  /** Those that failed. */
  health_check_failure_total: { unit: MetricUnit.Count, dimensions: ['target_group', 'az', 'reason'] },
  /** The same by the zone of the node that made them. */
  health_check_node_failure_total: { unit: MetricUnit.Count, dimensions: ['target_group', 'node_az'] },
  /** Of those that passed, the slowest of each target in a file. */
  health_check_latency_seconds: { unit: MetricUnit.Seconds, dimensions: ['target_group', 'az'] },
  /** Files that came to the bucket, read or passed over. */
  health_check_log_total: { unit: MetricUnit.Count, dimensions: ['kind'] },
  /** Lines that are none of a health check log (R-LOG). */
  health_check_bad_line_total: { unit: MetricUnit.Count, dimensions: [] },
  /** Targets of a group that are healthy, and that receive requests, at a view of the zones. */
  zone_healthy_targets: { unit: MetricUnit.Count, dimensions: ['target_group', 'az'] },
  zone_receiving_targets: { unit: MetricUnit.Count, dimensions: ['target_group', 'az'] },
  /** Target groups that something befalls, at a view of the zones. */
  zone_class_total: { unit: MetricUnit.Count, dimensions: ['class'] },
  /** Checks that a look of the loop breaker has demoted, would have, or found well again; none from a look that has found nothing. */
  loop_total: { unit: MetricUnit.Count, dimensions: ['what'] },
  /** Targets of our checks that EC2 reports nothing on (D47). */
  unmonitored_target_total: { unit: MetricUnit.Count, dimensions: [] },
  /** Of the quotas of application status checks, the one that is used most. */
  check_quota_used_percent: { unit: MetricUnit.Percent, dimensions: [] },
} as const;

type Catalogue = typeof catalogue;

/** One measured value, with a value for each of its metric's dimensions. */
export type Measure = {
  [M in keyof Catalogue]: { readonly metric: M; readonly value: number } & {
    readonly [D in Catalogue[M]['dimensions'][number]]: string;
  };
}[keyof Catalogue];

const VALUES_PER_LINE = 99;

const metrics = new Metrics({ namespace: 'Quiesce', serviceName: 'quiesce' });

/**
 * Writes measures to the log in CloudWatch's embedded metric format: a line for each set of dimensions. Written at once, not
 * at the function's end: middy's logMetrics knows one set of dimensions for all that is stored, and warns when it is nothing.
 * At 100 values of one metric Powertools publishes by itself, and what comes then has no dimensions: so a line has fewer.
 */
export function record(measures: readonly Measure[]): void {
  const sets = Map.groupBy(measures, ({ metric, value, ...dimensions }) => JSON.stringify(dimensions));
  for (const [dimensions, set] of sets) {
    for (const line of chunk(set, VALUES_PER_LINE)) {
      if (dimensions !== '{}') metrics.addDimensions(JSON.parse(dimensions));
      for (const { metric, value } of line) metrics.addMetric(metric, catalogue[metric].unit, value);
      metrics.publishStoredMetrics();
    }
  }
}
