import type { Member } from '../domain/fleet.ts';
import type { InstanceRecord, RunRecord } from '../ledger/items.ts';

/** A run's members as they were claimed. What is claimed no more is finished and left out. */
export const membersOf = (run: RunRecord, records: ReadonlyMap<string, InstanceRecord>): Member[] =>
  run.plan.instanceIds.flatMap(id => {
    const record = records.get(id);
    const claim = record?.claims.get(run.runId);
    if (!record || !claim) return [];
    return record.traffic === run.runId ? { ...claim.member, memberships: record.memberships } : claim.member;
  });
