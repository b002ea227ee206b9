import type { VirtualClock } from '../clock/virtual-clock.ts';

/**
 * Puts what child processes do into an order that does not depend on which of them was faster. What they ask for waits
 * until none of them computes and the rest of the account is quiet; then it goes on in the order of their keys.
 */
export class Turns {
  readonly #clock: VirtualClock;
  #waiting: { readonly key: string; readonly go: () => void }[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  /** @param key one child process's own */
  take(key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#waiting.length === 0) this.#clock.after(0, () => this.#go());
    this.#waiting.push({ key, go: resolve });
    return promise;
  }

  #go(): void {
    const waiting = this.#waiting.toSorted((one, other) => (one.key < other.key ? -1 : 1));
    this.#waiting = [];
    for (const { go } of waiting) go();
  }
}
