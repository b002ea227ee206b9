import { type PacedAct, turnOf } from '../ledger/pacing.ts';
import { ELB_CALLS_AT_ONCE, ELB_CALLS_PER_SECOND, TARGETS_PER_CALL } from '../limits.ts';

/**
 * Seconds until it is the run's turn to make so many calls; 0 when it is now. Asked before anything is read that the calls
 * rest on: a run that has to wait reads nothing meanwhile.
 */
export async function secondsToTurn(runId: string, act: PacedAct, calls: number): Promise<number> {
  const nowMs = Date.now();
  return Math.ceil(((await turnOf(runId, act, calls, nowMs)) - nowMs) / 1000);
}

/** The same, for changing so many targets in each of so many groups: as many calls as one turn has room for. */
export const secondsToMove = (
  runId: string,
  act: 'out' | 'back',
  { targets, groups }: { readonly targets: number; readonly groups: number },
): Promise<number> =>
  secondsToTurn(runId, act, Math.min(ELB_CALLS_AT_ONCE, groups * Math.ceil(targets / TARGETS_PER_CALL)));

/**
 * Makes as many of these calls as one turn has room for. Which are left is found by looking again: every act of the bracket
 * does only what is still to do.
 *
 * @returns seconds until another turn may be asked for; 0 when all are done
 */
export async function inTurn(calls: readonly (() => Promise<unknown>)[]): Promise<number> {
  const now = calls.slice(0, ELB_CALLS_AT_ONCE);
  for (const call of now) await call();
  return calls.length > now.length ? Math.ceil(now.length / ELB_CALLS_PER_SECOND) : 0;
}
