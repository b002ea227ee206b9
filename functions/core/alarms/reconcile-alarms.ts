import { alarmsWithPrefix } from '../aws/alarms.ts';
import { isOurs, reconcile } from '../domain/alarm-changes.ts';
import { subjectOf } from '../domain/alarm-names.ts';
import { type AlarmSettings, desiredAlarms } from '../domain/alarms.ts';
import { AlarmsUnreconciled } from '../errors.ts';
import { claimAlarms, releaseAlarms } from '../ledger/alarms.ts';
import { ALARMS_PER_CALL, RECONCILIATION_SECONDS } from '../limits.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { changeAlarms } from './change-alarms.ts';
import { haveAlarms, reportedInstances, watchedGroups } from './watched.ts';

/** One turn of a reconciliation. */
export interface Reconciled {
  /** `busy`: another execution is at it, and sees what we would have seen. */
  readonly verdict: 'met' | 'waiting' | 'busy';
  readonly waitSeconds: number;
  /** Alarms that there should be. */
  readonly alarms: number;
  readonly put: number;
  readonly removed: number;
  /** Alarms under our names that others have made: they are left alone, and ours are missing there. */
  readonly foreign: readonly string[];
  /** Alarms that cannot be removed, because composite alarms of others name them. */
  readonly kept: readonly string[];
}

/** From one look to the next while composite alarms wait for their children. Ours. */
const POLL_SECONDS = 30;
/** DescribeAlarms may lie behind what was just put. Ours. */
const SETTLE_SECONDS = 5;
/** Longer than from one act to the next, so that only a dead execution loses the alarms. Ours. */
const CLAIM_SECONDS = 300;

/**
 * Looks at the checks, the instances under them and the alarms that there are, and does as much as one turn allows of what
 * makes them agree. Repeating it changes nothing.
 *
 * @throws AlarmsUnreconciled when it has gone on for too long: the schedule begins another one
 */
export async function reconcileAlarms(
  execution: string,
  startedAt: number,
  tag: OptInTag,
  settings: AlarmSettings,
): Promise<Reconciled> {
  const now = nowSeconds();
  const nothing = { waitSeconds: 0, alarms: 0, put: 0, removed: 0, foreign: [], kept: [] };
  if (!(await claimAlarms(execution, now + CLAIM_SECONDS, now))) return { ...nothing, verdict: 'busy' };
  const [reported, existing] = await Promise.all([reportedInstances(tag), alarmsWithPrefix(settings.prefix)]);
  const ours = existing.filter(alarm => isOurs(settings.prefix, alarm));
  const foreign = existing
    .filter(alarm => !isOurs(settings.prefix, alarm) && subjectOf(settings.prefix, alarm.name))
    .map(({ name }) => name);
  const watched = watchedGroups(reported, haveAlarms(settings.prefix, ours));
  const desired = desiredAlarms(watched, settings, foreign);
  const { calls, waits } = reconcile(ours, desired, now, ALARMS_PER_CALL);
  const looked = { ...nothing, alarms: desired.length, foreign };
  if (calls.length === 0 && !waits) {
    await releaseAlarms(execution);
    return { ...looked, verdict: 'met' };
  }
  if (now >= startedAt + RECONCILIATION_SECONDS)
    throw new AlarmsUnreconciled(
      `After ${RECONCILIATION_SECONDS} s there are still ${calls.length} calls to make. The next reconciliation goes on.`,
    );
  if (calls.length === 0) return { ...looked, verdict: 'waiting', waitSeconds: POLL_SECONDS };
  const turn = await changeAlarms(calls, { [tag.key]: tag.value });
  const waitSeconds = Math.max(turn.waitSeconds, SETTLE_SECONDS);
  // Only people can change what nothing was done about.
  if (turn.put + turn.removed > 0 || turn.kept.length === 0)
    return { ...looked, ...turn, verdict: 'waiting', waitSeconds };
  await releaseAlarms(execution);
  return { ...looked, ...turn, verdict: 'met' };
}
