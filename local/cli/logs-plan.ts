import type {
  LifecycleRule,
  NotificationConfiguration,
  PublicAccessBlockConfiguration,
} from '@aws-sdk/client-s3';
import { InvalidRequest } from '../../functions/core/errors.ts';

/** Where the health check logs of one load balancer are to go. */
export interface LogsWanted {
  readonly loadBalancerArn: string;
  readonly bucket: string;
  /** Has it the name that the stack listens to by itself? Then it is this account's, and for these logs alone. */
  readonly own: boolean;
  /** Without the slash that follows it; empty for none. */
  readonly prefix: string;
  /** After how many days a bucket that is made for them, or the stack's own, deletes them. */
  readonly days: number;
}

export interface FoundBucket {
  /** JSON text; undefined when it has none. */
  readonly policy: string | undefined;
  /** By S3's own judgement: does the policy let everybody in? */
  readonly isPublic: boolean;
  /** `AES256` for S3's own keys. */
  readonly encryption: string;
  readonly publicAccess: PublicAccessBlockConfiguration;
  readonly lifecycle: readonly LifecycleRule[];
  readonly notifications: NotificationConfiguration;
}

/** The attributes of the load balancer that say where its logs go. */
export interface FoundLogs {
  readonly enabled: boolean;
  readonly bucket: string;
  readonly prefix: string;
}

/** One change, in the order in which they are made. */
export type LogsStep =
  | { readonly kind: 'create-bucket' }
  | { readonly kind: 'block-public-access'; readonly publicAccess: PublicAccessBlockConfiguration }
  | { readonly kind: 'delete-old'; readonly days: number; readonly rules: readonly LifecycleRule[] }
  | { readonly kind: 'let-delivery-in'; readonly policy: string; readonly extended: boolean }
  | { readonly kind: 'tell-event-bridge'; readonly notifications: NotificationConfiguration }
  | { readonly kind: 'switch-on' };

export const BLOCKED: PublicAccessBlockConfiguration = {
  BlockPublicAcls: true,
  IgnorePublicAcls: true,
  BlockPublicPolicy: true,
  RestrictPublicBuckets: true,
};

/** What S3 gives a bucket by itself. */
const NEW_BUCKET: FoundBucket = {
  policy: undefined,
  isPublic: false,
  encryption: 'AES256',
  publicAccess: BLOCKED,
  lifecycle: [],
  notifications: {},
};

/**
 * What has to be changed so that the logs arrive and are read. Of a bucket that is there everything is kept: its policy and its
 * notifications are added to, and its objects are nobody's to delete unless the bucket is the stack's own.
 *
 * @param found - undefined when there is no such bucket
 * @throws InvalidRequest when load balancers cannot write to the bucket
 */
export function planLogs(wanted: LogsWanted, found: FoundBucket | undefined, logs: FoundLogs): LogsStep[] {
  const { policy, isPublic, encryption, publicAccess, lifecycle, notifications } = found ?? NEW_BUCKET;
  if (encryption !== 'AES256')
    throw new InvalidRequest(
      `Bucket ${wanted.bucket} is encrypted with keys of KMS (${encryption}), and load balancers write only to buckets with S3's own (SSE-S3): name another.`,
    );
  // With public access blocked S3 refuses to write such a policy, and no longer heeds what it grants to others.
  if (isPublic)
    throw new InvalidRequest(
      `Bucket ${wanted.bucket} has a policy that lets everybody in, and logs belong where that is blocked: name another, or take that statement out of its policy.`,
    );
  const steps: LogsStep[] = [];
  // New buckets are encrypted by S3 and have no public access by themselves, since 2023.
  if (!found) steps.push({ kind: 'create-bucket' });
  if ((!found || wanted.own) && !lifecycle.some(deletes))
    steps.push({ kind: 'delete-old', days: wanted.days, rules: [...lifecycle, oldLogs(wanted.days)] });
  if (Object.keys(BLOCKED).some(how => Reflect.get(publicAccess, how) !== true))
    steps.push({ kind: 'block-public-access', publicAccess: BLOCKED });
  const extended = extendedPolicy(wanted, policy);
  if (extended !== undefined)
    steps.push({ kind: 'let-delivery-in', policy: extended, extended: policy !== undefined });
  if (!notifications.EventBridgeConfiguration)
    steps.push({
      kind: 'tell-event-bridge',
      notifications: { ...notifications, EventBridgeConfiguration: {} },
    });
  if (!logs.enabled || logs.bucket !== wanted.bucket || logs.prefix !== wanted.prefix)
    steps.push({ kind: 'switch-on' });
  return steps;
}

