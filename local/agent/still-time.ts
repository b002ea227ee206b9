import type { VirtualClock } from '../clock/virtual-clock.ts';

/**
 * Keeps virtual time still while a child process computes, and lets it pass while the process waits for something that
 * takes virtual time, such as a sleep or the answer of a function.
 */
export class StillTime {
  readonly #clock: VirtualClock;
  readonly #waits = new Set<symbol>();
  #release: (() => void) | undefined;
  #over = false;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
    this.#hold();
  }

  /** Lets time pass until `work` settles. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const wait = Symbol('wait');
    this.#waits.add(wait);
    this.#letGo();
    try {
      return await work();
    } finally {
      if (this.#waits.delete(wait) && this.#waits.size === 0) this.#hold();
    }
  }

  /** The process is woken by a signal: it computes, whatever it waited for. */
  interrupt(): void {
    this.#waits.clear();
    this.#hold();
  }

  /** The process has ended. */
  end(): void {
    this.#over = true;
    this.#letGo();
  }

  #hold(): void {
    if (this.#over || this.#release) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#release = resolve;
    this.#clock.hold(promise);
  }

  #letGo(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
