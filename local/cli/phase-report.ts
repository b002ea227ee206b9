import type { PlannedBudgets } from './budgets.ts';
import { budgetOf } from './budgets.ts';
import { hours, table } from './format.ts';
import type { Phase, PhaseName } from './phases.ts';

/** A phase of a run in the words of reports. Times are counted from the beginning of what is reported. */
export interface PhaseReport {
  readonly phase: PhaseName;
  readonly beganSeconds: number;
  readonly tookSeconds: number;
  /** What the plan allows; null for a phase that has no budget of its own. */
  readonly budgetSeconds: number | null;
}

/** @param now where a phase that still lasts is cut off, in milliseconds since the epoch like `startedAt` */
export function reportPhases(
  phases: readonly Phase[],
  budgets: PlannedBudgets | undefined,
  { startedAt, now }: { readonly startedAt: number; readonly now: number },
): PhaseReport[] {
  return phases.map(({ name, began, ended = now }) => ({
    phase: name,
    beganSeconds: (began - startedAt) / 1000,
    tookSeconds: (ended - began) / 1000,
    budgetSeconds: budgets?.[budgetOf[name] ?? ''] ?? null,
  }));
}

/** The phases with the share of their budgets that they used. */
export function phaseTable(phases: readonly PhaseReport[]): string[] {
  if (phases.length === 0) return [];
  return table([['phase', 'began', 'took', 'budget', 'used'], ...phases.map(toRow)]);
}

function toRow({ phase, beganSeconds, tookSeconds, budgetSeconds }: PhaseReport): string[] {
  const began = [phase, `+${hours(beganSeconds * 1000)}`, hours(tookSeconds * 1000)];
  if (!budgetSeconds) return [...began, '-', '-'];
  return [...began, hours(budgetSeconds * 1000), `${Math.round((100 * tookSeconds) / budgetSeconds)} %`];
}
