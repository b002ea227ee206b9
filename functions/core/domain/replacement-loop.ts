import type { ObservedCheck } from './observed-fleet.ts';
import type { CheckResult } from './readiness.ts';
import { isConnectionTimeout } from './symptoms.ts';

/** An instance in service under an included check, unsuppressed. Times are milliseconds since the epoch. */
export interface Exposed {
  readonly instanceId: string;
  readonly launchedAt: number;
  readonly check: Pick<ObservedCheck, 'status' | 'code' | 'passedSinceChange'>;
  /** Did it fail before the check was changed or included, and does it fail since? */
  readonly failsThrough: boolean;
}

/**
 * Has an instance failed a check since before its last change, and also in an evaluation that the change has taken effect in?
 * A check that was included although nothing passes it looks like that.
 */
export function failsThrough(
  { status, code, since, evaluatedAt }: CheckResult,
  { changedAt, intervalSeconds }: { readonly changedAt?: Date; readonly intervalSeconds: number },
): boolean {
  if (status !== 'failed' || code === undefined || code === 'ResponseCodeMatched') return false;
  if (!since || !evaluatedAt || !changedAt || since >= changedAt) return false;
  return evaluatedAt.getTime() >= changedAt.getTime() + intervalSeconds * 1000;
}

/** A group as one look shows it under one check. */
export interface GroupUnderCheck {
  readonly group: string;
  readonly instances: readonly Exposed[];
  /** When Auto Scaling began to end instances of it for application status, those in progress included. */
  readonly endings: readonly number[];
}

/**
 * With as many endings a newcomer that has never passed is in a loop, whatever other newcomers pass: where one zone is closed
 * those of the others do. Ours.
 */
const ENDINGS_OF_A_LOOP = 3;

export interface Loop {
  /** In a sentence. */
  readonly why: string;
  /** The replacements that have never passed; none where the whole group is what shows it. */
  readonly inVain: readonly string[];
}

/**
 * Why the group's instances are, or are about to be, replaced one after the other; undefined when it is no loop.
 * A failure of some instances is none, and neither is a replacement that helps: its successor passes (D46).
 */
export function loopOf({ group, instances, endings }: GroupUnderCheck): Loop | undefined {
  const [firstEnding = Number.POSITIVE_INFINITY] = endings.toSorted((a, b) => a - b);
  const successors = instances.filter(({ launchedAt }) => launchedAt > firstEnding);
  const inVain = successors.filter(hasNeverPassed);
  const helped = successors.filter(({ check }) => check.status === 'passed').length;
  if (inVain.length > 0 && (endings.length > helped || endings.length >= ENDINGS_OF_A_LOOP))
    return {
      why: `Auto Scaling has ended ${endings.length} instances of ${group} for it, and ${ids(inVain)}, launched since, has never passed it.`,
      inVain: inVain.map(({ instanceId }) => instanceId),
    };
  // One instance is an instance that fails: only several can tell of something that they share.
  if (instances.length < 2) return undefined;
  if (instances.every(one => one.failsThrough || hasNeverPassed(one)))
    return {
      why: `None of the ${instances.length} instances of ${group} has passed it since it was created, changed or included.`,
      inVain: [],
    };
  const areBlocked =
    instances.every(({ check }) => isConnectionTimeout(check.code)) &&
    instances.some(({ check }) => check.status === 'failed');
  return areBlocked
    ? {
        why: `It cannot connect to any of the ${instances.length} instances of ${group}, which a replacement does not mend.`,
        inVain: [],
      }
    : undefined;
}

/** Can a loop by replacements have to be looked for in the group's activities? */
export const mayLoop = (instances: readonly Exposed[]): boolean => instances.some(hasNeverPassed);

/**
 * Is the cause of a demotion gone? The replacements in vain show it as long as they are there, and otherwise each whole group: what
 * passes in one says nothing of another. Half of them are enough, for an instance that fails truly would be ended by nobody while
 * the check is excluded. What was only observed goes on by itself, and is over when every instance passes.
 *
 * @param groups the instances of each group that the check is on
 */
export function isOver(
  groups: readonly (readonly Exposed[])[],
  { status, inVain }: { readonly status: 'demoted' | 'observed'; readonly inVain: readonly string[] },
): boolean {
  const instances = groups.flat();
  if (instances.length === 0) return false;
  if (status === 'observed') return instances.every(passes);
  const concerned = instances.filter(({ instanceId }) => inVain.includes(instanceId));
  if (concerned.length > 0) return halfPasses(concerned);
  const several = groups.filter(some => some.length > 1);
  return several.length > 0 ? several.every(halfPasses) : halfPasses(instances);
}

const halfPasses = (instances: readonly Exposed[]): boolean =>
  2 * instances.filter(passes).length >= instances.length;

const passes = ({ check }: Exposed): boolean =>
  check.status === 'passed' && (check.code ?? 'ResponseCodeMatched') === 'ResponseCodeMatched';

const hasNeverPassed = ({ check }: Exposed): boolean =>
  check.status === 'failed' && check.passedSinceChange === 'no';

const ids = (instances: readonly Exposed[]): string =>
  instances
    .slice(0, 3)
    .map(({ instanceId }) => instanceId)
    .join(', ');
