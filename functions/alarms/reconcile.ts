import { reconcileAlarms } from '../core/alarms/reconcile-alarms.ts';
import { alarmSettings } from '../core/alarms/settings.ts';
import { logEvents } from '../core/log-events.ts';
import { reconcilePayload } from '../core/payloads.ts';
import { optInTag } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** One turn: what exists is compared with what should, and as much is done as the pace of the account allows. */
export const handler = step(reconcilePayload, async ({ execution, startedAt, optInTagValue, alarms }) => {
  const reconciled = await reconcileAlarms(
    execution,
    Date.parse(startedAt) / 1000,
    optInTag(optInTagValue),
    alarmSettings(alarms),
  );
  say(logEvents.alarmsReconciled, { execution, ...reconciled });
  return reconciled;
});
