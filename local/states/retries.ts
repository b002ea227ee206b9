import type { Random } from '../clock/random.ts';
import type { Retrier } from './definition.ts';
import { matches } from './failure.ts';

/** The retries of one visit to a state: each Retrier counts its own, and all reset with the next visit. */
export class Retries {
  readonly #retriers: readonly Retrier[];
  readonly #counts: number[];
  readonly #random: Random;

  constructor(retriers: readonly Retrier[], random: Random) {
    this.#retriers = retriers;
    this.#counts = retriers.map(() => 0);
    this.#random = random;
  }

  /** Milliseconds to wait before the next attempt; undefined when there is none. */
  next(error: string): number | undefined {
    const index = this.#retriers.findIndex(({ errorEquals }) => matches(errorEquals, error));
    const retrier = this.#retriers[index];
    const count = this.#counts[index];
    if (!retrier || count === undefined || count >= retrier.maxAttempts) return undefined;
    this.#counts[index] = count + 1;
    const seconds = Math.min(retrier.intervalSeconds * retrier.backoffRate ** count, retrier.maxDelaySeconds);
    // AWS publishes no distribution for FULL; uniform from zero is what "full jitter" means in its Builders' Library.
    return 1000 * (retrier.jitter === 'FULL' ? this.#random.between(0, seconds) : seconds);
  }
}
