import { inChunks } from '../aws/batch.ts';
import { endLastClaim, leaveClaim } from '../ledger/instances.ts';
import type { InstanceRecord } from '../ledger/items.ts';
import { LEDGER_WRITES_AT_ONCE } from '../limits.ts';

/** Ends every claim of the run, and with a last claim the instance's record. */
export async function endClaims(runId: string, records: ReadonlyMap<string, InstanceRecord>): Promise<void> {
  const claimed = [...records.values()].filter(record => record.claims.has(runId));
  await inChunks(claimed, 1, LEDGER_WRITES_AT_ONCE, async ([record]) => {
    if (record && !(await endLastClaim(runId, record))) await leaveClaim(runId, record);
  });
}
