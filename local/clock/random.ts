/** A seeded source of randomness: the same seed and the same questions give the same answers. */
export class Random {
  #state: number;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#state = this.#seed;
  }

  /** In [0, 1): mulberry32, a public-domain 32-bit generator. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  between(least: number, below: number): number {
    return least + (below - least) * this.next();
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of `choices`, which must not be empty. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.whole(0, choices.length - 1)] ?? choices[0];
  }

  /** An independent stream for one purpose, so that a new question elsewhere does not change these answers. */
  fork(purpose: string): Random {
    let hash = this.#seed ^ 0x9e3779b9;
    for (const char of purpose) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
    return new Random(hash >>> 0);
  }
}
