import { concurrently } from '../aws/batch.ts';
import { endLastClaim, endUnusedClaim, leaveClaim } from '../ledger/instances.ts';
import type { InstanceRecord } from '../ledger/items.ts';
import { LEDGER_WRITES_AT_ONCE } from '../limits.ts';

/** Ends every claim of the run, and with a last claim the instance's record. */
export async function endClaims(runId: string, records: ReadonlyMap<string, InstanceRecord>): Promise<void> {
  const claimed = [...records.values()].filter(record => record.claims.has(runId));
  await concurrently(claimed, LEDGER_WRITES_AT_ONCE, async record => {
    if (!(await endLastClaim(runId, record))) await leaveClaim(runId, record);
  });
}

/**
 * Ends the run's claims on instances where it has done nothing. But what another run has left to it meanwhile, suppressed as it
 * is, stays claimed: from then on it is this run's to release.
 *
 * @returns does a claim stay?
 */
export async function dropClaims(
  runId: string,
  records: ReadonlyMap<string, InstanceRecord>,
): Promise<boolean> {
  const claimed = [...records.values()].filter(record => record.claims.has(runId));
  const stay = await concurrently(claimed, LEDGER_WRITES_AT_ONCE, async record => {
    // Another run may come, or leave, between any two of these.
    if ((await leaveClaim(runId, record)) || (await endUnusedClaim(runId, record))) return false;
    return !(await leaveClaim(runId, record));
  });
  return stay.includes(true);
}
