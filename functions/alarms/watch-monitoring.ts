import * as z from 'zod/mini';
import { readMonitoring } from '../core/alarms/monitoring.ts';
import { checkQuotas } from '../core/check-quotas.ts';
import { percentOf } from '../core/domain/monitoring.ts';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { optInTag, setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';

/** The schedule says nothing but that it is time. */
const trigger = z.object({ source: z.literal('aws.events') });

/** As many as one log line takes. Ours. */
const NAMED = 100;

/** Counts how much of the quotas of checks is used, and names the targets that nothing is reported on (D47). */
export const handler = step(trigger, async () => {
  const tag = optInTag(setting('OPT_IN_TAG_VALUE'));
  const { quotas, unmonitored } = await readMonitoring(tag, checkQuotas(setting('CHECK_QUOTAS')));
  record([
    { metric: 'unmonitored_target_total', value: unmonitored.length },
    { metric: 'check_quota_used_percent', value: Math.max(...quotas.map(percentOf)) },
  ]);
  say(logEvents.monitoringWatched, { quotas, unmonitored: unmonitored.length });
  if (unmonitored.length > 0)
    say(logEvents.targetsUnmonitored, {
      count: unmonitored.length,
      targets: unmonitored.slice(0, NAMED).map(({ instanceId, checkId }) => `${instanceId} ${checkId}`),
    });
  return { quotas, unmonitored: unmonitored.length };
});
