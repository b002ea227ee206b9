import type { RunRecord } from '../ledger/items.ts';
import type { Measure } from '../metrics.ts';

/** What a go-ahead tells; no lead of a run that found its fleet suppressed. @param at in seconds since the epoch */
export const measureGoAhead = ({ suppressedAt }: RunRecord, at: number): Measure[] => [
  { metric: 'go_ahead_total', value: 1 },
  ...(suppressedAt === undefined
    ? []
    : [{ metric: 'suppression_lead_seconds', value: at - suppressedAt } as const]),
];

export const measureOutcome = (
  outcome: 'succeeded' | 'failed' | 'refused',
  error: string | undefined,
): Measure => ({ metric: 'run_total', value: 1, outcome, error: error || 'none' });

/**
 * Blind is a member from the first suppression until the run has observed its release, except while the deployment acts:
 * from the go-ahead until after-deploy begins (D41).
 *
 * @param at when the release was observed, in seconds since the epoch
 */
export function measureBlindness(run: RunRecord, at: number): Measure {
  const { plan, createdAt, suppressedSince = createdAt, goAheadAt, resumedAt, endedAt = at } = run;
  const worked = goAheadAt === undefined ? 0 : (resumedAt ?? endedAt) - goAheadAt;
  const minutes = (plan.suppressing * (at - suppressedSince - worked)) / 60;
  return { metric: 'blind_instance_minutes', value: minutes };
}
