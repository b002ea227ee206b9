import * as z from 'zod/mini';
import { logEvents } from '../core/log-events.ts';
import { type PlacedChange, type ReadLog, readLog } from '../core/logs/read-log.ts';
import { record } from '../core/metrics.ts';
import { say, step } from '../core/step.ts';

/** EventBridge tells of an object that was written to the bucket of the logs. */
const trigger = z.object({
  detail: z.object({
    bucket: z.object({ name: z.string() }),
    object: z.object({ key: z.string() }),
  }),
});

/** Of one file so many changes are told one by one; the rest is a number. */
const TOLD = 100;

/** Counts what the nodes of load balancers saw in their health checks, and tells whose health changed. */
export const handler = step(trigger, async ({ detail: { bucket, object } }, requestId) => {
  const read = await readLog({ bucket: bucket.name, key: object.key }, requestId);
  record(read.measures);
  if (read.kind !== 'health-check') {
    say(logEvents.healthCheckLogSkipped, { kind: read.kind, key: object.key });
    return { kind: read.kind };
  }
  const { measures: _, changes, ...seen } = read;
  for (const change of changes.slice(0, TOLD)) tell(change, seen);
  say(logEvents.healthCheckLogRead, { ...seen, changes: changes.length });
  return { ...seen, changes: changes.length };
});

type Seen = Pick<Extract<ReadLog, { kind: 'health-check' }>, 'loadBalancer' | 'node' | 'nodeZone'>;

function tell({ kind, at, ...change }: PlacedChange, { loadBalancer, node, nodeZone }: Seen): void {
  const event = kind === 'failed' ? logEvents.targetFailed : logEvents.targetRecovered;
  say(event, { ...change, at: new Date(at).toISOString(), loadBalancer, node, nodeZone });
}
