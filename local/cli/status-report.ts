import type { Claim, InstanceRecord, RunRecord } from '../../functions/core/ledger/items.ts';
import type { LedgerView } from './ledger-scan.ts';

/** What `quiesce status --json` prints. Times are seconds since the epoch. */
export interface StatusReport extends Omit<LedgerView, 'runs' | 'instances'> {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.status/1';
  readonly runs: readonly RunStatus[];
  readonly instances: readonly InstanceStatus[];
}

export type RunStatus = Pick<
  RunRecord,
  'runId' | 'phase' | 'owner' | 'createdAt' | 'deadline' | 'goAheadAt'
> & {
  readonly instances: number;
};

export interface InstanceStatus extends Omit<InstanceRecord, 'claims'> {
  readonly claims: readonly (Pick<Claim, 'until'> & { readonly runId: string })[];
}

export function statusOf({ runs, instances, ...others }: LedgerView): StatusReport {
  return {
    format: 'quiesce.status/1',
    runs: runs.map(({ runId, phase, owner, createdAt, deadline, goAheadAt, plan }) => ({
      runId,
      phase,
      owner,
      createdAt,
      deadline,
      ...(goAheadAt !== undefined && { goAheadAt }),
      instances: plan.instanceIds.length,
    })),
    instances: instances.map(({ claims, ...record }) => ({
      ...record,
      claims: [...claims].map(([runId, { until }]) => ({ runId, until })),
    })),
    ...others,
  };
}
