import type { Timer, VirtualClock } from '../clock/virtual-clock.ts';

interface Turn {
  readonly members: Set<string>;
  readonly timer: Timer;
}

/**
 * Calls on every member once a period, at the member's own second of it. Members of one second share a timer, so that
 * thousands of them cost no more timers than a period has seconds.
 */
export class ProbeRota {
  readonly #clock: VirtualClock;
  readonly #periodMs: number;
  readonly #call: (members: readonly string[]) => void;
  readonly #turns = new Map<number, Turn>();

  constructor(clock: VirtualClock, periodSeconds: number, call: (members: readonly string[]) => void) {
    this.#clock = clock;
    this.#periodMs = periodSeconds * 1000;
    this.#call = call;
  }

  /** @param second of the period, from 0 */
  add(member: string, second: number): void {
    const turn = this.#turns.get(second);
    if (turn) {
      turn.members.add(member);
      return;
    }
    const members = new Set([member]);
    const sinceTurn = (this.#clock.now() - second * 1000) % this.#periodMs;
    const timer = this.#clock.every(
      this.#periodMs,
      () => this.#call([...members]),
      this.#periodMs - sinceTurn,
    );
    this.#turns.set(second, { members, timer });
  }

  remove(member: string, second: number): void {
    const turn = this.#turns.get(second);
    if (!turn?.members.delete(member) || turn.members.size > 0) return;
    turn.timer.cancel();
    this.#turns.delete(second);
  }
}
