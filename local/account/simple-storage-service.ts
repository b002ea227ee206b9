import type {
  CreateBucketCommandInput,
  GetBucketPolicyCommandInput,
  GetObjectCommandInput,
  HeadBucketCommandInput,
  PutBucketEncryptionCommandInput,
  PutBucketLifecycleConfigurationCommandInput,
  PutBucketNotificationConfigurationCommandInput,
  PutBucketPolicyCommandInput,
  PutObjectCommandInput,
  PutPublicAccessBlockCommandInput,
} from '@aws-sdk/client-s3';
import * as client from '@aws-sdk/client-s3';
import { type Call, type Service, ServiceError } from '../wire/contract.ts';
import { isPublic } from './bucket-policy.ts';
import type { Bucket, SimpleStorage, StoredObject } from './simple-storage.ts';

interface NamesBucket {
  readonly Bucket: string | undefined;
  readonly ExpectedBucketOwner?: string | undefined;
}

/** The API of the simulated S3. */
export function simpleStorageService(storage: SimpleStorage): Service {
  const named = ({ Bucket, ExpectedBucketOwner }: NamesBucket): Bucket => {
    const bucket = storage.bucket(Bucket);
    if (ExpectedBucketOwner !== undefined && ExpectedBucketOwner !== bucket.owner)
      throw new ServiceError('AccessDenied', 'Access Denied', 403);
    return bucket;
  };
  const asked = (input: NamesBucket & { readonly Key: string | undefined }, call: Call): StoredObject =>
    readable(storage.object(named(input), input.Key ?? ''), call);

  return {
    name: 's3',
    client,
    protocol: { kind: 'rest-xml' },
    operations: {
      CreateBucket({ Bucket = '' }: CreateBucketCommandInput) {
        storage.createBucket(Bucket);
        return { Location: `/${Bucket}` };
      },

      HeadBucket(input: HeadBucketCommandInput) {
        named(input);
        return {};
      },

      GetObject(input: GetObjectCommandInput, call: Call) {
        const object = asked(input, call);
        return { ...described(object), Body: object.bytes };
      },

      HeadObject(input: client.HeadObjectCommandInput, call: Call) {
        return described(asked(input, call));
      },

      PutObject(input: PutObjectCommandInput) {
        const { Key = '', Body = new Uint8Array() } = input;
        if (!(Body instanceof Uint8Array)) throw new Error('the wire gives bodies as bytes');
        const { eTag, encryption } = storage.put(named(input), Key, Body);
        return { ETag: eTag, ServerSideEncryption: encryption };
      },

      GetBucketPolicy(input: GetBucketPolicyCommandInput) {
        return {
          Policy: existing(named(input).policy, 'NoSuchBucketPolicy', 'The bucket policy does not exist'),
        };
      },

      PutBucketPolicy(input: PutBucketPolicyCommandInput) {
        const { Policy = '' } = input;
        const bucket = named(input);
        if (isPublic(Policy) && bucket.publicAccess.BlockPublicPolicy === true)
          throw new ServiceError(
            'AccessDenied',
            'The policy is public, and the BlockPublicPolicy setting in S3 Block Public Access prevents that',
            403,
          );
        bucket.policy = Policy;
        return {};
      },

      GetBucketPolicyStatus(input: client.GetBucketPolicyStatusCommandInput) {
        const policy = existing(
          named(input).policy,
          'NoSuchBucketPolicy',
          'The bucket policy does not exist',
        );
        return { PolicyStatus: { IsPublic: isPublic(policy) } };
      },

      GetBucketEncryption(input: client.GetBucketEncryptionCommandInput) {
        const { encryption } = named(input);
        return {
          ServerSideEncryptionConfiguration: {
            Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm: encryption } }],
          },
        };
      },

      PutBucketEncryption(input: PutBucketEncryptionCommandInput) {
        const [rule] = input.ServerSideEncryptionConfiguration?.Rules ?? [];
        const algorithm = rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm;
        if (algorithm !== 'AES256' && algorithm !== 'aws:kms')
          throw new ServiceError('MalformedXML', `The SSEAlgorithm ${algorithm} is not simulated`);
        named(input).encryption = algorithm;
        return {};
      },

      GetPublicAccessBlock(input: client.GetPublicAccessBlockCommandInput) {
        return { PublicAccessBlockConfiguration: named(input).publicAccess };
      },

      PutPublicAccessBlock(input: PutPublicAccessBlockCommandInput) {
        named(input).publicAccess = input.PublicAccessBlockConfiguration ?? {};
        return {};
      },

      GetBucketLifecycleConfiguration(input: client.GetBucketLifecycleConfigurationCommandInput) {
        const message = 'The lifecycle configuration does not exist';
        return { Rules: existing(named(input).lifecycle, 'NoSuchLifecycleConfiguration', message) };
      },

      PutBucketLifecycleConfiguration(input: PutBucketLifecycleConfigurationCommandInput) {
        named(input).lifecycle = input.LifecycleConfiguration?.Rules ?? [];
        return {};
      },

      GetBucketNotificationConfiguration(input: client.GetBucketNotificationConfigurationCommandInput) {
        return named(input).notifications;
      },

      PutBucketNotificationConfiguration(input: PutBucketNotificationConfigurationCommandInput) {
        named(input).notifications = input.NotificationConfiguration ?? {};
        return {};
      },
    },
  };
}

/**
 * GUIDE, "GetObject": who may not list a bucket is not told that an object is missing. No role of a stack may list one here, nor
 * use a key.
 */
function readable(object: StoredObject | undefined, { caller }: Call): StoredObject {
  const isStack = caller.kind === 'function' || caller.kind === 'machine';
  if (!object) {
    if (isStack) throw new ServiceError('AccessDenied', 'Access Denied', 403);
    throw new ServiceError('NoSuchKey', 'The specified key does not exist.', 404);
  }
  if (isStack && object.encryption === 'aws:kms')
    throw new ServiceError(
      'AccessDenied',
      `User: ${caller.name} is not authorized to perform: kms:Decrypt on the resource associated with this ciphertext because no identity-based policy allows the kms:Decrypt action`,
      403,
    );
  return object;
}

const described = ({ bytes, eTag, storedAt, encryption }: StoredObject) => ({
  ContentLength: bytes.length,
  ETag: eTag,
  LastModified: new Date(storedAt),
  ServerSideEncryption: encryption,
});

function existing<T>(value: T | undefined, code: string, message: string): T {
  if (value === undefined) throw new ServiceError(code, message, 404);
  return value;
}
