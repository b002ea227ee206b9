import { setTimeout as sleep } from 'node:timers/promises';
import type { VirtualClock } from '../clock/virtual-clock.ts';

/** How many virtual seconds pass in a real one; `max`: as many as can while somebody waits for something, else one. */
export type Pace = number | 'max';

export interface Paced {
  readonly clock: VirtualClock;
  readonly pace: Pace;
  /** Is anything under way that somebody waits for? */
  readonly isBusy: () => boolean;
  readonly signal: AbortSignal;
}

/** Often enough that nobody sees time move in steps. */
const STEP_MS = 20;
/** A computer that slept, or was too slow for its pace, does not make up for it. */
const LONGEST_STEP_MS = 1000;

/** Lets virtual time pass by the wall clock until the signal is given. @throws what happens in the account unexpectedly */
export async function keepPace({ clock, pace, isBusy, signal }: Paced): Promise<void> {
  const rate = pace === 'max' ? 1 : pace;
  let last = performance.now();
  let due = 0;
  while (!signal.aborted) {
    if (pace === 'max' && isBusy()) {
      await clock.run(() => signal.aborted || !isBusy());
      last = performance.now();
    }
    await sleep(STEP_MS, undefined, { signal }).catch(() => undefined);
    const now = performance.now();
    due += Math.min(now - last, LONGEST_STEP_MS) * rate;
    last = now;
    // The clock counts whole milliseconds: what is left is due with the next step.
    const whole = Math.floor(due);
    due -= whole;
    await clock.pass(whole);
  }
}
