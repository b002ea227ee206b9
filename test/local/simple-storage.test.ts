// First, so that the client keeps the virtual timers.
import '../../local/clock/lambda-globals.ts';
import * as client from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServiceEvent } from '../../local/account/neighbours.ts';
import { SimpleStorage } from '../../local/account/simple-storage.ts';
import { simpleStorageService } from '../../local/account/simple-storage-service.ts';
import { createWorld } from '../../local/account/world.ts';
import type { Caller } from '../../local/wire/contract.ts';
import type { Listening } from '../../local/wire/server.ts';
import { createWire } from '../../local/wire/wire.ts';

const settings = {
  region: 'eu-west-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  maxAttempts: 1,
};

function createStorage() {
  const world = createWorld();
  const events: ServiceEvent[] = [];
  const storage = new SimpleStorage(world, event => events.push(event));
  const wire = createWire({ services: [simpleStorageService(storage)], gates: [], clock: world.clock });
  const as = (caller?: Caller) => new client.S3({ ...settings, requestHandler: wire.transport(caller) });
  return { world, events, storage, wire, s3: as(), as };
}

const BYTES = Uint8Array.from({ length: 1000 }, (_, place) => place % 256);
const at = { Bucket: 'logs-of-ours', Key: 'a folder/ü+1 & more.gz' };

/** What is stored and read back, in process and over a socket, where the bucket is part of the path. */
async function roundTrip(s3: client.S3): Promise<void> {
  await s3.createBucket({ Bucket: at.Bucket });
  await s3.headBucket({ Bucket: at.Bucket });
  await s3.putObject({ ...at, Body: BYTES, ContentEncoding: 'gzip' });
  const read = await s3.getObject(at);
  expect(await read.Body?.transformToByteArray()).toEqual(BYTES);
  expect(await s3.headObject(at)).toMatchObject({
    ContentLength: 1000,
    ETag: read.ETag,
    ServerSideEncryption: 'AES256',
  });
  await expect(s3.headObject({ ...at, Key: 'other' })).rejects.toMatchObject({ name: 'NotFound' });
  await expect(s3.getObject({ ...at, Key: 'other' })).rejects.toMatchObject({ name: 'NoSuchKey' });
  await expect(s3.headBucket({ Bucket: 'of-nobody' })).rejects.toMatchObject({ name: 'NotFound' });
  await expect(s3.createBucket({ Bucket: at.Bucket })).rejects.toMatchObject({
    name: 'BucketAlreadyOwnedByYou',
  });
  await expect(s3.getBucketAcl({ Bucket: at.Bucket })).rejects.toMatchObject({ name: 'NotImplemented' });
}

test('objects are stored and read back byte by byte', async () => {
  await roundTrip(createStorage().s3);
});

describe('over a socket', () => {
  const { wire } = createStorage();
  let listening: Listening;
  beforeAll(async () => {
    listening = await wire.listen();
  });
  afterAll(() => listening.close());

  test('objects are stored and read back byte by byte', async () => {
    await roundTrip(new client.S3({ ...settings, endpoint: listening.url, forcePathStyle: true }));
  });
});

test("a bucket's settings are read as they were written", async () => {
  const { s3, storage } = createStorage();
  const Bucket = 'logs-of-ours';
  await s3.createBucket({ Bucket });
  await expect(s3.getBucketPolicy({ Bucket })).rejects.toMatchObject({ name: 'NoSuchBucketPolicy' });
  await expect(s3.getBucketLifecycleConfiguration({ Bucket })).rejects.toMatchObject({
    name: 'NoSuchLifecycleConfiguration',
  });
  await expect(s3.putBucketPolicy({ Bucket, Policy: '{"Statement":[{}]}' })).rejects.toMatchObject({
    name: 'MalformedPolicy',
  });
  await expect(s3.putBucketPolicy({ Bucket, Policy: '{' })).rejects.toMatchObject({
    name: 'MalformedPolicy',
  });
  const Policy = JSON.stringify({
    Statement: [{ Effect: 'Allow', Principal: { Service: 'x' }, Action: [], Resource: [] }],
  });
  const block = { BlockPublicAcls: true, BlockPublicPolicy: true };
  const Rules = [
    { ID: 'old', Status: 'Enabled' as const, Filter: { Prefix: 'p/' }, Expiration: { Days: 3 } },
    { ID: 'older', Status: 'Disabled' as const, Filter: { Prefix: '' }, Expiration: { Days: 1 } },
  ];
  await s3.putBucketPolicy({ Bucket, Policy });
  await s3.putPublicAccessBlock({ Bucket, PublicAccessBlockConfiguration: block });
  await s3.putBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration: { Rules } });
  await s3.putBucketNotificationConfiguration({
    Bucket,
    NotificationConfiguration: { EventBridgeConfiguration: {} },
  });
  const encrypted = (SSEAlgorithm: client.ServerSideEncryption) => ({
    Rules: [{ ApplyServerSideEncryptionByDefault: { SSEAlgorithm } }],
  });
  await s3.putBucketEncryption({ Bucket, ServerSideEncryptionConfiguration: encrypted('aws:kms') });
  await expect(
    s3.putBucketEncryption({ Bucket, ServerSideEncryptionConfiguration: encrypted('aws:kms:dsse') }),
  ).rejects.toMatchObject({ name: 'MalformedXML' });

  expect((await s3.getBucketPolicy({ Bucket })).Policy).toBe(Policy);
  expect((await s3.getPublicAccessBlock({ Bucket })).PublicAccessBlockConfiguration).toEqual(block);
  expect((await s3.getBucketLifecycleConfiguration({ Bucket })).Rules).toEqual(Rules);
  expect(await s3.getBucketNotificationConfiguration({ Bucket })).toMatchObject({
    EventBridgeConfiguration: {},
  });
  expect((await s3.getBucketEncryption({ Bucket })).ServerSideEncryptionConfiguration).toEqual(
    encrypted('aws:kms'),
  );
  expect(storage.bucket(Bucket).encryption).toBe('aws:kms');
});

