import type { Member } from '../domain/fleet.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';

/**
 * Every instance that a run may have changed, each once: those of its plan, and those that were launched meanwhile. What joins a
 * run that is still queued is in service, and a member, when it is planned again.
 */
export const instancesOf = (run: Pick<RunRecord, 'plan' | 'newcomers'>): readonly string[] => [
  ...new Set([...run.plan.instanceIds, ...run.newcomers]),
];

/** A run's members as they were claimed. What is claimed no more is finished and left out. */
export const membersOf = (run: RunRecord, records: ReadonlyMap<string, InstanceRecord>): Member[] =>
  claimed(run, run.plan.instanceIds, records);

/** Instances that were launched during the run, of which nothing is asked but their release. */
export const newcomersOf = (run: RunRecord, records: ReadonlyMap<string, InstanceRecord>): Member[] =>
  claimed(
    run,
    run.newcomers.filter(id => !run.plan.instanceIds.includes(id)),
    records,
  );

const claimed = (
  run: RunRecord,
  instanceIds: readonly string[],
  records: ReadonlyMap<string, InstanceRecord>,
): Member[] =>
  instanceIds.flatMap(id => {
    const record = records.get(id);
    const claim = record?.claims.get(run.runId);
    if (!record || !claim) return [];
    return record.traffic === run.runId ? { ...claim.member, memberships: record.memberships } : claim.member;
  });