const oldLogs = (days: number): LifecycleRule => ({
  ID: 'old-logs',
  Status: 'Enabled',
  Filter: { Prefix: '' },
  Expiration: { Days: days },
});

/** Whatever of the bucket it deletes, and when: somebody has thought of it. */
const deletes = ({ Status, Expiration }: LifecycleRule): boolean =>
  Status === 'Enabled' && Expiration !== undefined;

/** Why `days`, which was asked for, is not what comes: what deletes objects of a bucket that is there is not changed. */
export function remarksOnDays(
  { bucket, days }: LogsWanted,
  found: FoundBucket | undefined,
  steps: readonly LogsStep[],
): string[] {
  if (!found || steps.some(({ kind }) => kind === 'delete-old')) return [];
  const rules = found.lifecycle.filter(deletes);
  if (rules.some(({ Expiration }) => Expiration?.Days === days)) return [];
  const there = rules.map(({ ID, Expiration }) => `rule ${ID} by ${JSON.stringify(Expiration)}`);
  const state =
    there.length > 0 ? `is deleted from by its own ${there.join(' and ')}` : 'deletes nothing by itself';
  return [`${bucket} is there and ${state}, which is left as it is: --days ${days} changes nothing.`];
}

/** UG, "Enable health check logs": who writes them. */
const DELIVERY = 'logdelivery.elasticloadbalancing.amazonaws.com';
const PUT = 's3:PutObject';

/** Where the load balancers of one account write, in a bucket. */
export function folderOf({ loadBalancerArn, prefix }: LogsWanted): string {
  const [, , , , account] = loadBalancerArn.split(':');
  return `${prefix === '' ? '' : `${prefix}/`}AWSLogs/${account}/`;
}

/** The policy with a statement more, and all that it had; undefined when it lets the delivery in already. */
function extendedPolicy(wanted: LogsWanted, policy: string | undefined): string | undefined {
  const [, partition] = wanted.loadBalancerArn.split(':');
  const resource = `arn:${partition}:s3:::${wanted.bucket}/${folderOf(wanted)}*`;
  const {
    Version = '2012-10-17',
    Statement = [],
    ...others
  } = policy === undefined ? {} : JSON.parse(policy);
  const statements: readonly unknown[] = [Statement].flat();
  if (statements.some(statement => letsIn(statement, resource))) return undefined;
  // Without a Sid: those of one policy have to differ.
  const ours = {
    Effect: 'Allow',
    Principal: { Service: DELIVERY },
    Action: PUT,
    Resource: resource,
  };
  return JSON.stringify({ ...others, Version, Statement: [...statements, ours] });
}

/** Does this one statement let the delivery write everything that it will? One with a condition is not relied upon. */
function letsIn(statement: unknown, resource: string): boolean {
  const { Effect, Principal, Action, Resource, Condition } = Object(statement);
  return (
    Effect === 'Allow' &&
    Condition === undefined &&
    [Object(Principal).Service].flat().includes(DELIVERY) &&
    [Action].flat().some(action => action === PUT || action === 's3:*') &&
    [Resource].flat().some(pattern => typeof pattern === 'string' && covers(pattern, resource))
  );
}

/** Does a pattern that may end with `*` take in all that another one does? */
const covers = (pattern: string, other: string): boolean =>
  pattern === other || (pattern.endsWith('*') && other.startsWith(pattern.slice(0, -1)));
