import { type AdoptionRecord, toAdoption } from './adoptions.ts';
import { type Hold, toHold } from './auto-scaling-holds.ts';
import { type Demotion, toDemotion } from './demotions.ts';
import { toRecord } from './instances.ts';
import { type InstanceRecord, pk, type RunRecord } from './items.ts';
import { type RetirementRecord, toRetirement } from './retirements.ts';
import { toRun } from './runs.ts';
import { type Succession, toSuccession } from './successions.ts';
import { type Item, scan, textAt } from './table.ts';
import { type Guard, toGuard } from './target-group-guards.ts';

/** Everything in the ledger that may have to be undone, as it was when its page was read. */
export interface AllHeld {
  /** The live runs, and those that have failed. */
  readonly runs: ReadonlyMap<string, RunRecord>;
  readonly instances: readonly InstanceRecord[];
  readonly guards: ReadonlyMap<string, Guard>;
  readonly holds: readonly (Hold & { readonly group: string })[];
  /** Those that are live, or have still to be undone. */
  readonly adoptions: readonly AdoptionRecord[];
  /** Those that are live. */
  readonly retirements: readonly RetirementRecord[];
  /** Those of which a group may be gone. */
  readonly successions: readonly Succession[];
  readonly demotions: readonly Demotion[];
}

const RUN = pk.run('');
const INSTANCE = pk.instance('');
const TARGET_GROUP = pk.targetGroup('');
const AUTO_SCALING = pk.autoScaling('');
const ADOPTION = pk.adoption('');
const RETIREMENT = pk.retirement('');
const SUCCESSION = pk.succession('');
const DEMOTION = pk.demotion('');

/** Which items hold something, or are still to be looked after. */
const HOLDING = [
  'begins_with(pk, :instance)',
  'begins_with(pk, :targetGroup)',
  'begins_with(pk, :autoScaling)',
  'begins_with(pk, :run) AND (#status = :live OR outcome = :failed)',
  'begins_with(pk, :adoption) AND #status <> :ended',
  'begins_with(pk, :retirement) AND #status = :live',
  'begins_with(pk, :demotion)',
  'begins_with(pk, :succession) AND attribute_exists(checkIds)',
];

/**
 * Reads the whole table (D16): no index can be late, and no TTL can have hidden what is still to undo. The pages are not of
 * one instant, so whoever acts on what is read here looks at it again first.
 */
export async function readAllHeld(): Promise<AllHeld> {
  const items = await scan({
    FilterExpression: HOLDING.join(' OR '),
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':instance': { S: INSTANCE },
      ':targetGroup': { S: TARGET_GROUP },
      ':autoScaling': { S: AUTO_SCALING },
      ':run': { S: RUN },
      ':adoption': { S: ADOPTION },
      ':retirement': { S: RETIREMENT },
      ':succession': { S: SUCCESSION },
      ':demotion': { S: DEMOTION },
      ':ended': { S: 'ended' },
      ':live': { S: 'live' },
      ':failed': { S: 'failed' },
    },
  });
  const ofKind = <T>(prefix: string, read: (id: string, item: Item) => T): T[] =>
    items
      .map(item => ({ key: textAt(item, 'pk'), item }))
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key, item }) => read(key.slice(prefix.length), item));
  return {
    runs: new Map(ofKind(RUN, (runId, item) => [runId, toRun(item)])),
    instances: ofKind(INSTANCE, toRecord),
    guards: new Map(ofKind(TARGET_GROUP, (arn, item) => [arn, toGuard(item)])),
    adoptions: ofKind(ADOPTION, toAdoption),
    retirements: ofKind(RETIREMENT, toRetirement),
    successions: ofKind(SUCCESSION, toSuccession),
    demotions: ofKind(DEMOTION, toDemotion),
    holds: ofKind(AUTO_SCALING, (group, item) => ({ group, ...toHold(item) })),
  };
}
