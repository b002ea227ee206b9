import { setTimeout } from 'node:timers/promises';
import { deleteAlarms, putAlarm } from '../aws/alarms.ts';
import type { AlarmCall } from '../domain/alarm-changes.ts';
import { pk } from '../ledger/items.ts';
import { turnFor } from '../ledger/pacing.ts';
import { ALARM_WRITES_PER_SECOND, ALARM_WRITES_PER_TURN } from '../limits.ts';

/** What one turn has done. */
export interface Turn {
  readonly put: number;
  readonly removed: number;
  /** Alarms that could not be deleted, because a composite alarm of somebody else's names them (R-PARTIAL). */
  readonly kept: readonly string[];
  /** Seconds until it is our turn; 0 when it was. */
  readonly waitSeconds: number;
}

/**
 * Makes as many of these calls as one turn has room for, when it is our turn, spread evenly over the time that was reserved
 * for them: CloudWatch does not publish what burst it takes. Whatever is left is found by looking again.
 */
export async function changeAlarms(
  calls: readonly AlarmCall[],
  tags: Readonly<Record<string, string>>,
): Promise<Turn> {
  const now = calls.slice(0, ALARM_WRITES_PER_TURN);
  const nowMs = Date.now();
  const turnAt = await turnFor(pk.alarms, 'alarms', now.length, nowMs);
  if (turnAt > nowMs)
    return { put: 0, removed: 0, kept: [], waitSeconds: Math.ceil((turnAt - nowMs) / 1000) };
  const kept: string[] = [];
  let removed = 0;
  let last = 0;
  for (const call of now) {
    await setTimeout(Math.max(0, last + 1000 / ALARM_WRITES_PER_SECOND - Date.now()));
    last = Date.now();
    if ('put' in call) {
      await putAlarm(call.put, call.actionsEnabled, tags);
      continue;
    }
    const left = await deleteAlarms(call.remove);
    kept.push(...left);
    removed += call.remove.length - left.length;
  }
  return { put: now.filter(call => 'put' in call).length, removed, kept, waitSeconds: 0 };
}
