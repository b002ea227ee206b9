import { AccessDenied, AwsFailure, QuiesceError, Throttled, Unavailable } from '../errors.ts';

const THROTTLES = new Set([
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

const DENIALS = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'AuthorizationError',
  'NotAuthorized',
  'UnauthorizedOperation',
]);

const NO_ANSWER = new Set([
  'AbortError',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'RequestTimeout',
  'RequestTimeoutException',
  'TimeoutError',
]);

/**
 * Makes one call to AWS and translates its errors, once, for the whole product.
 *
 * @param action as IAM writes it, `ec2:DescribeInstances`
 * @throws Throttled, Unavailable, AccessDenied, and AwsFailure for every other code
 */
export async function send<T>(action: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translated(action, error);
  }
}

/** Does AWS say that the thing itself does not exist? It names that by a suffix; EC2's instances by a whole family. */
export function isNotFound(error: unknown): error is AwsFailure {
  return error instanceof AwsFailure && /NotFound$|^InvalidInstanceID\./.test(error.code);
}

/**
 * A member that the SDK's types call optional and AWS always gives.
 *
 * @throws AwsFailure when it is absent: whatever was assumed instead would be a guess about a live fleet
 */
export function given<T>(value: T | undefined, action: string, member: string): T {
  if (value !== undefined) return value;
  throw new AwsFailure(action, 'IncompleteAnswer', `the answer has no ${member}`, undefined);
}

function translated(action: string, error: unknown): QuiesceError {
  if (error instanceof QuiesceError) return error;
  const chain = [...causes(error)];
  const { code, said, status } = reading(error);
  if (chain.some(one => THROTTLES.has(one.code) || one.status === 429)) {
    return new Throttled(action, code, said, error);
  }
  if (chain.some(one => DENIALS.has(one.code))) return new AccessDenied(action, code, said, error);
  if (chain.some(one => NO_ANSWER.has(one.code)) || isUnreadable(status)) {
    return new Unavailable(action, code, said, error);
  }
  return new AwsFailure(action, code, said, error);
}

/** 5xx; or a success that the SDK could not read, where AWS has acted although an error is thrown. */
const isUnreadable = (status: number | undefined): boolean =>
  status !== undefined && (status >= 500 || (status >= 200 && status < 300));

interface Reading {
  readonly code: string;
  readonly said: string;
  readonly status: number | undefined;
}

/** Query services put their code in `Code` (`TargetGroupNotFound`) beside the class's name; Node.js puts its own in `code`. */
function reading(error: unknown): Reading {
  if (!(error instanceof Error)) return { code: 'Unknown', said: String(error), status: undefined };
  const { Code, code, $metadata } = error as Error & {
    readonly Code?: unknown;
    readonly code?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
  };
  const own = [Code, code].find(value => typeof value === 'string' && value !== '');
  return { code: String(own ?? error.name), said: error.message, status: $metadata?.httpStatusCode };
}

/** The error and what caused it, outermost first. A chain that is deeper than any real one ends the walk, as a circle would. */
function* causes(error: unknown): Generator<Reading> {
  let at = error;
  for (let depth = 0; depth < 10 && at !== undefined; depth++) {
    yield reading(at);
    at = at instanceof Error ? at.cause : undefined;
  }
}
