/** One health check of one load balancer node. */
export interface HealthCheckLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly latencySeconds: number | null;
  /** `10.0.1.20:80`; null where the log has none, as of a Lambda target. */
  readonly target: string | null;
  readonly targetGroup: string;
  readonly passed: boolean;
  readonly statusCode: number | null;
  /** Null when it passed. */
  readonly reason: FailureReason | null;
}

/** Reason codes of failed health checks (UG, "Health check log entries"); a bounded set, since metrics have it as a dimension. */
export const FAILURE_REASONS = [
  'TimedOut',
  'ConnectionReset',
  'ResponseCodeMismatch',
  'ResponseStringMismatch',
  'TargetError',
  'InternalError',
  'GRPCStatusHeaderEmpty',
  'GRPCUnexpectedStatus',
  'other',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

const REASONS: ReadonlyMap<string, FailureReason> = new Map([
  ...FAILURE_REASONS.map(reason => [reason, reason] as const),
  // What the log said before the two became one.
  ['RequestTimedOut', 'TimedOut'],
  ['ConnectionTimedOut', 'TimedOut'],
]);

/** type, time, latency, target_addr, target_group_id, status, status_code, reason_code; more may follow one day. */
const FIELDS = 8;
const FIELDS_NEEDED = 6;

// What is longer or of other characters is no line of a log, and would fill records and metrics (a name of a group: API
// reference of CreateTargetGroup; a target: an address and a port).
const GROUP = /^[A-Za-z0-9-]{1,32}$/;
const TARGET = /^[0-9A-Za-z.:[\]-]{1,64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
const DECIMAL = /^\d{1,9}(\.\d{1,9})?$/;

/**
 * Reads a line of a health check log. Trailing fields that are not known are ignored, and `-` is null (R-LOG).
 *
 * @returns undefined for a bad line
 */
export function readHealthCheckLine(line: string): HealthCheckLine | undefined {
  const fields = fieldsOf(line);
  if (fields === undefined || fields.length < FIELDS_NEEDED) return undefined;
  // By their numbers: a list that is taken apart goes through its iterator, for each of millions of lines.
  const time = fields[1] ?? '';
  const latency = fields[2] ?? '';
  const target = fields[3] ?? '';
  const group = fields[4] ?? '';
  const status = fields[5];
  const code = fields[6] ?? '-';
  const reason = fields[7] ?? '-';
  const at = TIME.test(time) ? Date.parse(time) : Number.NaN;
  const targetGroup = groupName(group);
  const latencySeconds = numberOf(latency);
  const statusCode = numberOf(code);
  if (Number.isNaN(at) || latencySeconds === undefined || statusCode === undefined) return undefined;
  if (!GROUP.test(targetGroup) || targetGroup === '-' || !TARGET.test(target)) return undefined;
  if (status !== 'PASS' && status !== 'FAIL') return undefined;
  const passed = status === 'PASS';
  return {
    at,
    latencySeconds,
    target: target === '-' ? null : target,
    targetGroup,
    passed,
    statusCode,
    reason: passed ? null : (REASONS.get(reason) ?? 'other'),
  };
}

/** @returns undefined when a quoted field does not end */
function fieldsOf(line: string): readonly string[] | undefined {
  const fields: string[] = [];
  for (let from = 0; from < line.length && fields.length < FIELDS; ) {
    if (line.charCodeAt(from) === QUOTE) {
      const end = line.indexOf('"', from + 1);
      if (end < 0) return undefined;
      fields.push(line.slice(from + 1, end));
      from = end + 2;
    } else {
      const space = line.indexOf(' ', from);
      const end = space < 0 ? line.length : space;
      fields.push(line.slice(from, end));
      from = end + 1;
    }
  }
  return fields;
}

const QUOTE = 34;

/** @returns undefined for what is neither a number nor absent */
function numberOf(field: string): number | null | undefined {
  if (field === '-') return null;
  return DECIMAL.test(field) ? Number(field) : undefined;
}

/** A group's name, also where its id is written as in its ARN. */
const groupName = (id: string): string =>
  id.startsWith('targetgroup/') ? id.replace(/^targetgroup\/([^/]+).*$/, '$1') : id;
