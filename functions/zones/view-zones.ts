import * as z from 'zod/mini';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { optInTag, setting } from '../core/settings.ts';
import { say, step } from '../core/step.ts';
import { viewZones } from '../core/zones/view-zones.ts';

/** The schedule says nothing but that it is time. */
const trigger = z.object({ source: z.literal('aws.events') });

/** Publishes who is healthy and who receives, zone by zone, and tells of each group whose class has changed. */
export const handler = step(trigger, async () => {
  const { measures, changes, ...viewed } = await viewZones(optInTag(setting('OPT_IN_TAG_VALUE')));
  record(measures);
  for (const change of changes) say(logEvents.zoneClassChanged, { ...change });
  say(logEvents.zonesViewed, { ...viewed });
  return viewed;
});
