import { type ObjectName, openObject } from '../aws/s3.ts';
import { type Change, changesIn } from '../domain/health-check-changes.ts';
import { readHealthCheckLine } from '../domain/health-check-line.ts';
import { HealthCheckSummary, OTHER, type SeenTarget } from '../domain/health-check-summary.ts';
import { type HealthCheckLogFile, type LogFile, logFileOf } from '../domain/load-balancer-log.ts';
import { QuiesceError, Unavailable } from '../errors.ts';
import {
  type CountedFile,
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
import { type Place, placeOf, placesOf, zoneOfNode } from './places.ts';

/** Why a file is not counted: it is of another kind, was counted before, or comes so late that nobody knows whether it was. */
export type Skipped = Exclude<LogFile['kind'], 'health-check'> | 'twice' | 'late';

/** What became of one file that has come to the bucket. */
export type ReadLog =
  | { readonly kind: Skipped; readonly measures: readonly Measure[] }
  | {
      readonly kind: 'health-check';
      readonly loadBalancer: string;
      readonly node: string;
      /** `unknown` when no interface has the node's address now. */
      readonly nodeZone: string;
      readonly lines: number;
      readonly badLines: number;
      readonly failing: number;
      readonly changes: readonly PlacedChange[];
      readonly measures: readonly Measure[];
    };

export type PlacedChange = Change & Place;

/** So many fit into an item of 400 KB with the longest names: more than AWS's default quota of 1,000 targets of a load balancer. */
const FAILING = 1_400;

/** AWS's default quota of target groups of an Application Load Balancer. */
const SLOWEST = 100;

/** Clocks differ, but not by a period; a file of the future would stand for the node's last word until then. */
const AHEAD_SECONDS = 600;

/** Files of one node that come at the same moment take turns. */
const TURNS = 5;

/**
 * Reads a file of a health check log and counts it, once. The conditional write comes last: whatever fails before it leaves the
 * file to be read again. An invocation whose write is there already goes on where it was: the answer of the write was lost, or
 * it died after it and is tried again. The changes of the second kind are not told any more.
 *
 * @param requestId - of the invocation; Lambda's retry of it carries the same
 * @throws LogUnreadable, LogDamaged, and the errors of the calls
 */
export async function readLog(object: ObjectName, requestId: string): Promise<ReadLog> {
  const file = logFileOf(object.key);
  if (file.kind !== 'health-check') return skipped(file.kind);
  const age = nowSeconds() - file.endsAt / 1000;
  if (age < -AHEAD_SECONDS) return skipped('unknown');
  if (age > LOG_EVENTS_SECONDS) return skipped('late');
  const owner = ownerOf(file, await nodeLog(file.loadBalancer, file.node));
  if (owner !== undefined && owner !== requestId) return skipped('twice');
  const summary = await summarise(object, file.endsAt + AHEAD_SECONDS * 1000);
  const targets = summary.targets();
  const places = await placesOf(targets.map(({ target }) => target));
  const nodeZone = await zoneOfNode(file.node);
  const mine = { ...file, countedBy: requestId };
  let next: Counted | undefined;
  for (let turn = 0; turn < TURNS; turn++) {
    const kept = await nodeLog(file.loadBalancer, file.node);
    const owner = ownerOf(file, kept);
    if (owner !== undefined && owner !== requestId) return skipped('twice');
    if (owner === undefined) {
      next = counted(kept.log, mine, targets);
      if (!(await keepNodeLog(file.loadBalancer, file.node, next.log, kept))) continue;
    }
    next ??= { ...counted(kept.log, mine, targets), changes: [] };
    return {
      kind: 'health-check',
      loadBalancer: file.loadBalancer,
      node: file.node,
      nodeZone,
      lines: summary.lines,
      badLines: summary.badLines,
      failing: next.log.failing.length,
      changes: next.changes.map(change => ({ ...change, ...placeOf(places, change.target) })),
      measures: [measureOf('health-check'), ...measureHealthChecks(summary, places, nodeZone)],
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

/** The invocation that has counted a file; undefined when none has. */
const ownerOf = ({ tag }: HealthCheckLogFile, { log }: KeptNodeLog): string | undefined =>
  log?.files.find(file => file.tag === tag)?.countedBy;

/** @param latest - until when a check can have been made */
async function summarise(object: ObjectName, latest: number): Promise<HealthCheckSummary> {
  const summary = new HealthCheckSummary();
  try {
    await decompress(await openObject(object), async bytes => {
      for await (const lines of linesOf(bytes))
        for (const text of lines) {
          const line = readHealthCheckLine(text);
          summary.add(line && line.at <= latest ? line : undefined);
        }
    });
  } catch (error) {
    if (error instanceof QuiesceError) throw error;
    // The connection broke while it was read.
    throw new Unavailable('s3:GetObject', 'Broken', String(error), error);
  }
  return summary;
}

interface Counted {
  readonly log: NodeLog;
  readonly changes: readonly Change[];
}

/**
 * A node's record after one more file. One that comes after a later one changes nothing that is known of the targets, and one of
 * the same period adds to it.
 */
function counted(
  before: NodeLog | undefined,
  { endsAt, tag, countedBy }: HealthCheckLogFile & Pick<CountedFile, 'countedBy'>,
  targets: readonly SeenTarget[],
): Counted {
  const oldest = Date.now() - LOG_EVENTS_SECONDS * 1000;
  const known = (before?.files ?? []).filter(file => endOf(file.tag) >= oldest);
  const files = [...known, { tag, countedBy }];
  if (before && before.endsAt > endsAt) return { log: { ...before, files }, changes: [] };
  const toldApart = targets.filter(({ target }) => target !== OTHER);
  const { changes, failing } = changesIn(toldApart, before?.failing ?? []);
  const slowest = slowestOf([...passesOf(targets), ...(before?.endsAt === endsAt ? before.slowest : [])]);
  return { log: { endsAt, files, failing: failing.slice(0, FAILING), slowest }, changes };
}

const endOf = (tag: string): number => Date.parse(tag.slice(0, 17));

const passesOf = (targets: readonly SeenTarget[]): readonly SlowestPass[] =>
  targets.flatMap(({ group, target, slowestPassSeconds: seconds }) =>
    seconds === null ? [] : [{ group, target, seconds }],
  );

function slowestOf(passes: readonly SlowestPass[]): readonly SlowestPass[] {
  const byGroup = Map.groupBy(passes, ({ group }) => group);
  const slowest = Array.from(byGroup.values(), ofGroup =>
    ofGroup.reduce((slowest, one) => (one.seconds > slowest.seconds ? one : slowest)),
  );
  return slowest.slice(0, SLOWEST);
}
