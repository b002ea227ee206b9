/** What a target group asks to be left in traffic, as AWS counts it (D6). */
export interface FloorSettings {
  /** Effective cross-zone load balancing: on counts all zones together, off counts each zone. */
  readonly crossZone: boolean;
  /** From `policy.minHealthyPercent`, of the targets that belong to the group. */
  readonly minHealthyPercent: number;
  /** The group's own `target_group_health` thresholds, the stricter of DNS failover and unhealthy-state routing. */
  readonly minHealthyCount: number;
  readonly minHealthyShareOfRegistered: number;
}

/** One registered target of the group, fresh from DescribeTargetHealth. */
export interface SeenTarget {
  readonly key: string;
  readonly zone: string;
  readonly state: string;
  readonly reason?: string | undefined;
  /** An active zonal shift keeps traffic away from it, however healthy it is. */
  readonly shifted: boolean;
}

export type FloorVerdict =
  | { readonly permitted: true }
  | {
      readonly permitted: false;
      /** A zone, or `all zones`. */
      readonly scope: string;
      readonly receiving: number;
      readonly leaving: number;
      readonly floor: number;
    };

const REGISTERED = new Set(['initial', 'healthy', 'unhealthy', 'unhealthy.draining', 'unavailable']);

/** A target that gets requests: healthy, or not health-checked at all, and not shifted away. */
export function receives(target: Pick<SeenTarget, 'state' | 'reason' | 'shifted'>): boolean {
  if (target.shifted) return false;
  if (target.state === 'healthy') return true;
  return target.state === 'unavailable' && target.reason === 'Target.HealthCheckDisabled';
}

/** Also one whose connections are being closed because it is unhealthy: it is registered, and comes back by itself. */
export const isUnhealthy = ({ state }: Pick<SeenTarget, 'state'>): boolean =>
  state === 'unhealthy' || state === 'unhealthy.draining';

export const isRegistered = (target: Pick<SeenTarget, 'state'>): boolean => REGISTERED.has(target.state);

/**
 * May these targets leave the group now? A target that gets no requests may always leave (D37): the floor means that our
 * act must not make things worse.
 *
 * @param outByZone targets that live runs have taken out and will put back: they belong to the group (D7)
 * @param outlook `now` counts what receives traffic; `best` counts what would if every registered target were healthy,
 *   which tells at plan time whether waiting can ever help
 */
export function judgeFloor(
  settings: FloorSettings,
  targets: readonly SeenTarget[],
  leavingKeys: ReadonlySet<string>,
  outByZone: ReadonlyMap<string, number>,
  outlook: 'now' | 'best' = 'now',
): FloorVerdict {
  const scopes = settings.crossZone
    ? ['all zones']
    : [...new Set([...targets.map(target => target.zone), ...outByZone.keys()])].sort();
  for (const scope of scopes) {
    const here = targets.filter(target => scope === 'all zones' || target.zone === scope);
    const leaving = here.filter(target => leavingKeys.has(target.key));
    const leavingTraffic = leaving.filter(receives).length;
    if (leavingTraffic === 0) continue;
    const out = [...outByZone].reduce(
      (sum, [zone, n]) => sum + (scope === 'all zones' || zone === scope ? n : 0),
      0,
    );
    const registered = here.filter(isRegistered).length;
    const staysRegistered = registered - leaving.filter(isRegistered).length;
    const receiving = here.filter(receives).length;
    const left = outlook === 'now' ? receiving - leavingTraffic : staysRegistered + out;
    const floor = Math.max(
      Math.ceil(((registered + out) * settings.minHealthyPercent) / 100),
      settings.minHealthyCount,
      Math.ceil((staysRegistered * settings.minHealthyShareOfRegistered) / 100),
    );
    if (left < floor) return { permitted: false, scope, receiving, leaving: leavingTraffic, floor };
  }
  return { permitted: true };
}

/** Reads a group's own thresholds from its attributes (defaults: count 1, percentage off), as aws-behaviour 1.8 lists them. */
export function thresholdsOf(attributes: Readonly<Record<string, string>>): {
  readonly minHealthyCount: number;
  readonly minHealthyShareOfRegistered: number;
} {
  const greatest = (suffix: string, otherwise: number) =>
    Math.max(
      ...['dns_failover', 'unhealthy_state_routing'].map(action => {
        const value = attributes[`target_group_health.${action}.minimum_healthy_targets.${suffix}`];
        return value === undefined || value === 'off' ? otherwise : Number(value);
      }),
    );
  return { minHealthyCount: greatest('count', 1), minHealthyShareOfRegistered: greatest('percentage', 0) };
}

/**
 * Is cross-zone load balancing effectively on? The group's attribute decides, else the load balancer's, else its type's
 * default: on for ALB, off for NLB and GWLB (their guides). A group without a load balancer serves nothing.
 */
export function effectiveCrossZone(
  groupAttributes: Readonly<Record<string, string>>,
  loadBalancer: { readonly type: string; readonly attributes: Readonly<Record<string, string>> } | undefined,
): boolean {
  const own = groupAttributes['load_balancing.cross_zone.enabled'];
  if (own === 'true' || own === 'false') return own === 'true';
  const inherited = loadBalancer?.attributes['load_balancing.cross_zone.enabled'];
  if (inherited !== undefined) return inherited === 'true';
  return loadBalancer === undefined || loadBalancer.type === 'application';
}
