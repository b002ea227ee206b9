import type { ObservedCheck } from './observed-fleet.ts';

/** An instance in service under an included check, unsuppressed. Times are milliseconds since the epoch. */
export interface Exposed {
  readonly instanceId: string;
  readonly launchedAt: number;
  readonly check: Pick<ObservedCheck, 'status' | 'code' | 'passedSinceChange'>;
}

/** A group as one look shows it under one check. */
export interface GroupUnderCheck {
  readonly group: string;
  readonly instances: readonly Exposed[];
  /** When Auto Scaling began to end instances of it for application status, those in progress included. */
  readonly endings: readonly number[];
}

/**
 * Why the group's instances are, or are about to be, replaced one after the other, in a sentence; undefined when it is no loop.
 * A failure of some instances is none, and neither is a replacement that helps: its successor passes (D46).
 */
export function loopOf({ group, instances, endings }: GroupUnderCheck): string | undefined {
  const [firstEnding] = endings.toSorted((a, b) => a - b);
  const inVain = instances.filter(
    one => firstEnding !== undefined && one.launchedAt > firstEnding && hasNeverPassed(one),
  );
  if (inVain.length > 0)
    return `Auto Scaling has ended ${endings.length} instances of ${group} for it, and ${ids(inVain)}, launched since, has never passed it.`;
  // One instance is an instance that fails: only several can tell of something that they share.
  if (instances.length < 2) return undefined;
  if (instances.every(hasNeverPassed))
    return `None of the ${instances.length} instances of ${group} has passed it since it was created, changed or included.`;
  const areBlocked =
    instances.every(({ check }) => check.code === 'ConnectionTimeout') &&
    instances.some(({ check }) => check.status === 'failed');
  return areBlocked
    ? `It cannot connect to any of the ${instances.length} instances of ${group}, which a replacement does not mend.`
    : undefined;
}

/** Can a loop by replacements have to be looked for in the group's activities? */
export const mayLoop = (instances: readonly Exposed[]): boolean => instances.some(hasNeverPassed);

/** The cause of a demotion is gone when every instance passes again. */
export const isOver = (instances: readonly Exposed[]): boolean =>
  instances.length > 0 &&
  instances.every(
    ({ check }) =>
      check.status === 'passed' && (check.code ?? 'ResponseCodeMatched') === 'ResponseCodeMatched',
  );

const hasNeverPassed = ({ check }: Exposed): boolean =>
  check.status === 'failed' && check.passedSinceChange === 'no';

const ids = (instances: readonly Exposed[]): string =>
  instances
    .slice(0, 3)
    .map(({ instanceId }) => instanceId)
    .join(', ');
