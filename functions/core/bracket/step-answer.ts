/** What an act or a look answers to the machine. Every member is always there (D15). */
export interface StepAnswer {
  readonly verdict: 'met' | 'waiting' | 'refused';
  /** Seconds until the next try; 0 unless waiting. */
  readonly waitSeconds: number;
  readonly met: number;
  readonly waiting: number;
  readonly gone: number;
  readonly reasons: readonly string[];
  /** The error to end with, and its sentence; empty unless refused. */
  readonly error: string;
  readonly cause: string;
}

export const metStep = (met: number, gone = 0): StepAnswer => ({
  verdict: 'met',
  waitSeconds: 0,
  met,
  waiting: 0,
  gone,
  reasons: [],
  error: '',
  cause: '',
});

/** Waiting is for as long as the budget lasts (`waitSeconds` 0): then it is `BudgetSpent`, with what was still missing. */
export function waitingStep(
  waitSeconds: number,
  reasons: readonly string[],
  counts: { readonly met: number; readonly waiting: number; readonly gone: number } = {
    met: 0,
    waiting: 0,
    gone: 0,
  },
): StepAnswer {
  const spent = waitSeconds === 0;
  const { met, waiting, gone } = counts;
  return {
    verdict: spent ? 'refused' : 'waiting',
    waitSeconds,
    met,
    waiting,
    gone,
    reasons,
    error: spent ? 'BudgetSpent' : '',
    cause: spent ? `The budget is spent and this was still missing: ${reasons.join('; ')}.` : '',
  };
}
