import type { HealthyMinimum } from './target-group-attributes.ts';
import { crossesZones, isServedFrom, type RegisteredTarget, type TargetGroup } from './target-groups.ts';

/**
 * Which targets receive new requests: zonal shift, cross-zone load balancing, the group's health thresholds and
 * fail-open. UG: the ALB user guide on target group health, zonal shift and slow start.
 */

/** Registered, not draining, in use: what a percentage threshold is a percentage of. */
export function registeredTargets(group: TargetGroup): RegisteredTarget[] {
  return [...group.targets].filter(isRegistered);
}

/** UG: a target under an active zonal shift gets no traffic though it is healthy. */
export function isShiftedAway(group: TargetGroup, target: RegisteredTarget): boolean {
  return group.loadBalancer?.shiftedZone !== undefined && target.zone === group.loadBalancer.shiftedZone;
}

/** Targets that count for a floor: healthy (or never checked) and not shifted away. */
export function countsAsHealthy(group: TargetGroup, target: RegisteredTarget): boolean {
  return isFit(target) && !isShiftedAway(group, target);
}

/** Where requests arrive, and the targets that the load balancer node there sends new ones to; none means a 503. */
export interface Route {
  readonly zone: string;
  readonly targets: readonly RegisteredTarget[];
}

/** The routes of new requests: one for each zone that DNS names. Empty without a load balancer. */
export function routes(group: TargetGroup): readonly Route[] {
  const { loadBalancer } = group;
  if (!loadBalancer) return [];
  const { dnsFailover, unhealthyStateRouting } = group.attributes.settings;
  const open = registeredTargets(group).filter(target => !isShiftedAway(group, target));
  const crosses = crossesZones(group);
  const everywhere = reachOf(open);
  const nodes = loadBalancer.zones
    .filter(({ zone }) => zone !== loadBalancer.shiftedZone)
    .map(({ zone }) => ({
      zone,
      reach: crosses ? everywhere : reachOf(open.filter(target => isServedFrom(group, zone, target))),
    }));
  // UG: requests that enter an empty zone get a 503, so an empty zone stays in DNS.
  const named = nodes.filter(({ reach }) => reach.all.length === 0 || !fallsShort(reach, dnsFailover));
  // UG: when every zone is unhealthy, DNS names all.
  return (named.length > 0 ? named : nodes).map(({ zone, reach }) => ({
    zone,
    targets: fallsShort(reach, unhealthyStateRouting) ? reach.all : reach.fit,
  }));
}

/** All targets that receive new requests from any zone. */
export function receivers(group: TargetGroup): readonly RegisteredTarget[] {
  return [...new Set(routes(group).flatMap(({ targets }) => targets))];
}

/**
 * The share of a full portion that each target takes now, from 0 to 1, in the order of `targets`.
 * UG: slow start begins when a target turns healthy, grows linearly, and only while another target is past it.
 */
export function slowStartShares(
  group: TargetGroup,
  targets: readonly RegisteredTarget[],
  now: number,
): readonly number[] {
  const durationMs = group.attributes.settings.slowStartSeconds * 1000;
  if (durationMs === 0) return targets.map(() => 1);
  const shares = targets.map(({ healthySince }) => Math.min(1, (now - healthySince) / durationMs));
  return shares.some(share => share >= 1) ? shares : targets.map(() => 1);
}

const isRegistered = ({ health: { state } }: RegisteredTarget) => state !== 'draining' && state !== 'unused';

/** A target whose group has no health checks is never known to be unfit. */
const isFit = ({ health: { state } }: RegisteredTarget) => state === 'healthy' || state === 'unavailable';

/** The targets that a node may use, and those of them that are fit. */
interface Reach {
  readonly all: readonly RegisteredTarget[];
  readonly fit: readonly RegisteredTarget[];
}

const reachOf = (all: readonly RegisteredTarget[]): Reach => ({ all, fit: all.filter(isFit) });

/** UG: of count and percentage, whichever is breached first. */
const fallsShort = ({ all, fit }: Reach, { count, percentage }: HealthyMinimum): boolean =>
  fit.length < Math.max(count, (all.length * percentage) / 100);
