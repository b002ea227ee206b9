import type { Diagnosis, Finding } from './diagnosis.ts';
import { isRegistered, receives, type SeenTarget } from './floors.ts';
import type { Reach } from './reach.ts';

/** One zone of a target group. */
export interface ZoneCount {
  readonly zone: string;
  readonly registered: number;
  readonly healthy: number;
  /** Healthy and not shifted away; or all, where the load balancer fails open. */
  readonly receiving: number;
}

/**
 * Counts a group's targets by zone. Where no target receives, the load balancer sends requests to all that are registered: in
 * the whole group with cross-zone load balancing, else in that zone.
 */
export function countZones(targets: readonly SeenTarget[], crossZone: boolean): readonly ZoneCount[] {
  const registered = targets.filter(isRegistered);
  const open = registered.filter(({ shifted }) => !shifted);
  const someReceive = open.some(receives);
  return Array.from(
    Map.groupBy(registered, ({ zone }) => zone),
    ([zone, here]) => {
      const receiving = here.filter(receives).length;
      const failsOpen = crossZone ? !someReceive : receiving === 0;
      return {
        zone,
        registered: here.length,
        healthy: here.filter(({ state }) => state === 'healthy').length,
        receiving: failsOpen ? here.filter(({ shifted }) => !shifted).length : receiving,
      };
    },
  ).sort((a, b) => (a.zone < b.zone ? -1 : 1));
}

/** How many targets are left to serve when those of one zone do not. */
export const healthyWithout = (zones: readonly ZoneCount[], without: string): number =>
  zones.reduce((sum, { zone, healthy }) => sum + (zone === without ? 0 : healthy), 0);

/** What befalls a target group, the gravest first. */
export const ZONE_CLASSES = [
  'all-targets',
  'one-zone',
  'errors-while-draining',
  'shallow-check',
  'several-targets',
  'one-target',
] as const;

export type ZoneClass = (typeof ZONE_CLASSES)[number] | 'well';

/** What a target group as a whole suffers; what is wrong on instances has its class by how far it reaches. */
const CLASSES: Readonly<Partial<Record<Finding['symptom'], ZoneClass>>> = {
  'no-target': 'all-targets',
  'failing-open': 'all-targets',
  'errors-while-draining': 'errors-while-draining',
  'draining-with-errors': 'errors-while-draining',
  'shallow-check': 'shallow-check',
};

const REACHES: Readonly<Record<Reach['kind'], ZoneClass>> = {
  fleet: 'all-targets',
  zone: 'one-zone',
  instances: 'several-targets',
  instance: 'one-target',
};

/**
 * The class of what a diagnosis of one group has found. How far it reaches is asked of all findings together: a zone that is
 * gone shows itself by different reasons on different targets.
 */
export function classOf({ findings, reach }: Diagnosis): ZoneClass {
  const found = new Set([
    ...findings.map(({ symptom }) => CLASSES[symptom]),
    ...(reach ? [REACHES[reach.kind]] : []),
  ]);
  return ZONE_CLASSES.find(one => found.has(one)) ?? 'well';
}
