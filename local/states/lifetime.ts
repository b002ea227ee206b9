import type { VirtualClock } from '../clock/virtual-clock.ts';

/** Thrown into whatever an execution or a branch was waiting for when it ended. Nothing may recover from it. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** How long a flow of states may go on: until it ends itself, or something around it ends. */
export class Lifetime {
  readonly #endings = new Set<() => void>();
  #over = false;

  /** @throws Stopped when it is over */
  check(): void {
    if (this.#over) throw new Stopped();
  }

  /** A lifetime that ends with this one at the latest. */
  child(): Lifetime {
    const child = new Lifetime();
    const end = () => child.end();
    if (this.#over) child.end();
    this.#endings.add(end);
    child.#endings.add(() => this.#endings.delete(end));
    return child;
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    const endings = [...this.#endings];
    this.#endings.clear();
    for (const ending of endings) ending();
  }

  /**
   * Waits for something that later calls `resolve` or `reject`; rejects with Stopped when life ends first.
   * `begin` returns how to stop waiting.
   */
  until<T>(begin: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      this.check();
      const ending = () => {
        cancel();
        reject(new Stopped());
      };
      const settle =
        <A>(done: (value: A) => void) =>
        (value: A) => {
          if (!this.#endings.delete(ending)) return;
          cancel();
          done(value);
        };
      this.#endings.add(ending);
      const cancel = begin(settle(resolve), settle(reject));
    });
  }

  sleep(clock: VirtualClock, ms: number): Promise<void> {
    return this.until(resolve => {
      const timer = clock.after(ms, () => resolve(undefined));
      return () => timer.cancel();
    });
  }
}
