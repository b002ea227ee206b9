import type { CheckResult } from './readiness.ts';
import type { ZoneCount } from './zone-view.ts';

/** A fleet as a diagnosis reads it. Times are milliseconds since the epoch. */
export interface ObservedFleet {
  readonly instances: readonly ObservedInstance[];
  /** Each target group of which an instance is a target, with all its targets. */
  readonly groups: readonly ObservedGroup[];
  /** What could not be looked at. */
  readonly remarks?: readonly string[];
}

export interface ObservedInstance {
  readonly instanceId: string;
  readonly zone: string;
  /** Why it is not expected to serve, such as `is in Standby`; absent when it is in service. */
  readonly notInService?: string;
  /** Is application status suppressed? The checks' own statuses are visible all the same. */
  readonly suppressed: boolean;
  /** None when the service reports nothing on the instance. */
  readonly checks: readonly ObservedCheck[];
  readonly targets: readonly ObservedTarget[];
}

export interface ObservedCheck {
  readonly checkId: string;
  /** `included`, `excluded` or `unknown`. */
  readonly aggregation: string;
  /** `passed`, `failed`, `initializing`, `insufficient-data` or `not-applicable`. */
  readonly status: string;
  /** The reason's Code; absent where the service gives no structured reason. */
  readonly code?: string;
  readonly statusCode?: number;
  /** Since when it has this status. */
  readonly since?: number;
  /** Has it passed since the instance was launched or the check was changed, whichever is later? */
  readonly passedSinceChange: 'yes' | 'no' | 'unknown';
}

export interface ObservedTarget {
  readonly group: string;
  readonly port?: number;
  /** `initial`, `healthy`, `unhealthy`, `unhealthy.draining`, `unused`, `draining` or `unavailable`. */
  readonly state: string;
  readonly reason?: string;
  /** Since when it is known to be unhealthy; absent when it is not, or nobody has watched it. */
  readonly unhealthySince?: number;
  /** What the load balancer's health check logs say of it; absent without logs. */
  readonly logged?: LoggedTarget;
}

export interface LoggedTarget {
  /** Every node of which there are logs. */
  readonly nodes: readonly NodeOpinion[];
  /** Of the health check. */
  readonly timeoutSeconds: number;
}

/** A load balancer node's last word on a target. */
export interface NodeOpinion {
  /** Its address. */
  readonly node: string;
  /** Absent when the target passed its last check by this node. */
  readonly failing?: {
    readonly since: number;
    /** By the log's reason codes, such as `TimedOut`. */
    readonly reason: string;
    readonly statusCode: number | null;
    /** The slowest check that had passed shortly before; null when none is known. */
    readonly passSeconds: number | null;
  };
}

/** Counts all targets that are registered, those of other fleets too; a draining target is not. */
export interface ObservedGroup {
  readonly name: string;
  /** Does a load balancer send requests to it? */
  readonly serves: boolean;
  readonly registered: number;
  readonly unhealthy: number;
  readonly draining: number;
  readonly zones: readonly ZoneCount[];
  /** How many healthy targets carry the whole load, as somebody has stated; absent when nobody has. */
  readonly needed?: number;
  /** What the load balancer counted lately; absent without metrics. */
  readonly requests?: RequestCounts;
  /** Of the load balancer's health check. */
  readonly timeoutSeconds: number;
  /** The slowest health check that passed lately, by the logs; absent without them. */
  readonly slowestPass?: { readonly target: string; readonly seconds: number };
}

/** Of a target group, in the last minutes. */
export interface RequestCounts extends Requests {
  /** What it was right before. */
  readonly before: Requests;
}

export interface Requests {
  readonly sent: number;
  /** Answered with 5xx by a target, or by the load balancer because a target closed the connection or did not answer. */
  readonly failed: number;
  readonly minutes: number;
}

/** One check on one instance, from its result and its settings; without these nobody knows since when it has failed. */
export function observedCheck(
  result: CheckResult & { readonly statusCode?: number },
  launchedAt: Date | undefined,
  check: (CheckPace & { readonly changedAt?: Date }) | undefined,
): ObservedCheck {
  const { checkId, aggregation, status, code, statusCode } = result;
  const since = result.since?.getTime();
  const changes = { launchedAt: launchedAt?.getTime(), checkChangedAt: check?.changedAt?.getTime() };
  return {
    checkId,
    aggregation,
    status,
    ...(code !== undefined && { code }),
    ...(statusCode !== undefined && { statusCode }),
    ...(since !== undefined && { since }),
    passedSinceChange: check
      ? passedSince({ status, ...(since !== undefined && { since }) }, changes, check)
      : 'unknown',
  };
}

/** What decides when a check can first have failed for good. */
export interface CheckPace {
  /** Counted from the launch of the instance. */
  readonly graceSeconds: number;
  readonly failureThreshold: number;
  readonly intervalSeconds: number;
}

/** What a check has to have passed since, to have worked at all as things are now. */
export interface Changes {
  readonly launchedAt: number | undefined;
  /** The creation of the check, or its last modification. */
  readonly checkChangedAt: number | undefined;
}

/**
 * Has a check passed since the last change? EC2 tells since when it has its status, not what it was before: a failure that
 * began as early as it can leaves no room for a pass.
 */
export function passedSince(
  { status, since }: { readonly status: string; readonly since?: number },
  { launchedAt, checkChangedAt }: Changes,
  { graceSeconds, failureThreshold, intervalSeconds }: CheckPace,
): ObservedCheck['passedSinceChange'] {
  if (status === 'passed') return 'yes';
  if (status === 'initializing') return 'no';
  if (status !== 'failed' || since === undefined) return 'unknown';
  if (launchedAt === undefined || checkChangedAt === undefined) return 'unknown';
  // A status from before the change was not given by what the check is now.
  if (since < Math.max(launchedAt, checkChangedAt)) return 'unknown';
  const begins = Math.max(launchedAt + graceSeconds * 1000, checkChangedAt);
  // The first evaluation comes within an interval, and one more is granted for lateness.
  return since <= begins + (failureThreshold + 1) * intervalSeconds * 1000 ? 'no' : 'yes';
}
