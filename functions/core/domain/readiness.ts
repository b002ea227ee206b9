/** One check's result on one instance, as DescribeApplicationStatus gives it. */
export interface CheckResult {
  readonly checkId: string;
  readonly aggregation: string;
  /** `passed`, `failed`, `initializing`, `insufficient-data` or `not-applicable`; not affected by suppression. */
  readonly status: string;
  /** The reason's Code; absent where the service gives no structured reason. */
  readonly code?: string;
  readonly evaluatedAt?: Date;
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

const FAILURES = new Set([
  'ResponseCodeMismatch',
  'ConnectionTimeout',
  'ResponseTimeout',
  'ConnectionRefused',
  'ConnectionReset',
]);
