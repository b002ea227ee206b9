import type { Entry } from '../account/journal.ts';
import type { TrafficBucket, TrafficSeries } from './data.ts';

/** So many bars are read at a glance on one screen. */
const MOST_BUCKETS = 120;
const BUCKET_SECONDS = [10, 15, 30, 60, 120, 300, 600, 1800, 3600] as const;

/** What was sent and what failed in the window, in buckets of a round length; undefined when nothing was sent. */
export function trafficSeries(
  { from, to }: { readonly from: number; readonly to: number },
  sentBySecond: ReadonlyMap<number, number>,
  entries: readonly Entry[],
): TrafficSeries | undefined {
  if (sentBySecond.size === 0) return undefined;
  const seconds = (to - from) / 1000;
  const bucketMs = 1000 * (BUCKET_SECONDS.find(length => seconds / length <= MOST_BUCKETS) ?? 7200);
  const buckets = Array.from({ length: Math.ceil((to - from) / bucketMs) }, () => ({
    sent: 0,
    failed: 0,
    causes: {} as Record<string, number>,
  }));
  const at = (time: number) => buckets[Math.floor((time - from) / bucketMs)];
  for (const [second, count] of sentBySecond) {
    // Traffic begins with the window, which may begin within a second.
    const bucket = at(Math.max(second * 1000, from));
    if (bucket) bucket.sent += count;
  }
  for (const entry of entries) {
    if (entry.type !== 'requests-failed') continue;
    const bucket = at(entry.at);
    if (!bucket) continue;
    bucket.failed += entry.count;
    bucket.causes[entry.cause] = (bucket.causes[entry.cause] ?? 0) + entry.count;
  }
  return { bucketMs, buckets: buckets satisfies readonly TrafficBucket[] };
}
