import { type CheckResult, judgeCheck } from './readiness.ts';

/** An instance of the group, as one look shows it under the check. */
export interface Observed {
  readonly instanceId: string;
  /** Since when the check can apply to it: its association or the launch, whichever is later. Milliseconds since the epoch. */
  readonly since: number;
  /** Absent when EC2 reports nothing of the check. */
  readonly result?: CheckResult;
}

/** How many evaluations in a row every one of the same instances has passed. */
export interface Streak {
  readonly evaluations: number;
  /** The next evaluations that count are newer than this (milliseconds since the epoch). */
  readonly newerThan: number;
  /** A digest of the instances: with another instance it begins again. */
  readonly members: string;
}

export interface Counted extends Streak {
  /** Instances that are over the account's target quota, or seem to be: EC2 reports nothing of them, and will not (D47). */
  readonly unmonitored: readonly string[];
  /** What is missing, instance by instance. */
  readonly reasons: readonly string[];
}

/**
 * Counts one look. A failure, an instance that has not decided yet, and an instance that is new or gone each begin the
 * streak again, so that in the end every instance of the group has passed each of its evaluations.
 *
 * @param unmonitoredAfterMs how long EC2 may take until it reports anything
 */
export function countLook(
  observed: readonly Observed[],
  members: string,
  before: Streak,
  nowMs: number,
  unmonitoredAfterMs: number,
): Counted {
  const judged = observed.map(one => ({
    ...one,
    verdict: one.result ? judgeCheck(one.result, before.newerThan) : ('starting' as const),
  }));
  const unmonitored = judged
    .filter(({ result, since }) => !result && nowMs - since > unmonitoredAfterMs)
    .map(({ instanceId }) => instanceId);
  const reasons = judged.flatMap(({ instanceId, verdict, result }) =>
    verdict === 'passed' ? [] : [`${instanceId} ${inWords(verdict, result)}`],
  );
  const same = before.evaluations === 0 || members === before.members;
  if (same && observed.length > 0 && reasons.length === 0) {
    const newest = Math.max(...judged.map(({ result }) => result?.evaluatedAt?.getTime() ?? 0));
    return { evaluations: before.evaluations + 1, newerThan: newest, members, unmonitored, reasons };
  }
  if (same && judged.every(({ verdict }) => verdict === 'passed' || verdict === 'stale'))
    return { ...before, members, unmonitored, reasons };
  return { evaluations: 0, newerThan: nowMs, members, unmonitored, reasons };
}

function inWords(verdict: ReturnType<typeof judgeCheck>, result: CheckResult | undefined): string {
  if (!result) return 'shows no result yet';
  if (verdict === 'stale') return 'shows no newer evaluation yet';
  return `is ${result.status}${result.code === undefined ? '' : ` (${result.code})`}`;
}

/** So many instances, from as many zones as there are; always the same ones of the same group. */
export function sampleOf(
  instances: readonly { readonly instanceId: string; readonly zone: string }[],
  size: number | undefined,
): string[] {
  const sorted = instances.toSorted((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
  const zones = [...Map.groupBy(sorted, ({ zone }) => zone).values()];
  const rounds = Math.max(0, ...zones.map(zone => zone.length));
  const spread = Array.from({ length: rounds }, (_, round) => zones.flatMap(zone => zone[round] ?? []));
  return spread
    .flat()
    .slice(0, size ?? zones.length)
    .map(({ instanceId }) => instanceId);
}

/**
 * Seconds that an observation of a healthy group can take: the grace period, the evaluations until a check decides, those
 * that are counted and one that is missed, and the lag of the description before and after.
 */
export const leastObservation = (
  check: {
    readonly graceSeconds: number;
    readonly successThreshold: number;
    readonly intervalSeconds: number;
  },
  evaluations: number,
  lagSeconds: number,
): number =>
  check.graceSeconds + (check.successThreshold + evaluations + 1) * check.intervalSeconds + 2 * lagSeconds;

/** What a promoted check has done to its group. */
export interface Aftermath {
  readonly instances: number;
  /** Instances that are `impaired` and fail this check. */
  readonly impaired: readonly string[];
  /** Causes of the replacements that application status has led to since the promotion, as Auto Scaling tells them. */
  readonly replacements: readonly string[];
}

/** Why the check has to be demoted at once; undefined while it does no harm. */
export function harmOf(
  { instances, impaired, replacements }: Aftermath,
  impairedPercent: number,
): string | undefined {
  const [replacement] = replacements;
  if (replacement !== undefined) return `Auto Scaling has replaced an instance for it: ${replacement}`;
  if (impaired.length * 100 > impairedPercent * instances)
    return `${impaired.length} of ${instances} instances are impaired (${impaired.slice(0, 5).join(', ')}), more than ${impairedPercent} %`;
  return undefined;
}

/** A watch that is about to end, and of whom nothing shows. Instants are seconds. */
export interface Watch {
  readonly deadline: number;
  readonly now: number;
  readonly watchSeconds: number;
  /** Later than this it does not end, whoever is suppressed. */
  readonly latest: number;
  readonly instances: number;
  readonly suppressed: number;
}

/**
 * Until when a promoted check is watched. While more instances are suppressed than may be impaired nothing that it does shows: the
 * watch begins again after that.
 */
export function watchedUntil(
  { deadline, now, watchSeconds, latest, instances, suppressed }: Watch,
  impairedPercent: number,
): number {
  const isBlind = suppressed * 100 > impairedPercent * instances;
  return isBlind ? Math.max(deadline, Math.min(now + watchSeconds, latest)) : deadline;
}

const OF_APPLICATION_STATUS = /EC2 Application Status check failure/;

/** Is this the cause of a replacement for application status? The text is measured. */
export const isOfApplicationStatus = (cause: string): boolean => OF_APPLICATION_STATUS.test(cause);
