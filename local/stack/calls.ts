import type { World } from '../account/world.ts';
import type { Call, Gate } from '../wire/contract.ts';

export interface CallCount {
  readonly service: string;
  readonly action: string;
  /** The caller's name. */
  readonly caller: string;
  readonly count: number;
}

/** Counts the calls that reach the account, refused ones too. */
export class CallCounter implements Gate {
  readonly #counts = new Map<string, CallCount>();

  before({ service, action, caller }: Call): void {
    const key = `${service}:${action} ${caller.name}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { service, action, caller: caller.name, count });
  }

  /** Sorted by service, action and caller. */
  counts(): readonly CallCount[] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counted]) => counted);
  }
}

/**
 * Lets a call travel: half of `physics.callLatencyMs` before the service acts and half after it. A person's calls come
 * from outside virtual time and take none.
 */
export function createLatency({ clock, random, physics }: World): Gate {
  const draw = random.fork('call-latency');
  const [least, most] = physics.callLatencyMs;
  const travel = async ({ caller }: Call) => {
    if (caller.kind !== 'operator') await clock.sleep(draw.between(least, most) / 2);
  };
  return { before: travel, after: travel };
}
