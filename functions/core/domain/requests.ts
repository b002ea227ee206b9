import type { RequestCounts, Requests } from './observed-fleet.ts';

/** What a target group had in one minute, or a part of it. */
export interface RequestMinute {
  /** When the minute began, in milliseconds since the epoch. */
  readonly at: number;
  readonly sent: number;
  readonly failed: number;
}

const MINUTE_MS = 60_000;

/** What counts as now: AWS publishes a minute's metric within two (UG, "CloudWatch metrics for your Application Load Balancer"). */
const NOW_MINUTES = 5;

/** What is usual: as near to now as has enough requests. Ours. */
const BEFORE_MINUTES = 5;

/**
 * The requests of now and those right before: of a drain, since it was first seen and before that. All times are milliseconds
 * since the epoch.
 *
 * @param drainingSince - when a view first saw that targets drain: it may have begun up to a minute earlier
 */
export function requestsAround(
  minutes: readonly RequestMinute[],
  now: number,
  drainingSince: number | undefined,
): RequestCounts {
  const end = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const recent = end - NOW_MINUTES * MINUTE_MS;
  const split =
    drainingSince === undefined ? recent : Math.floor(drainingSince / MINUTE_MS) * MINUTE_MS - MINUTE_MS;
  return {
    ...sumOf(minutes, Math.max(split, recent), end),
    before: sumOf(minutes, split - BEFORE_MINUTES * MINUTE_MS, split),
  };
}

function sumOf(minutes: readonly RequestMinute[], from: number, to: number): Requests {
  const within = minutes.filter(({ at }) => at >= from && at < to);
  return {
    sent: within.reduce((sum, { sent }) => sum + sent, 0),
    failed: within.reduce((sum, { failed }) => sum + failed, 0),
    minutes: (to - from) / MINUTE_MS,
  };
}
