import type { ZoneClass } from '../domain/zone-view.ts';
import { pk } from './items.ts';
import { change, getAll, type Item, json, number, parsed } from './table.ts';
import { type Guard, guardsIn } from './target-group-guards.ts';

/** What a target group looked like, zone by zone, at the last view. */
export interface ZoneView {
  readonly group: string;
  readonly class: ZoneClass;
  /** Of the class `one-zone`. */
  readonly event?: ZoneEventSeen;
  /** What it is, and where to look; empty when nothing is wrong. */
  readonly summary: string;
  /** Seconds since the epoch. */
  readonly at: number;
  /** When each unhealthy target was first seen so, in milliseconds since the epoch; null when nobody had looked right before. */
  readonly unhealthySince: Readonly<Record<string, number | null>>;
  /** When targets of it were first seen to drain, in milliseconds since the epoch; absent when none does. */
  readonly drainingSince?: number;
}

/** A zone of a group that fails as a whole; targets by their keys. */
export interface ZoneEventSeen {
  readonly zone: string;
  readonly failing: readonly string[];
  /** What serves the requests meanwhile. */
  readonly receiving: readonly string[];
}

const zonesPk = (targetGroupArn: string): string => `zones#${targetGroupArn}`;

/** A group that nobody views any more is forgotten. */
const KEPT_SECONDS = 86_400;

/** The last view of each of these groups; one that was never viewed has no entry. */
export async function zoneViews(arns: readonly string[]): Promise<ReadonlyMap<string, ZoneView>> {
  return viewsIn(await getAll(arns.map(zonesPk)), arns);
}

function viewsIn(items: ReadonlyMap<string, Item>, arns: readonly string[]): ReadonlyMap<string, ZoneView> {
  return new Map(
    arns.flatMap(arn => {
      const view = parsed<ZoneView>(items.get(zonesPk(arn))?.view);
      return view ? [[arn, view] as const] : [];
    }),
  );
}

/** Two things of target groups that a plan asks for, in one read. */
export interface GuardsAndViews {
  readonly guards: ReadonlyMap<string, Guard>;
  readonly views: ReadonlyMap<string, ZoneView>;
}

export async function guardsAndViews(
  guarded: readonly string[],
  viewed: readonly string[],
): Promise<GuardsAndViews> {
  const items = await getAll([...guarded.map(pk.targetGroup), ...viewed.map(zonesPk)]);
  return { guards: guardsIn(items, guarded), views: viewsIn(items, viewed) };
}

/** Keeps a view unless a later one is there (R-NEWER). */
export async function keepZoneView(arn: string, view: ZoneView): Promise<void> {
  await change(zonesPk(arn), {
    UpdateExpression: 'SET #view = :view, viewedAt = :at, expiresAt = :expires',
    ConditionExpression: 'attribute_not_exists(viewedAt) OR viewedAt < :at',
    ExpressionAttributeNames: { '#view': 'view' },
    ExpressionAttributeValues: {
      ':view': json(view),
      ':at': number(view.at),
      ':expires': number(view.at + KEPT_SECONDS),
    },
    ReturnValues: 'NONE',
  });
}
