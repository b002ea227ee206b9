import { alarmsWithPrefix } from '../aws/alarms.ts';
import { isOurs, reconcile } from '../domain/alarm-changes.ts';
import { fenceAlarms } from '../ledger/alarms.ts';
import { ALARMS_PER_CALL } from '../limits.ts';
import { nowSeconds } from '../time.ts';
import { changeAlarms } from './change-alarms.ts';

export interface AlarmsDeleted {
  readonly deleted: number;
  /** How many of ours are left: with any, call again after `waitSeconds`. Those that composite alarms of others name stay. */
  readonly left: number;
  readonly waitSeconds: number;
  /** Those of `left` that composite alarms of others name, as far as this call has come to them. */
  readonly kept: readonly string[];
  /** Since when nobody begins to make alarms, in seconds since the epoch. */
  readonly fencedAt: number;
}

/** For so long nobody makes alarms again: a deletion that is given up must not stop them for good. Ours. */
const FENCED_SECONDS = 3_600;

/**
 * Deletes the alarms that this stack has made, as many as one turn has room for; nothing of others (R-OWN). Whoever reconciles
 * them is fenced first; an act of it that is in flight ends within ACT_TIMEOUT_SECONDS, and what it still makes the next call
 * of this finds.
 *
 * @param prefix of the names of the stack's alarms
 */
export async function deleteOwnAlarms(prefix: string): Promise<AlarmsDeleted> {
  const now = nowSeconds();
  const fencedAt = await fenceAlarms('deletion', now + FENCED_SECONDS, now);
  const ours = (await alarmsWithPrefix(prefix)).filter(alarm => isOurs(prefix, alarm));
  const { calls } = reconcile(ours, [], now, ALARMS_PER_CALL);
  if (calls.length === 0) return { deleted: 0, left: ours.length, waitSeconds: 0, kept: [], fencedAt };
  const { removed, kept, waitSeconds } = await changeAlarms(calls, {});
  return { deleted: removed, left: ours.length - removed, waitSeconds, kept, fencedAt };
}
