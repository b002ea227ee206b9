import { type ObjectName, openObject } from '../aws/s3.ts';
import { type Change, changesIn } from '../domain/health-check-changes.ts';
import { readHealthCheckLine } from '../domain/health-check-line.ts';
import { HealthCheckSummary, OTHER, type SeenTarget } from '../domain/health-check-summary.ts';
import { type HealthCheckLogFile, type LogFile, logFileOf } from '../domain/load-balancer-log.ts';
import { QuiesceError, Unavailable } from '../errors.ts';
import {
  type KeptNodeLog,
  keepNodeLog,
  type NodeLog,
  nodeLog,
  type SlowestPass,
} from '../ledger/node-logs.ts';
import { LOG_EVENTS_SECONDS } from '../limits.ts';
import type { Measure } from '../metrics.ts';
import { nowSeconds } from '../time.ts';
import { decompress } from './decompress.ts';
import { measureHealthChecks } from './health-measures.ts';
import { linesOf } from './lines.ts';
import { type Place, placeOf, placesOf } from './places.ts';

/** Why a file is not counted: it is of another kind, was counted before, or comes so late that nobody knows whether it was. */
export type Skipped = Exclude<LogFile['kind'], 'health-check'> | 'twice' | 'late';

/** What became of one file that has come to the bucket. */
export type ReadLog =
  | { readonly kind: Skipped; readonly measures: readonly Measure[] }
  | {
      readonly kind: 'health-check';
      readonly loadBalancer: string;
      readonly node: string;
      readonly lines: number;
      readonly badLines: number;
      readonly failing: number;
      readonly changes: readonly PlacedChange[];
      readonly measures: readonly Measure[];
    };

export type PlacedChange = Change & Place;

/** So many fit into an item of 400 KB: twice AWS's default quota of targets of a load balancer. */
const FAILING = 2_000;

/** Files of one node that come at the same moment take turns. */
const TURNS = 5;

/**
 * Reads a file of a health check log and counts it, once. The conditional write comes last: whatever fails before it leaves the
 * file to be read again, and what comes after it is only said.
 *
 * @throws LogUnreadable, LogDamaged, and the errors of the calls
 */
export async function readLog(object: ObjectName): Promise<ReadLog> {
  const file = logFileOf(object.key);
  if (file.kind !== 'health-check') return skipped(file.kind);
  if (file.endsAt / 1000 < nowSeconds() - LOG_EVENTS_SECONDS) return skipped('late');
  if (isCounted(await nodeLog(file.loadBalancer, file.node), file)) return skipped('twice');
  const summary = await summarise(object);
  const targets = summary.targets();
  const places = await placesOf(targets.map(({ target }) => target));
  for (let turn = 0; turn < TURNS; turn++) {
    const kept = await nodeLog(file.loadBalancer, file.node);
    if (isCounted(kept, file)) return skipped('twice');
    const { log, changes } = counted(kept.log, file, targets);
    if (!(await keepNodeLog(file.loadBalancer, file.node, log, kept))) continue;
    return {
      kind: 'health-check',
      loadBalancer: file.loadBalancer,
      node: file.node,
      lines: summary.lines,
      badLines: summary.badLines,
      failing: log.failing.length,
      changes: changes.map(change => ({ ...change, ...placeOf(places, change.target) })),
      measures: [measureOf('health-check'), ...measureHealthChecks(summary, places)],
    };
  }
  throw new Unavailable(
    'dynamodb:UpdateItem',
    'Contended',
    `other files of ${file.node} came first`,
    undefined,
  );
}

const skipped = (kind: Skipped): ReadLog => ({ kind, measures: [measureOf(kind)] });

const measureOf = (kind: ReadLog['kind']): Measure => ({ metric: 'health_check_log_total', value: 1, kind });

const isCounted = ({ log }: KeptNodeLog, { tag }: HealthCheckLogFile): boolean =>
  log?.files.includes(tag) ?? false;

async function summarise(object: ObjectName): Promise<HealthCheckSummary> {
  const summary = new HealthCheckSummary();
  try {
    await decompress(await openObject(object), async bytes => {
      for await (const lines of linesOf(bytes))
        for (const line of lines) summary.add(readHealthCheckLine(line));
    });
  } catch (error) {
    if (error instanceof QuiesceError) throw error;
    // The connection broke while it was read.
    throw new Unavailable('s3:GetObject', 'Broken', String(error), error);
  }
  return summary;
}

/** A node's record after one more file. One that comes after a later one changes nothing that is known of the targets. */
function counted(
  before: NodeLog | undefined,
  { endsAt, tag }: HealthCheckLogFile,
  targets: readonly SeenTarget[],
): { readonly log: NodeLog; readonly changes: readonly Change[] } {
  const oldest = Date.now() - LOG_EVENTS_SECONDS * 1000;
  const files = [...(before?.files ?? []).filter(name => endOf(name) >= oldest), tag];
  if (before && before.endsAt > endsAt) return { log: { ...before, files }, changes: [] };
  const toldApart = targets.filter(({ target }) => target !== OTHER);
  const { changes, failing } = changesIn(toldApart, before?.failing ?? []);
  return { log: { endsAt, files, failing: failing.slice(0, FAILING), slowest: slowestOf(targets) }, changes };
}

const endOf = (tag: string): number => Date.parse(tag.slice(0, 17));

function slowestOf(targets: readonly SeenTarget[]): readonly SlowestPass[] {
  const passed = targets.flatMap(({ group, target, slowestPassSeconds: seconds }) =>
    seconds === null ? [] : [{ group, target, seconds }],
  );
  return Array.from(Map.groupBy(passed, ({ group }) => group).values(), ofGroup =>
    ofGroup.reduce((slowest, one) => (one.seconds > slowest.seconds ? one : slowest)),
  );
}
