import { createHash } from 'node:crypto';
import type {
  LifecycleRule,
  NotificationConfiguration,
  PublicAccessBlockConfiguration,
} from '@aws-sdk/client-s3';
import { ServiceError } from '../wire/contract.ts';
import { policyAllows } from './bucket-policy.ts';
import type { LogBuckets, ServiceEvent } from './neighbours.ts';
import type { World } from './world.ts';

export interface StoredObject {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** With its quotes. */
  readonly eTag: string;
  readonly storedAt: number;
  /** By the bucket's default when it was written. */
  readonly encryption: Encryption;
}

/** `AES256` is S3's own key (SSE-S3); the other is a key that a reader needs a permission of its own for. */
export type Encryption = 'AES256' | 'aws:kms';

export interface Bucket {
  readonly name: string;
  /** The account whose it is. */
  readonly owner: string;
  readonly objects: Map<string, StoredObject>;
  policy: string | undefined;
  encryption: Encryption;
  publicAccess: PublicAccessBlockConfiguration;
  lifecycle: readonly LifecycleRule[] | undefined;
  notifications: NotificationConfiguration;
}

const DAY_MS = 86_400_000;

/** S3's own defaults of a new bucket since 2023: encrypted by S3, no public access. */
const BLOCKED: PublicAccessBlockConfiguration = {
  BlockPublicAcls: true,
  IgnorePublicAcls: true,
  BlockPublicPolicy: true,
  RestrictPublicBuckets: true,
};

/** The simulated S3: buckets, their settings, their objects, and the events of those. */
export class SimpleStorage implements LogBuckets {
  readonly #world: World;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #buckets = new Map<string, Bucket>();
  #written = 0;

  constructor(world: World, onEvent: (event: ServiceEvent) => void) {
    this.#world = world;
    this.#onEvent = onEvent;
  }

  /** @throws ServiceError BucketAlreadyOwnedByYou */
  createBucket(name: string, owner = this.#world.accountId): Bucket {
    if (this.#buckets.has(name))
      throw new ServiceError('BucketAlreadyOwnedByYou', 'You already own it.', 409);
    const bucket: Bucket = {
      name,
      owner,
      objects: new Map(),
      policy: undefined,
      encryption: 'AES256',
      publicAccess: BLOCKED,
      lifecycle: undefined,
      notifications: {},
    };
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** @throws ServiceError NoSuchBucket */
  bucket(name: string | undefined): Bucket {
    const bucket = this.#buckets.get(name ?? '');
    if (!bucket) throw new ServiceError('NoSuchBucket', 'The specified bucket does not exist', 404);
    return bucket;
  }

  /** Undefined when it is not there, or its lifecycle has ended. */
  object({ objects, lifecycle = [] }: Bucket, key: string): StoredObject | undefined {
    const object = objects.get(key);
    const ageDays = (this.#world.clock.now() - (object?.storedAt ?? 0)) / DAY_MS;
    const expired = lifecycle.some(
      ({ Status, Filter, Expiration }) =>
        Status === 'Enabled' &&
        key.startsWith(Filter?.Prefix ?? '') &&
        ageDays >= (Expiration?.Days ?? Number.POSITIVE_INFINITY),
    );
    return expired ? undefined : object;
  }

  put(bucket: Bucket, key: string, bytes: Uint8Array, requester = this.#world.accountId): StoredObject {
    const { clock } = this.#world;
    const eTag = `"${createHash('md5').update(bytes).digest('hex')}"`;
    const object: StoredObject = { key, bytes, eTag, storedAt: clock.now(), encryption: bucket.encryption };
    bucket.objects.set(key, object);
    this.#written += 1;
    if (bucket.notifications.EventBridgeConfiguration)
      this.#onEvent(this.#created(bucket, object, requester));
    return object;
  }

  deliver({ bucket: name, key, bytes, principal }: Parameters<LogBuckets['deliver']>[0]): void {
    const { partition, accountId } = this.#world;
    const bucket = this.bucket(name);
    const allowed = policyAllows(bucket.policy, {
      principal,
      action: 's3:PutObject',
      resource: `arn:${partition}:s3:::${name}/${key}`,
      context: { 'aws:SecureTransport': 'true', 'aws:SourceAccount': accountId },
    });
    // UG: the bucket of a load balancer's logs has to be encrypted by S3's own keys.
    if (!allowed || bucket.encryption !== 'AES256')
      throw new ServiceError('AccessDenied', 'Access Denied', 403);
    this.put(bucket, key, bytes, principal);
  }

  #created({ name }: Bucket, { key, bytes, eTag }: StoredObject, requester: string): ServiceEvent {
    return {
      source: 'aws.s3',
      'detail-type': 'Object Created',
      resources: [`arn:${this.#world.partition}:s3:::${name}`],
      detail: {
        version: '0',
        bucket: { name },
        object: {
          key,
          size: bytes.length,
          etag: eTag.slice(1, -1),
          sequencer: this.#written.toString(16).toUpperCase().padStart(18, '0'),
        },
        'request-id': 'C3D13FE58DE4C810',
        requester,
        'source-ip-address': '127.0.0.1',
        reason: 'PutObject',
      },
    };
  }
}
