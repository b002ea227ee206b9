/** A value as it was `lagMs` ago. It remembers no more than that needs. */
export class Lagged<T> {
  readonly #lagMs: number;
  #past: { readonly at: number; readonly value: T }[] = [];

  constructor(lagMs: number) {
    this.#lagMs = lagMs;
  }

  /** @param at the current instant, in milliseconds; never earlier than the last one */
  set(at: number, value: T): void {
    this.#forget(at);
    this.#past.push({ at, value });
  }

  /** Undefined when there was no value yet. */
  seenAt(now: number): T | undefined {
    this.#forget(now);
    const oldest = this.#past[0];
    return oldest && oldest.at <= now - this.#lagMs ? oldest.value : undefined;
  }

  /** Drops what a later value had replaced `lagMs` ago. */
  #forget(now: number): void {
    const current = this.#past.findLastIndex(({ at }) => at <= now - this.#lagMs);
    if (current > 0) this.#past = this.#past.slice(current);
  }
}
