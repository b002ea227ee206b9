import { isDeepStrictEqual } from 'node:util';
import { type AlarmDefinition, childrenOf, type ExistingAlarm } from './alarm-definition.ts';
import { subjectOf } from './alarm-names.ts';
import { MADE_BY } from './alarm-words.ts';

/** Have we made it? By its name, and by what its description says: DescribeAlarms gives no tags (R-OWN, D18). */
export const isOurs = (prefix: string, { name, description }: ExistingAlarm): boolean =>
  subjectOf(prefix, name) !== undefined && description.includes(MADE_BY);

/** Is an alarm already what it should be? */
export const isAsDesired = (known: ExistingAlarm | undefined, desired: AlarmDefinition): boolean =>
  isDeepStrictEqual(known?.definition, desired);

/** One call that changes alarms. */
export type AlarmCall =
  | { readonly put: AlarmDefinition; readonly actionsEnabled: boolean }
  | { readonly remove: readonly string[] };

export interface Reconciliation {
  /** What can be done now, in this order. */
  readonly calls: readonly AlarmCall[];
  /** Does something have to wait: a composite alarm for its youngest children, or a deletion for that? */
  readonly waits: boolean;
}

/**
 * A metric alarm that was just made has no data. A composite one that asks for silence would ring of it: it waits so long for
 * the first evaluations. Ours: CloudWatch evaluates once a minute.
 */
const YOUNG_SECONDS = 120;

/**
 * What makes the alarms that exist into those that are desired, with as few calls as there can be; none when they are the same.
 *
 * @param existing only our own: what is not among `desired` is removed
 */
export function reconcile(
  existing: readonly ExistingAlarm[],
  desired: readonly AlarmDefinition[],
  nowSeconds: number,
  alarmsPerCall: number,
): Reconciliation {
  const known = new Map(existing.map(alarm => [alarm.name, alarm]));
  const wanted = new Map(desired.map(alarm => [alarm.name, alarm]));
  const puts = desired.filter(alarm => !isAsDesired(known.get(alarm.name), alarm));
  const isReady = (name: string): boolean => {
    const definition = wanted.get(name);
    // Somebody else's, at the place of a part of a tree.
    if (!definition) return true;
    if (definition.kind === 'composite') return childrenOf(definition.rule).every(isReady);
    const alarm = known.get(name);
    if (!alarm) return false;
    return alarm.state !== 'INSUFFICIENT_DATA' || alarm.configuredAt <= nowSeconds - YOUNG_SECONDS;
  };
  const ready = puts.filter(alarm => alarm.kind === 'metric' || isReady(alarm.name));
  const done = new Map(ready.map(alarm => [alarm.name, alarm]));
  const surplus = existing.filter(({ name }) => !wanted.has(name));
  const removed = removable(surplus, existing, done);
  return {
    calls: [
      ...ready.map(put => ({ put, actionsEnabled: known.get(put.name)?.actionsEnabled ?? true })),
      ...removed.composites.map(name => ({ remove: [name] })),
      ...chunked(removed.metrics, alarmsPerCall).map(remove => ({ remove })),
    ],
    waits: ready.length < puts.length || removed.composites.length + removed.metrics.length < surplus.length,
  };
}

/** CloudWatch refuses to delete an alarm that a composite one names. Parents come before their children. */
function removable(
  surplus: readonly ExistingAlarm[],
  existing: readonly ExistingAlarm[],
  done: ReadonlyMap<string, AlarmDefinition>,
): { readonly composites: readonly string[]; readonly metrics: readonly string[] } {
  const childrenNow = ({ name, children }: ExistingAlarm): readonly string[] => {
    const put = done.get(name);
    return put?.kind === 'composite' ? childrenOf(put.rule) : children;
  };
  const parents = new Map<string, Set<string>>();
  for (const alarm of existing)
    for (const child of childrenNow(alarm))
      parents.set(child, (parents.get(child) ?? new Set()).add(alarm.name));
  const isFree = ({ name }: ExistingAlarm) => (parents.get(name)?.size ?? 0) === 0;
  const composites: string[] = [];
  let waiting = surplus.filter(({ kind }) => kind === 'composite');
  for (let free = waiting.filter(isFree); free.length > 0; free = waiting.filter(isFree)) {
    for (const { name, children } of free) {
      composites.push(name);
      for (const child of children) parents.get(child)?.delete(name);
    }
    waiting = waiting.filter(alarm => !free.includes(alarm));
  }
  const metrics = surplus.filter(alarm => alarm.kind === 'metric' && isFree(alarm));
  return { composites, metrics: metrics.map(({ name }) => name) };
}

function chunked<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
