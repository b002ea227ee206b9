import { setImmediate as turn } from 'node:timers/promises';

/** A timer on the virtual clock; `cancel` is harmless when it has fired. */
export interface Timer {
  cancel(): void;
}

interface Entry extends Timer {
  readonly at: number;
  readonly order: number;
  fire: (() => void) | undefined;
}

/** Nothing is in flight and no timer is set, so the awaited thing can never happen. */
export class ClockStalled extends Error {
  override readonly name = 'ClockStalled';
}

/**
 * Time that moves only when nothing is in flight.
 *
 * Work is in flight while a microtask can still run or a promise given to `hold` has not settled. All times are
 * milliseconds since the epoch, all delays milliseconds. Timers of one instant fire in the order they were set.
 */
export class VirtualClock {
  #now: number;
  #order = 0;
  #held = 0;
  #released: (() => void) | undefined;
  #failure: { readonly error: unknown } | undefined;
  readonly #heap: Entry[] = [];
  readonly #observers = new Set<(now: number) => void>();

  constructor(startsAt: number = Date.UTC(2026, 10, 30, 9)) {
    this.#now = startsAt;
  }

  now(): number {
    return this.#now;
  }

  /** The current instant as the SDK's types want it. */
  date(): Date {
    return new Date(this.#now);
  }

  /** Calls `fire` once, `delayMs` from now. An error that it throws ends `run`. */
  after(delayMs: number, fire: () => void): Timer {
    const entry: Entry = {
      at: this.#now + Math.max(0, Math.round(delayMs)),
      order: this.#order++,
      fire,
      cancel() {
        entry.fire = undefined;
      },
    };
    this.#push(entry);
    return entry;
  }

  /** Calls `fire` every `periodMs`, the first time after `firstMs`. */
  every(periodMs: number, fire: () => void, firstMs: number = periodMs): Timer {
    let current: Timer;
    let stopped = false;
    const arm = (delay: number) => {
      current = this.after(delay, () => {
        fire();
        if (!stopped) arm(periodMs);
      });
    };
    arm(firstMs);
    return {
      cancel() {
        stopped = true;
        current.cancel();
      },
    };
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise(resolve => this.after(delayMs, resolve));
  }

  /** Keeps time still until `work` settles: for work that leaves the microtask queue (files, sockets, a database). */
  async hold<T>(work: Promise<T> | (() => Promise<T>)): Promise<T> {
    this.#held++;
    try {
      return await (typeof work === 'function' ? work() : work);
    } finally {
      this.#held--;
      if (this.#held === 0) this.#released?.();
    }
  }

  /** Calls `see` at every instant when everything is quiet, before time moves on. Returns how to stop. */
  observe(see: (now: number) => void): () => void {
    this.#observers.add(see);
    return () => this.#observers.delete(see);
  }

  /** Ends `run` with this error: for failures in work that nobody awaits. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /**
   * Lets time pass until `done` holds at a quiet instant.
   *
   * @throws ClockStalled when no timer is left, or `limitMs` of virtual time has passed
   */
  async run(done: () => boolean, limitMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    const end = this.#now + limitMs;
    for (;;) {
      await this.#quiet();
      for (const see of this.#observers) see(this.#now);
      if (this.#failure) throw this.#failure.error;
      if (done()) return;
      const next = this.#peek();
      if (!next) throw new ClockStalled('nothing is in flight and no timer is set');
      if (next.at > end) throw new ClockStalled(`${limitMs / 1000} virtual seconds have passed`);
      this.#now = next.at;
      for (let due = this.#peek(); due && due.at <= this.#now; due = this.#peek()) {
        this.#pop();
        due.fire?.();
      }
    }
  }

  /** Runs until `work` settles, and answers as it does. */
  async runFor<T>(work: Promise<T>, limitMs?: number): Promise<T> {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    work.then(settle, settle);
    await this.run(() => settled, limitMs);
    return work;
  }

  /** Lets `ms` of virtual time pass. */
  async pass(ms: number): Promise<void> {
    await this.runFor(this.sleep(ms));
  }

  /** Two turns of the event loop with nothing held: every microtask has run. */
  async #quiet(): Promise<void> {
    for (let calm = 0; calm < 2; calm = this.#held > 0 ? 0 : calm + 1) {
      // Not by turns: what is held may be another process, which needs the processor.
      if (this.#held > 0) await this.#release();
      await turn();
    }
  }

  #release(): Promise<void> {
    return new Promise(resolve => {
      this.#released = resolve;
    });
  }

  #peek(): Entry | undefined {
    while (this.#heap[0] && !this.#heap[0].fire) this.#pop();
    return this.#heap[0];
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let child = heap.push(entry) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const above = heap[parent];
      if (!above || before(above, entry)) break;
      heap[child] = above;
      child = parent;
    }
    heap[child] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      const a = heap[left];
      if (!a) break;
      const b = heap[left + 1];
      const [child, least] = b && before(b, a) ? [left + 1, b] : [left, a];
      if (before(last, least)) break;
      heap[parent] = least;
      parent = child;
    }
    heap[parent] = last;
  }
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
