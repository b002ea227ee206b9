/** A token bucket by which AWS throttles an account in a Region. */
export interface BucketSize {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/** Tokens that refill with time, up to the bucket's capacity. All instants are milliseconds since the epoch. */
export class TokenBucket {
  readonly #size: BucketSize;
  #tokens: number;
  #least: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(size: BucketSize) {
    this.#size = size;
    this.#tokens = size.capacity;
    this.#least = size.capacity;
  }

  /** The fewest tokens that were ever left, as a share of the capacity. */
  get leastLeft(): number {
    return this.#least / this.#size.capacity;
  }

  has(now: number): boolean {
    this.#refill(now);
    return this.#tokens >= 1;
  }

  take(now: number): void {
    this.#refill(now);
    this.#tokens -= 1;
    this.#least = Math.min(this.#least, this.#tokens);
  }

  #refill(now: number): void {
    if (now <= this.#at) return;
    const { capacity, refillPerSecond } = this.#size;
    this.#tokens = Math.min(capacity, this.#tokens + ((now - this.#at) / 1000) * refillPerSecond);
    this.#at = now;
  }
}
