import type { z } from 'zod';
import type { Random } from '../../clock/random.ts';
import type { scenario } from '../scenario.ts';

export type FleetInput = z.input<typeof scenario>['fleet'];
type TargetGroupInput = NonNullable<FleetInput['targetGroups']>[number];

const ZONES = ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'];

/** Mostly a few: small fleets break in the same ways as great ones, and are simulated faster. */
export function drawSize(random: Random): number {
  return random.chance(0.6)
    ? random.whole(1, 4)
    : random.chance(0.8)
      ? random.whole(5, 8)
      : random.whole(9, 12);
}

/** @param most the greatest fleet */
export function drawFleet(random: Random, most: number): FleetInput {
  const instances = Math.min(most, drawSize(random));
  const grouped = random.chance(0.75);
  const network = random.chance(0.25);
  const healthChecks: ('EC2' | 'ELB')[] = random.chance(0.6) ? ['EC2', 'ELB'] : ['EC2'];
  return {
    instances,
    zones: ZONES.slice(0, random.whole(1, 3)),
    startUpSeconds: random.whole(5, 90),
    autoScaling: grouped
      ? {
          healthChecks,
          graceSeconds: random.whole(60, 300),
          ...(random.chance(0.3) && { minSize: random.whole(0, instances) }),
          ...(random.chance(0.25) && { suspended: random.pick(SUSPENDED) }),
          ...(random.chance(0.15) && { others: [random.pick(OTHERS)] }),
        }
      : null,
    loadBalancer: {
      type: network ? 'network' : 'application',
      ...(random.chance(0.4) && { crossZone: random.chance(0.5) }),
    },
    targetGroups: Array.from({ length: random.pick([0, 1, 1, 1, 2, 3]) }, (_, index) =>
      // Auto Scaling with ELB health checks would replace what a group without a load balancer holds, whatever we do.
      drawTargetGroup(random, index, network, !(grouped && healthChecks.includes('ELB'))),
    ),
    checks: Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, (_, index) => ({
      port: 8080,
      path: `/health/${index}`,
      ...(random.chance(0.25) && { aggregation: 'excluded' as const }),
      graceSeconds: random.whole(30, 200),
    })),
    ...(random.chance(0.15) && {
      suppressedByOthers: {
        instances: random.whole(1, instances),
        ...(random.chance(0.6) && { seconds: random.whole(60, 7200) }),
      },
    }),
    ...(random.chance(0.07) && { broken: [random.whole(0, instances - 1)] }),
    ...(random.chance(0.03) && { optedIn: ['instances' as const] }),
  };
}

type Suspended = ('AZRebalance' | 'HealthCheck' | 'ReplaceUnhealthy')[];
const SUSPENDED: readonly [Suspended, ...Suspended[]] = [
  ['AZRebalance'],
  ['HealthCheck'],
  ['ReplaceUnhealthy'],
  ['HealthCheck', 'ReplaceUnhealthy'],
];

const OTHERS = ['Standby', 'Pending:Wait', 'Terminating:Wait', 'Terminating:Retained'] as const;

function drawTargetGroup(
  random: Random,
  index: number,
  network: boolean,
  mayBeUnserved: boolean,
): TargetGroupInput {
  const intervalSeconds = random.pick([5, 10, 15, 30]);
  const served = !(mayBeUnserved && random.chance(0.1));
  return {
    name: `group-${index + 1}`,
    port: 8080 + index,
    ...(random.chance(0.15) && { alsoOnPorts: [9080 + index] }),
    ...(random.chance(0.2) && { targetType: 'ip' as const }),
    ...(!served && { served }),
    healthCheck: {
      intervalSeconds,
      timeoutSeconds: random.whole(2, intervalSeconds),
      healthyThreshold: random.whole(2, 5),
      unhealthyThreshold: random.whole(2, 4),
    },
    attributes: {
      'deregistration_delay.timeout_seconds': String(random.pick([0, 15, 30, 60, 120, 300])),
      ...(random.chance(0.1) && { 'target_group_health.dns_failover.minimum_healthy_targets.count': '2' }),
      ...(!network && random.chance(0.1) && { 'slow_start.duration_seconds': String(random.whole(30, 90)) }),
    },
    ...(served &&
      random.chance(0.4) && {
        traffic: {
          requestsPerSecond: random.whole(1, 4),
          longShare: random.chance(0.5) ? 0.05 : 0,
          longMs: random.whole(1000, 20_000),
        },
      }),
  };
}