test('an object is announced once its bucket tells EventBridge, and gone when its lifecycle has ended', async () => {
  const { s3, storage, events, world } = createStorage();
  const bucket = storage.createBucket('logs-of-ours');
  storage.put(bucket, 'unheard', BYTES);
  bucket.notifications = { EventBridgeConfiguration: {} };
  bucket.lifecycle = [{ Status: 'Enabled', Filter: { Prefix: 'p/' }, Expiration: { Days: 3 } }];
  await s3.putObject({ Bucket: 'logs-of-ours', Key: 'p/x', Body: BYTES });
  expect(events).toMatchObject([
    {
      source: 'aws.s3',
      'detail-type': 'Object Created',
      resources: ['arn:aws:s3:::logs-of-ours'],
      detail: { bucket: { name: 'logs-of-ours' }, object: { key: 'p/x', size: 1000 } },
    },
  ]);
  await world.clock.pass(3 * 86_400_000);
  expect(['p/x', 'unheard'].map(key => storage.object(bucket, key)?.key)).toEqual([undefined, 'unheard']);
});

test('a function is not told whether an object is missing or kept from it', async () => {
  const { as, storage } = createStorage();
  const s3 = as({ kind: 'function', name: 'Reader' });
  const bucket = storage.createBucket('logs-of-ours');
  bucket.encryption = 'aws:kms';
  storage.put(bucket, 'sealed', BYTES);
  const read = (Key: string) => s3.getObject({ Bucket: 'logs-of-ours', Key });
  await expect(read('missing')).rejects.toMatchObject({ name: 'AccessDenied', message: 'Access Denied' });
  await expect(read('sealed')).rejects.toMatchObject({
    name: 'AccessDenied',
    message: expect.stringContaining('kms:Decrypt'),
  });
});

test('a policy that lets everybody in is refused while public access is blocked, and told as public', async () => {
  const { s3 } = createStorage();
  const Bucket = 'open';
  await s3.createBucket({ Bucket });
  const put = (statement: object) =>
    s3.putBucketPolicy({
      Bucket,
      Policy: JSON.stringify({ Statement: { Effect: 'Allow', Action: [], Resource: [], ...statement } }),
    });
  const isPublic = async () => (await s3.getBucketPolicyStatus({ Bucket })).PolicyStatus?.IsPublic;
  await expect(s3.getBucketPolicyStatus({ Bucket })).rejects.toMatchObject({ name: 'NoSuchBucketPolicy' });
  const fixed = (value: unknown) => ({ Condition: { StringLike: { 'AWS:SourceArn': value } } });
  for (const open of [
    { Principal: '*' },
    { Principal: { AWS: ['*'] } },
    { Principal: '*', ...fixed(['arn:aws:s3:::x', 'arn:*']) },
    { Principal: '*', Condition: { Bool: { 'aws:SecureTransport': 'true' } } },
  ])
    await expect(put(open)).rejects.toMatchObject({ name: 'AccessDenied' });
  for (const closed of [
    { Principal: '*', Effect: 'Deny' },
    { Principal: { Service: 'logs.example' } },
    { Principal: '*', ...fixed('arn:aws:s3:::x') },
  ]) {
    await put(closed);
    expect(await isPublic()).toBe(false);
  }
  await s3.putPublicAccessBlock({ Bucket, PublicAccessBlockConfiguration: {} });
  await put({ Principal: '*' });
  expect(await isPublic()).toBe(true);
});

test('a bucket of another account is none to who expects his own', async () => {
  const { s3, storage } = createStorage();
  storage.createBucket('theirs', '999999999999');
  const asked = (ExpectedBucketOwner: string) =>
    s3.getBucketEncryption({ Bucket: 'theirs', ExpectedBucketOwner });
  await expect(asked('111122223333')).rejects.toMatchObject({ name: 'AccessDenied' });
  await expect(asked('999999999999')).resolves.toBeDefined();
});
