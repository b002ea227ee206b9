import type { Timer } from '../clock/virtual-clock.ts';
import type { World } from './world.ts';

export interface Suppression {
  readonly state: 'spreading' | 'suppressed' | 'releasing';
  /** When Enable, or the expiry or Disable that ended it, was accepted. */
  readonly since: number;
  /** Undefined without a duration: until Disable. */
  readonly resumesAt: number | undefined;
}

/** How long an act takes until the service follows it, for one instance. */
export interface Spread {
  readonly suppressMs: number;
  readonly releaseMs: number;
}

/** Suppression of one instance, from its acts (Enable, Disable, expiry) and the time that each takes to arrive. */
interface Case {
  /** What the newest act asks for. */
  wanted: boolean;
  since: number;
  resumesAt: number | undefined;
  expiry: Timer | undefined;
  /** What has arrived: only an act that is newer than the last one that arrived changes anything. */
  effective: boolean;
  acts: number;
  arrived: number;
}

/**
 * Application status check suppression, instance by instance. It takes effect some time after Enable and ends some time
 * after Disable or its expiry. The newest act wins wherever it has arrived (INF); hence, as AWS documents none of this:
 * - Enable on an instance that is spreading or suppressed leaves no gap, and only moves its end, by a switch;
 * - Disable during the spreading may see suppression arrive and end later, or never arrive;
 * - Enable during the releasing is released first, and suppressed again after its own spreading.
 */
export class Suppressions {
  readonly #world: World;
  readonly #changed: (instanceId: string) => void;
  readonly #cases = new Map<string, Case>();

  constructor(world: World, changed: (instanceId: string) => void) {
    this.#world = world;
    this.#changed = changed;
  }

  of(instanceId: string): Suppression | undefined {
    const found = this.#cases.get(instanceId);
    if (!found || (!found.wanted && !found.effective && found.arrived === found.acts)) return undefined;
    const { since, resumesAt, wanted } = found;
    // Effective by an earlier Enable whose release is still on its way does not count.
    const settled = found.effective && found.arrived === found.acts;
    return { since, resumesAt, state: wanted ? (settled ? 'suppressed' : 'spreading') : 'releasing' };
  }

  isEffective(instanceId: string): boolean {
    return this.#cases.get(instanceId)?.effective ?? false;
  }

  /** @returns the reason of a failure, or when reporting resumes (undefined: not by itself) */
  enable(
    instanceId: string,
    durationSeconds: number | undefined,
    spread: Spread,
  ): { readonly failure: string } | { readonly resumesAt: number | undefined } {
    const { clock, physics } = this.#world;
    const now = clock.now();
    const end = durationSeconds === undefined ? undefined : now + durationSeconds * 1000;
    const current = this.#case(instanceId);
    if (!current.wanted) {
      current.since = now;
      this.#act(instanceId, current, true, spread.suppressMs);
      this.#endAt(instanceId, current, end, spread);
      this.#record(instanceId, 'spreading', end);
    } else if (physics.secondEnable === 'fails') {
      return { failure: 'Application status check suppression is already enabled for the instance.' };
    } else {
      const resumesAt = physics.secondEnable === 'extends' ? later(current.resumesAt, end) : end;
      this.#endAt(instanceId, current, resumesAt, spread);
      this.#record(instanceId, 'extended', resumesAt);
      if (current.effective) this.#changed(instanceId);
    }
    return { resumesAt: current.resumesAt };
  }

  /** Idempotent (INF). */
  disable(instanceId: string, spread: Spread): void {
    const current = this.#cases.get(instanceId);
    if (!current?.wanted) return;
    current.expiry?.cancel();
    current.since = this.#world.clock.now();
    this.#act(instanceId, current, false, spread.releaseMs);
    this.#record(instanceId, 'releasing', current.resumesAt);
  }

  /** The instance is gone: nothing about it happens any more. */
  forget(instanceId: string): void {
    this.#cases.get(instanceId)?.expiry?.cancel();
    this.#cases.delete(instanceId);
  }

  #case(instanceId: string): Case {
    const known = this.#cases.get(instanceId);
    if (known) return known;
    const fresh: Case = {
      wanted: false,
      since: 0,
      resumesAt: undefined,
      expiry: undefined,
      effective: false,
      acts: 0,
      arrived: 0,
    };
    this.#cases.set(instanceId, fresh);
    return fresh;
  }

  #act(instanceId: string, current: Case, wanted: boolean, arrivesAfterMs: number): void {
    current.wanted = wanted;
    const act = ++current.acts;
    this.#world.clock.after(arrivesAfterMs, () => {
      if (this.#cases.get(instanceId) !== current || act < current.arrived) return;
      current.arrived = act;
      current.effective = wanted;
      this.#record(instanceId, wanted ? 'suppressed' : 'released', current.resumesAt);
      this.#changed(instanceId);
    });
  }

  #endAt(instanceId: string, current: Case, resumesAt: number | undefined, spread: Spread): void {
    current.expiry?.cancel();
    current.resumesAt = resumesAt;
    current.expiry =
      resumesAt === undefined
        ? undefined
        : this.#world.clock.after(resumesAt - this.#world.clock.now(), () =>
            this.disable(instanceId, spread),
          );
  }

  #record(
    instanceId: string,
    state: 'spreading' | 'extended' | 'suppressed' | 'releasing' | 'released',
    resumesAt: number | undefined,
  ): void {
    this.#world.journal.record({ type: 'suppression', instanceId, state, resumesAt });
  }
}

const later = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);
