/**
 * How often a loop may look. Derived, so that no run can die of its own history (R-HISTORY): an execution ends,
 * uncatchably, at 25,000 events, and a loop may use at most 80 % of them.
 */
export interface PaceLimits {
  readonly historyEvents: number;
  readonly eventsPerTurn: number;
  readonly shortestSeconds: number;
}

export const paceLimits: PaceLimits = {
  // SFN quota "Maximum execution history size".
  historyEvents: 25_000,
  // One turn of a loop is Wait (entered, exited), Task (entered, scheduled, started, succeeded, exited) and Choice
  // (entered, exited); a retried task adds three for each attempt, so count two retries in every turn.
  eventsPerTurn: 15,
  // R-THROTTLE: poll no faster than 10 s.
  shortestSeconds: 10,
};

/** Loops that can run in one execution: lead, traffic (act and drain), joint, and the undo after them. */
const LOOPS = 6;

/** Seconds between two looks of a loop that may last `budgetSeconds`. */
export function pollSeconds(budgetSeconds: number, limits: PaceLimits = paceLimits): number {
  const turns = Math.floor((0.8 * limits.historyEvents) / (LOOPS * limits.eventsPerTurn));
  return Math.max(limits.shortestSeconds, Math.ceil(budgetSeconds / turns));
}

/** The next wait in whole seconds: the poll interval, but never past the deadline; 0 when the budget is spent. */
export function nextWait(nowSeconds: number, deadlineSeconds: number, poll: number): number {
  if (nowSeconds >= deadlineSeconds) return 0;
  return Math.max(1, Math.min(poll, Math.ceil(deadlineSeconds - nowSeconds)));
}
