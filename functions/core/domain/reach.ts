import type { ObservedInstance } from './observed-fleet.ts';

/** How far something reaches in a fleet. */
export type Reach =
  /** `alone`: there is no other instance to compare with. */
  | { readonly kind: 'instance'; readonly alone: boolean }
  /** Several, and neither a zone nor all. */
  | { readonly kind: 'instances' }
  | { readonly kind: 'zone'; readonly zone: string }
  | { readonly kind: 'fleet' };

/** An instance on which something is wrong, and since when as far as that is known (milliseconds since the epoch). */
export interface Affected {
  readonly instance: ObservedInstance;
  readonly since: number | undefined;
}

/**
 * What belongs together begins together: two probe intervals of 60 s apart at most, since each instance is probed at its own
 * second and the failure threshold is the same for all, and one more for Describe's lag.
 */
const TOGETHER_MS = 180_000;

/**
 * Works out how far a symptom reaches. A zone is named only when all of its instances, at least two, are affected, no other
 * instance is, and the failures began together: two instances of one zone may also fail by chance.
 *
 * @param affected at least one, each instance once
 * @param judged the ids of all instances that something has an opinion on, the affected ones among them
 */
export function reachOf(affected: readonly Affected[], judged: readonly ObservedInstance[]): Reach {
  if (affected.length === 1) return { kind: 'instance', alone: judged.length === 1 };
  if (affected.length === judged.length) return { kind: 'fleet' };
  const zones = new Set(affected.map(({ instance }) => instance.zone));
  const [zone] = zones;
  const inZone = judged.filter(instance => instance.zone === zone).length;
  const whole = zones.size === 1 && inZone === affected.length;
  return zone !== undefined && whole && beganTogether(affected)
    ? { kind: 'zone', zone }
    : { kind: 'instances' };
}

function beganTogether(affected: readonly Affected[]): boolean {
  const times = affected.flatMap(({ since }) => since ?? []);
  if (times.length < affected.length) return false;
  const [first, last] = times.reduce(
    ([least, most], time) => [Math.min(least, time), Math.max(most, time)],
    [Number.POSITIVE_INFINITY, 0],
  );
  return last - first <= TOGETHER_MS;
}
