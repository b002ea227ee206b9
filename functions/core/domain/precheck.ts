import { CHECK_PRICES, HOURS_A_MONTH } from '../limits.ts';
import type { PathEnd } from './ingress.ts';

/** What a check costs in a month at the most: what other checks share with it is counted as if it were its own. */
export interface MonthlyCost {
  /** One for each pair of a subnet and a security group. */
  readonly interfaces: number;
  /** Of each instance its own, and the aggregate of its included checks. */
  readonly metrics: number;
  readonly usDollars: number;
}

export function monthlyCost(instances: readonly PathEnd[]): MonthlyCost {
  const pairs = instances.flatMap(({ subnetId, groupIds }) =>
    groupIds.map(groupId => `${subnetId} ${groupId}`),
  );
  const interfaces = new Set(pairs).size;
  const metrics = 2 * instances.length;
  const usDollars =
    interfaces * CHECK_PRICES.interfaceHour * HOURS_A_MONTH + metrics * CHECK_PRICES.metricMonth;
  return { interfaces, metrics, usDollars: Math.round(usDollars * 100) / 100 };
}

/** How many there are of something, here or after the adoption, or how many there may be. */
export interface CheckCounts {
  readonly checks: number;
  readonly associations: number;
  /** Instances under a check. */
  readonly targets: number;
}

/** What is over is found when EC2 refuses it (D47). */
export const quotaWarnings = (after: CheckCounts, quotas: CheckCounts): string[] =>
  (['checks', 'associations', 'targets'] as const)
    .filter(kind => after[kind] > quotas[kind])
    .map(
      kind =>
        `The account would have ${after[kind]} ${kind} of application status checks, and has ${quotas[kind]} by the stack's parameters. Where AWS has raised the quota, say so there.`,
    );

/** The settings of an Auto Scaling group that decide what a failed check leads to. */
export interface Replacing {
  readonly name: string;
  readonly healthCheckGraceSeconds: number;
  /** Of its instance maintenance policy, in percent; absent without one. */
  readonly minHealthyPercent?: number;
}

export function groupWarnings(
  { name, healthCheckGraceSeconds, minHealthyPercent = 0 }: Replacing,
  graceSeconds: number,
): string[] {
  return [
    ...(healthCheckGraceSeconds < graceSeconds
      ? [
          `${name}: the group's grace period (${healthCheckGraceSeconds} s) is shorter than the check's (${graceSeconds} s), so other health checks decide about an instance before this one does.`,
        ]
      : []),
    ...(minHealthyPercent < 100
      ? [
          `${name}: its instance maintenance policy lets Auto Scaling end an impaired instance before its successor is in service (minimum healthy percentage ${minHealthyPercent}, not 100).`,
        ]
      : []),
  ];
}

/** How another check came to pass on an instance. Times are milliseconds since the epoch. */
export interface FirstPass {
  readonly launchedAt: number;
  /** Since when it passes. */
  readonly since: number;
  /** When the check was created or last modified. */
  readonly checkChangedAt: number;
  readonly graceSeconds: number;
  readonly successThreshold: number;
  readonly intervalSeconds: number;
}

/** A pass that began later than this after the launch is one after a failure or a deployment. Ours. */
const LONGEST_START_UP_SECONDS = 3600;

/**
 * How many seconds an application took at the least from its launch until it answered, by the quickest pass of other checks on
 * the same instances; 0 when they show no more than their own grace period, undefined when none was there at a launch.
 */
export function measuredStartUp(passes: readonly FirstPass[]): number | undefined {
  const least = passes.flatMap(({ launchedAt, since, checkChangedAt, ...check }) => {
    const elapsed = (since - launchedAt) / 1000;
    if (checkChangedAt > launchedAt || elapsed < 0 || elapsed > LONGEST_START_UP_SECONDS) return [];
    const deciding = check.successThreshold * check.intervalSeconds;
    return [elapsed > check.graceSeconds + deciding + check.intervalSeconds ? elapsed - deciding : 0];
  });
  return least.length === 0 ? undefined : Math.floor(Math.min(...least));
}
