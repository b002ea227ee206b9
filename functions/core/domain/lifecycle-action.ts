import { DESCRIBE_LAG } from './budgets.ts';
import type { Member } from './fleet.ts';
import { judgeReady, passesUnbroken, type StatusSeen } from './goals.ts';
import { nextWait, paceLimits } from './pace.ts';

/** How long an Auto Scaling lifecycle hook waits, in seconds. */
export interface HookTimes {
  /** From one heartbeat to the next. */
  readonly heartbeatSeconds: number;
  /** However many heartbeats there are. */
  readonly globalSeconds: number;
}

/** What is left between our last look and the hook's own end: the answer may have to be given more than once. Ours. */
const ANSWER_SECONDS = 60;

/**
 * Until when an action that began at `openedAt` is worked on (R-HOOK): never past the hook's own end, nor past what one
 * execution may last. All in seconds; instants since the epoch.
 */
export const actionDeadline = (hook: HookTimes, openedAt: number, longestSeconds: number): number =>
  openedAt + Math.min(hook.globalSeconds, longestSeconds) - ANSWER_SECONDS;

/** Three looks in the interval of a check: none of its evaluations is waited for much longer than it takes. Ours. */
const LONGEST_TURN_SECONDS = 20;

/**
 * Seconds between two turns, each of which begins with a heartbeat: a third of the hook's time-out at the most, so that one
 * may fail (R-HOOK). No action has more than 675 turns, which a test holds against the limit of an execution (R-HISTORY).
 */
export const turnSeconds = ({ heartbeatSeconds }: HookTimes): number =>
  Math.max(paceLimits.shortestSeconds, Math.min(LONGEST_TURN_SECONDS, Math.floor(heartbeatSeconds / 3)));

/** The settings of a check that a launch has to wait for. */
export interface CheckTimes {
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
  readonly successThreshold: number;
  /** Counted from the launch of the instance. */
  readonly graceSeconds: number;
}

/** Evaluations of each check that have to pass before a launch goes on (D3). */
export const LAUNCH_EVALUATIONS = 2;

/**
 * How long a launched instance may take to be ready: what its slowest check needs of its grace, of its success threshold and
 * of the evaluations that are counted, and what an application may take by itself. 0 without a check.
 *
 * @param sinceLaunch how long ago the instance was launched, and @param readySeconds the policy's, both in seconds
 */
export function readyBudget(
  checks: readonly CheckTimes[],
  sinceLaunch: number,
  readySeconds: number,
): number {
  if (checks.length === 0) return 0;
  const slowest = checks.map(
    check =>
      Math.max(0, check.graceSeconds - sinceLaunch) +
      (check.successThreshold + LAUNCH_EVALUATIONS) * check.intervalSeconds +
      check.timeoutSeconds,
  );
  return Math.max(...slowest) + DESCRIBE_LAG + readySeconds;
}

/**
 * How long an instance that was ready, or was kept by a run, may take to be ready again: what its slowest check needs, with
 * nothing for the start of an application.
 */
export const readyAgainBudget = (checks: readonly CheckTimes[]): number =>
  readyBudget(checks, Number.POSITIVE_INFINITY, 0);

/** How often in a row every check has passed, and what the next evaluation has to be newer than (milliseconds). */
export interface Evidence {
  readonly evaluations: number;
  readonly newerThan: number;
}

/** What one turn of a launch leaves to the next. */
export interface LaunchEvidence extends Evidence {
  /** Until when it may take to be ready, in seconds since the epoch. */
  readonly readyDeadline: number;
  /** Since when a run lacks its suppression (seconds since the epoch); 0 when none does. */
  readonly unsuppressedSince: number;
}

export interface Weighed extends Evidence {
  readonly ready: boolean;
  /** Why it is not; empty when it is. */
  readonly reason: string;
}

/** One more look at the checks of an instance. A check that does not pass begins the count anew. */
export function weigh(
  member: Member,
  seen: StatusSeen | undefined,
  before: Evidence,
  nowMs: number,
): Weighed {
  if (member.includedChecks.length === 0) return { ...before, ready: true, reason: '' };
  const sighting = judgeReady(member, seen, before.newerThan);
  const after =
    sighting.verdict === 'met'
      ? { evaluations: before.evaluations + 1, newerThan: newestEvaluation(member, seen) }
      : passesUnbroken(member, seen)
        ? before
        : { evaluations: 0, newerThan: nowMs };
  const ready = after.evaluations >= LAUNCH_EVALUATIONS;
  const missing = `${after.evaluations} of ${LAUNCH_EVALUATIONS} evaluations have passed`;
  return { ...after, ready, reason: ready ? '' : 'reason' in sighting ? sighting.reason : missing };
}

const newestEvaluation = (member: Member, seen: StatusSeen | undefined): number =>
  Math.max(
    ...(seen?.checks ?? [])
      .filter(check => member.includedChecks.includes(check.checkId))
      .map(check => check.evaluatedAt?.getTime() ?? 0),
  );

export interface LaunchSeen {
  readonly ready: boolean;
  readonly whyNotReady: string;
  /** Why a run keeps the launch waiting although it may be ready; undefined when none does. */
  readonly held: string | undefined;
  /** What has to be known of it when it goes on; empty when there is nothing. */
  readonly remark: string;
}

/** Both in seconds since the epoch: for readiness, and for whatever else the launch waits for. */
export interface LaunchDeadlines {
  readonly readyDeadline: number;
  readonly actionDeadline: number;
}

export type LaunchVerdict =
  | { readonly verdict: 'met'; readonly reason: string }
  | { readonly verdict: 'waiting'; readonly reason: string; readonly waitSeconds: number }
  | { readonly verdict: 'refused'; readonly reason: string };

/**
 * Until when a launch may take to be ready. One failed evaluation is no verdict on an instance whose budget has run out while
 * it was ready, or while a run kept it: it gets `againSeconds` anew.
 */
export const nextReadyDeadline = (
  { ready, held }: Pick<LaunchSeen, 'ready' | 'held'>,
  readyDeadline: number,
  againSeconds: number,
  now: number,
): number => (ready || held !== undefined ? Math.max(readyDeadline, now + againSeconds) : readyDeadline);

/**
 * Does the launch go on? One that is only held goes on when the hook's time ends: it is ready, and a group that cannot grow
 * is the greater harm (D1). One that is not ready is refused when its budget ends, or with the hook's time while it is held.
 */
export function judgeLaunch(
  { ready, whyNotReady, held, remark }: LaunchSeen,
  { readyDeadline, actionDeadline: end }: LaunchDeadlines,
  turn: number,
  now: number,
): LaunchVerdict {
  if (ready && held === undefined) return { verdict: 'met', reason: remark };
  if (ready && now >= end) return { verdict: 'met', reason: `The hook's time is over, and ${held}` };
  const deadline = ready || held !== undefined ? end : Math.min(readyDeadline, end);
  if (now >= deadline) return { verdict: 'refused', reason: whyNotReady };
  const reason = [held, whyNotReady].filter(Boolean).join('; ');
  return { verdict: 'waiting', reason, waitSeconds: nextWait(now, deadline, turn) };
}

/** Which checks an association puts on an instance: by its id, or by one of its tags. */
export const appliesTo = (
  association:
    | { readonly instanceId: string }
    | { readonly tag: { readonly key: string; readonly value: string } },
  instance: { readonly id: string; readonly tags: Readonly<Record<string, string>> },
): boolean =>
  'instanceId' in association
    ? association.instanceId === instance.id
    : instance.tags[association.tag.key] === association.tag.value;
