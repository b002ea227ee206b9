import { concurrently } from '../aws/batch.ts';
import {
  everyTargetGroup,
  type TargetGroupFacts,
  tagsOf,
  targetHealth,
} from '../aws/elastic-load-balancing.ts';
import { describeInstances, type InstanceFacts, instancesWithAddresses } from '../aws/instances.ts';
import { healthUnlessGone } from '../bracket/seen-targets.ts';
import { type Diagnosis, diagnose } from '../domain/diagnosis.ts';
import { togetherOf } from '../domain/diagnosis-words.ts';
import { targetKey } from '../domain/fleet.ts';
import { isUnhealthy, receives } from '../domain/floors.ts';
import type { ObservedGroup, ObservedInstance } from '../domain/observed-fleet.ts';
import { classOf, ZONE_CLASSES, type ZoneClass } from '../domain/zone-view.ts';
import { findInstances } from '../ledger/instances.ts';
import type { InstanceRecord } from '../ledger/items.ts';
import { keepZoneView, type ZoneView, zoneViews } from '../ledger/zone-views.ts';
import { DESCRIBES_AT_ONCE, LEDGER_WRITES_AT_ONCE } from '../limits.ts';
import type { Measure } from '../metrics.ts';
import type { OptInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import {
  type ListedGroup,
  observedGroup,
  observedTarget,
  type ReadGroup,
  readGroups,
  zoneOf,
} from './observe-groups.ts';

/** What one view of all target groups has seen. */
export interface Viewed {
  readonly groups: number;
  /** How many groups are of each class; none of what nothing is. */
  readonly classes: Readonly<Partial<Record<ZoneClass, number>>>;
  /** Groups whose class is another one than at the view before. */
  readonly changes: readonly ClassChange[];
  /** What could not be looked at. */
  readonly remarks: readonly string[];
  readonly measures: readonly Measure[];
}

export interface ClassChange {
  readonly group: string;
  readonly from: ZoneClass;
  readonly to: ZoneClass;
  readonly zone?: string;
  readonly summary: string;
}

/**
 * Looks at every target group that carries the tag and serves: who is healthy and who receives, zone by zone, and what befalls
 * it. What a run claims is left out while it is not healthy: a deployment looks like that.
 */
export async function viewZones(optIn: OptInTag): Promise<Viewed> {
  const all = await everyTargetGroup();
  const listed = await listGroups(all, optIn);
  const arns = listed.map(({ facts }) => facts.arn);
  const instances = await instancesOf(listed);
  const [{ groups, remarks }, records, before] = await Promise.all([
    readGroups(listed, { logs: true, metrics: all }),
    findInstances([...new Set([...instances.values()].map(({ id }) => id))]),
    zoneViews(arns),
  ]);
  const now = nowSeconds();
  const zones = new Map([...instances].map(([id, { zone }]) => [id, zone]));
  const viewed = groups.map(group =>
    viewOf(group, { instances, zones, records, now }, before.get(group.facts.arn)),
  );
  await concurrently(viewed, LEDGER_WRITES_AT_ONCE, ({ arn, view }) => keepZoneView(arn, view));
  const views = viewed.map(({ view }) => view);
  return {
    groups: viewed.length,
    classes: Object.fromEntries(
      [...Map.groupBy(views, one => one.class)].map(([kind, of]) => [kind, of.length]),
    ),
    changes: viewed.flatMap(({ arn, view }) => changeOf(view, before.get(arn))),
    remarks,
    measures: [...viewed.flatMap(({ observed }) => measureZones(observed)), ...measureClasses(views)],
  };
}

async function listGroups(
  all: readonly TargetGroupFacts[],
  { key, value }: OptInTag,
): Promise<readonly ListedGroup[]> {
  const serving = all.filter(
    ({ targetType, loadBalancerArns }) =>
      (targetType === 'instance' || targetType === 'ip') && loadBalancerArns.length > 0,
  );
  const tags = await tagsOf(serving.map(({ arn }) => arn));
  const ours = serving.filter(({ arn }) => tags.get(arn)?.[key] === value);
  const listed = await concurrently(ours, DESCRIBES_AT_ONCE, async facts => {
    const health = await healthUnlessGone(facts.arn, targetHealth);
    return health ? [{ facts, health }] : [];
  });
  return listed.flat();
}

/** Behind targets, by their ids and addresses. */
async function instancesOf(listed: readonly ListedGroup[]): Promise<ReadonlyMap<string, InstanceFacts>> {
  const ids = new Set(listed.flatMap(({ health }) => health.map(({ target }) => target.id)));
  const isInstance = (id: string) => id.startsWith('i-');
  const found = [
    ...(await describeInstances([...ids].filter(isInstance))).values(),
    ...(await instancesWithAddresses([...ids].filter(id => !isInstance(id)))),
  ];
  return new Map(found.flatMap(one => [one.id, ...one.privateAddresses].map(id => [id, one] as const)));
}

interface Known {
  /** By ids and addresses. */
  readonly instances: ReadonlyMap<string, InstanceFacts>;
  readonly zones: ReadonlyMap<string, string>;
  readonly records: ReadonlyMap<string, InstanceRecord>;
  readonly now: number;
}

interface ViewedGroup {
  readonly arn: string;
  readonly observed: ObservedGroup;
  readonly view: ZoneView;
}

function viewOf(group: ReadGroup, known: Known, before: ZoneView | undefined): ViewedGroup {
  const { facts, health } = group;
  const { now } = known;
  const unhealthySince = sinceWhen(group, before, now);
  const drainingSince = isDraining(health) ? (drainSeen(before, now) ?? now * 1000) : undefined;
  const observed = observedGroup(group, known.zones, drainingSince);
  const instances = health.map(one =>
    observedMember(group, one, known, unhealthySince[targetKey(one.target)] ?? undefined),
  );
  const diagnosis = diagnose({ instances, groups: [observed] });
  const words = [
    ...diagnosis.findings.flatMap(({ summary, evidence }) => [summary, ...evidence]),
    ...togetherOf(diagnosis, [observed]),
  ];
  const view: ZoneView = {
    group: facts.name,
    class: classOf(diagnosis),
    ...zoneEventIn(diagnosis, health),
    summary: words.join(' '),
    at: now,
    unhealthySince,
    ...(drainingSince !== undefined && { drainingSince }),
  };
  return { arn: facts.arn, observed, view };
}

/** What began while nobody looked began nobody knows when: it would seem to have begun together. */
function sinceWhen(
  { health }: ReadGroup,
  before: ZoneView | undefined,
  now: number,
): ZoneView['unhealthySince'] {
  const began = isWatched(before, now) ? now * 1000 : null;
  return Object.fromEntries(
    health.filter(isUnhealthy).map(({ target }) => {
      const known = before?.unhealthySince[targetKey(target)];
      return [targetKey(target), known === undefined ? began : known];
    }),
  );
}

const isWatched = (before: ZoneView | undefined, now: number): before is ZoneView =>
  before !== undefined && before.at >= now - WATCHED_SECONDS;

const isDraining = (health: ReadGroup['health']): boolean => health.some(({ state }) => state === 'draining');

/** When the drain that goes on was first seen. */
const drainSeen = (before: ZoneView | undefined, now: number): number | undefined =>
  isWatched(before, now) ? before.drainingSince : undefined;

/** Two turns of the schedule. */
const WATCHED_SECONDS = 120;

/** A target as an instance of its own: two ports of one instance may fare differently. */
function observedMember(
  group: ReadGroup,
  health: ReadGroup['health'][number],
  { instances, zones, records }: Known,
  unhealthySince: number | undefined,
): ObservedInstance {
  const { id } = health.target;
  const instance = instances.get(id);
  const claims = [...(records.get(instance?.id ?? id)?.claims.keys() ?? [])];
  const target = observedTarget(group, health, instance?.privateAddresses ?? [id]);
  return {
    instanceId: targetKey(health.target),
    zone: zoneOf(health.target, zones),
    // One that is healthy counts among those that are well, whoever works on it.
    ...(claims.length > 0 &&
      health.state !== 'healthy' && { notInService: `is in the run ${claims.join(', ')}` }),
    suppressed: false,
    checks: [],
    targets: [{ ...target, ...(unhealthySince !== undefined && { unhealthySince }) }],
  };
}

/** Those who receive are only those who are well: a zone that fails open for itself loses nothing more. */
function zoneEventIn(diagnosis: Diagnosis, health: ReadGroup['health']): Pick<ZoneView, 'event'> {
  const { reach, findings } = diagnosis;
  if (reach?.kind !== 'zone' || classOf(diagnosis) !== 'one-zone') return {};
  const receiving = health.filter(({ zonalShift, ...one }) => receives({ ...one, shifted: zonalShift }));
  return {
    event: {
      zone: reach.zone,
      failing: [...new Set(findings.flatMap(({ instanceIds }) => instanceIds))],
      receiving: receiving.map(({ target }) => targetKey(target)),
    },
  };
}

function changeOf(
  { group, class: to, event, summary }: ZoneView,
  before: ZoneView | undefined,
): ClassChange[] {
  const from = before?.class ?? 'well';
  return from === to ? [] : [{ group, from, to, ...(event && { zone: event.zone }), summary }];
}

const measureZones = ({ name, zones }: ObservedGroup): Measure[] =>
  zones.flatMap(({ zone: az, healthy, receiving }): Measure[] => [
    { metric: 'zone_healthy_targets', value: healthy, target_group: name, az },
    { metric: 'zone_receiving_targets', value: receiving, target_group: name, az },
  ]);

/** Each class at each view, also none: an alarm on it then knows that it is over. */
const measureClasses = (views: readonly ZoneView[]): Measure[] =>
  ZONE_CLASSES.map(kind => ({
    metric: 'zone_class_total',
    value: views.filter(view => view.class === kind).length,
    class: kind,
  }));
