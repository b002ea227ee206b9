/** One check's result on one instance, as DescribeApplicationStatus gives it. */
export interface CheckResult {
  readonly checkId: string;
  readonly aggregation: string;
  /** `passed`, `failed`, `initializing`, `insufficient-data` or `not-applicable`; not affected by suppression. */
  readonly status: string;
  /** The reason's Code; absent where the service gives no structured reason. */
  readonly code?: string;
  readonly evaluatedAt?: Date;
  /** Since when it has this status. */
  readonly since?: Date;
}

export type CheckVerdict = 'passed' | 'failing' | 'starting' | 'stale' | 'unknown-reason';

/**
 * What one check says about an instance. Decided by Status and the reason's Code, never by StatusCode: on connection errors
 * that member is documented as absent and measured as 0. A `passed` check whose Code is not ResponseCodeMatched has just
 * failed for the first time; a Code nobody knows is no evidence either way.
 *
 * @param newerThan an evaluation must be newer than this instant (milliseconds since the epoch) to count
 */
export function judgeCheck(result: CheckResult, newerThan: number): CheckVerdict {
  switch (result.status) {
    case 'passed':
      if (result.code !== undefined && result.code !== 'ResponseCodeMatched')
        return FAILURES.has(result.code) ? 'failing' : 'unknown-reason';
      return result.evaluatedAt !== undefined && result.evaluatedAt.getTime() > newerThan
        ? 'passed'
        : 'stale';
    case 'failed':
      return 'failing';
    default:
      return 'starting';
  }
}

/** A status that came up. EC2 tells since when a check has its status, not which one it had before. */
export interface Change {
  readonly from: `not-${string}`;
  readonly to: string;
  /** The reason's Code; `none` where the service gives none. */
  readonly reason: string;
}

/** The change of status that falls into this time (milliseconds since the epoch), if it is the latest one. */
export function changeOf(
  { status, code, since }: CheckResult,
  after: number,
  until: number,
): Change | undefined {
  const at = since?.getTime();
  if (at === undefined || at <= after || at > until) return undefined;
  return { from: `not-${status}`, to: status, reason: code ?? 'none' };
}

const FAILURES = new Set([
  'ResponseCodeMismatch',
  'ConnectionTimeout',
  'ResponseTimeout',
  'ConnectionRefused',
  'ConnectionReset',
]);
