import type { ApplicationStatusReason } from '@aws-sdk/client-ec2';
import type { CheckSettings } from './check-settings.ts';
import type { OverallStatus } from './neighbours.ts';
import type { Physics } from './physics.ts';

export type ReasonCode =
  | 'ResponseCodeMatched'
  | 'ResponseCodeMismatch'
  | 'ConnectionTimeout'
  | 'ResponseTimeout'
  | 'ConnectionRefused'
  | 'ConnectionReset';

/** What one health check request met. */
export interface Outcome {
  readonly code: ReasonCode;
  readonly statusCode: number | undefined;
  /** How long the checker waited until it knew. */
  readonly tookMs: number;
}

export type CheckStatus = 'passed' | 'failed' | 'initializing' | 'insufficient-data';

/** The result of one check on one instance; each evaluation makes a new one. Times are milliseconds since the epoch. */
export interface CheckResult {
  readonly checkId: string;
  /** Those of the last evaluation: a modified check takes effect at the next one. */
  readonly settings: CheckSettings;
  readonly status: CheckStatus;
  readonly since: number;
  readonly updatedAt: number;
  readonly outcome: Outcome | undefined;
  /** Successes in a row when positive, failures when negative. */
  readonly streak: number;
}

export const succeeded = ({ code }: Outcome): boolean => code === 'ResponseCodeMatched';

export const newResult = (checkId: string, settings: CheckSettings, now: number): CheckResult => ({
  checkId,
  settings,
  status: 'initializing',
  since: now,
  updatedAt: now,
  outcome: undefined,
  streak: 0,
});

/** The next result: a status changes only when a threshold is reached, the outcome always (SEED 3.1). */
export function evaluated(
  before: CheckResult,
  settings: CheckSettings,
  outcome: Outcome | undefined,
  now: number,
): CheckResult {
  const streak = outcome === undefined ? 0 : nextStreak(before.streak, succeeded(outcome));
  const status = statusAfter(before.status, settings, outcome, streak);
  const since = status === before.status ? before.since : now;
  return { checkId: before.checkId, settings, status, since, updatedAt: now, outcome, streak };
}

const nextStreak = (streak: number, success: boolean): number =>
  success ? Math.max(streak, 0) + 1 : Math.min(streak, 0) - 1;

function statusAfter(
  before: CheckStatus,
  { successThreshold, failureThreshold }: CheckSettings,
  outcome: Outcome | undefined,
  streak: number,
): CheckStatus {
  // INF: a check that has no path to the instance determines nothing.
  if (outcome === undefined) return 'insufficient-data';
  if (streak >= successThreshold) return 'passed';
  if (-streak >= failureThreshold) return 'failed';
  return before === 'insufficient-data' ? 'initializing' : before;
}

/** SDK: the precedence among the included checks. */
export function aggregated(results: readonly CheckResult[]): Exclude<OverallStatus, 'suppressed'> {
  const included = results.filter(({ settings }) => settings.aggregation === 'included');
  if (included.length === 0) return 'not-applicable';
  const has = (status: CheckStatus) => included.some(result => result.status === status);
  if (has('failed')) return 'impaired';
  if (has('initializing')) return 'initializing';
  return has('insufficient-data') ? 'insufficient-data' : 'ok';
}

/** SDK gives two examples of the producer error types of legacy results; INF: the others are Java's, as the client is (SEED 4). */
const legacyCodes: Readonly<Record<ReasonCode, string | undefined>> = {
  ResponseCodeMatched: undefined,
  ResponseCodeMismatch: 'Http Status Code',
  ConnectionTimeout: 'HttpConnectTimeoutException',
  ResponseTimeout: 'HttpTimeoutException',
  ConnectionRefused: 'ConnectException',
  ConnectionReset: 'SocketException',
};

/** The Reason of a result as the API shows it, by the account's switches. */
export function reasonOf(
  { outcome, settings }: CheckResult,
  { reasonCodes, connectionErrorStatusCode }: Physics,
): ApplicationStatusReason | undefined {
  if (!outcome) return undefined;
  const response = outcome.statusCode !== undefined;
  const details = {
    ...(response && { StatusCode: outcome.statusCode, Protocol: settings.protocol.toUpperCase() }),
    ...(!response && connectionErrorStatusCode === 'zero' && { StatusCode: 0 }),
  };
  switch (reasonCodes) {
    case 'structured':
      return { Code: outcome.code, ...details };
    case 'unknown':
      return { Code: succeeded(outcome) ? outcome.code : 'TransportUnavailable', ...details };
    case 'legacy': {
      const Code = legacyCodes[outcome.code];
      return Code === undefined ? undefined : { Code };
    }
  }
}
