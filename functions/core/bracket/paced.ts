import { type PacedAct, turnOf } from '../ledger/pacing.ts';
import { ELB_CALLS_AT_ONCE, ELB_CALLS_PER_SECOND } from '../limits.ts';

/**
 * Makes as many of these calls as the account's pace permits now. Which are left is found by looking again: every act of the
 * bracket does only what is still to do.
 *
 * @returns seconds until the rest may be made; 0 when all are done
 */
export async function paced(
  runId: string,
  act: PacedAct,
  calls: readonly (() => Promise<unknown>)[],
): Promise<number> {
  const now = calls.slice(0, ELB_CALLS_AT_ONCE);
  if (now.length === 0) return 0;
  const turn = await secondsToTurn(runId, act, now.length);
  if (turn > 0) return turn;
  for (const call of now) await call();
  return calls.length > now.length ? Math.ceil(now.length / ELB_CALLS_PER_SECOND) : 0;
}

/** Seconds until it is the run's turn to make so many calls; 0 when it is now. */
export async function secondsToTurn(runId: string, act: PacedAct, calls: number): Promise<number> {
  const nowMs = Date.now();
  return Math.ceil(((await turnOf(runId, act, calls, nowMs)) - nowMs) / 1000);
}
