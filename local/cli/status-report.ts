import type { Claim, InstanceRecord, RunRecord } from '../../functions/core/ledger/items.ts';
import type { LedgerView } from './ledger-scan.ts';

/** What `quiesce status --json` prints. Times are seconds since the epoch. */
export interface StatusReport extends Omit<LedgerView, 'runs' | 'instances'> {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.status/1';
  readonly runs: readonly RunStatus[];
  readonly instances: readonly InstanceStatus[];
}

export type RunStatus = Pick<RunRecord, 'runId' | 'phase' | 'owner' | 'createdAt' | 'goAheadAt'> & {
  /** When it is over at the latest, as far as is known in its phase. */
  readonly deadline: number;
  readonly instances: number;
};

export interface InstanceStatus extends Omit<InstanceRecord, 'claims'> {
  readonly claims: readonly (Pick<Claim, 'until' | 'fate'> & { readonly runId: string })[];
}

export function statusOf({ runs, instances, ...others }: LedgerView): StatusReport {
  return {
    format: 'quiesce.status/1',
    runs: runs.map(run => ({
      runId: run.runId,
      phase: run.phase,
      owner: run.owner,
      createdAt: run.createdAt,
      deadline: endsBy(run),
      ...(run.goAheadAt !== undefined && { goAheadAt: run.goAheadAt }),
      instances: run.plan.instanceIds.length,
    })),
    instances: instances.map(({ claims, ...record }) => ({
      ...record,
      claims: [...claims].map(([runId, { until, fate }]) => ({ runId, until, ...(fate && { fate }) })),
    })),
    ...others,
  };
}

/**
 * When a live run is over at the latest. The record's own deadline is that of the machine which works on the run; from the
 * go-ahead to the start of after-deploy none does, and the plan's budgets say how long the deployment and what follows may take.
 */
export function endsBy({ phase, deadline, goAheadAt, plan }: RunRecord): number {
  if (phase !== 'go-ahead' || goAheadAt === undefined) return deadline;
  const { deployment, after, undo } = plan.budgets;
  return goAheadAt + deployment + after + undo;
}
