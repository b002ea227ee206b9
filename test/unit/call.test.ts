// First, so that the clients keep the virtual timers: their retries take no real time.
import '../../local/clock/lambda-globals.ts';
import { expect, test } from 'vitest';
import { given, isNotFound, send } from '../../functions/core/aws/call.ts';
import { registerTargets } from '../../functions/core/aws/elastic-load-balancing.ts';
import { describeInstances } from '../../functions/core/aws/instances.ts';
import { enableSuppression } from '../../functions/core/aws/suppression.ts';
import {
  AccessDenied,
  AwsFailure,
  NothingToDo,
  TargetGroupUnknown,
  Throttled,
  Unavailable,
} from '../../functions/core/errors.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { answering, failing, scripted } from './helpers/scripted-account.ts';

const refusing = (code: string, status = 400) =>
  scripted('ec2', {
    DescribeInstances: () => {
      throw new ServiceError(code, 'as told', status);
    },
  });
const describe = () => describeInstances(['i-1']);
const sdkError = (name: string, members: object = {}, cause?: Error): Error =>
  Object.assign(new Error(`this is ${name}`, { cause }), { name }, members);
const failed = (error: unknown) => send('a:B', () => Promise.reject(error)).catch(thrown => thrown);

test('R-THROTTLE: a throttle is tried four times, with seconds between, and then named as one', async () => {
  const account = refusing('RequestLimitExceeded', 503);
  await expect(account.run(describe)).rejects.toMatchObject({
    name: 'Throttled',
    action: 'ec2:DescribeInstances',
    code: 'RequestLimitExceeded',
  });
  expect(account.asked).toHaveLength(4);
  expect(account.elapsedMs()).toBeGreaterThan(500);
  expect(account.elapsedMs()).toBeLessThan(7_100);
});

test.each(['Throttling', 'ThrottlingException', 'SlowDown', 'TooManyRequestsException', 'RequestThrottled'])(
  'R-THROTTLE: %s is a throttle',
  async name => {
    expect(await failed(sdkError(name))).toBeInstanceOf(Throttled);
  },
);

test('R-THROTTLE: a throttle is recognised in nested causes, and by its status', async () => {
  const inner = sdkError('ProvisionedThroughputExceededException');
  expect(await failed(sdkError('Outer', {}, sdkError('Middle', {}, inner)))).toBeInstanceOf(Throttled);
  expect(await failed(sdkError('Odd', { $metadata: { httpStatusCode: 429 } }))).toBeInstanceOf(Throttled);
});

test('a circle of causes ends', async () => {
  const error = sdkError('Odd');
  error.cause = error;
  expect(await failed(error)).toMatchObject({ name: 'AwsFailure', code: 'Odd' });
});

test('a service that fails is unavailable, after the retries', async () => {
  const account = refusing('InternalError', 500);
  await expect(account.run(describe)).rejects.toBeInstanceOf(Unavailable);
  expect(account.asked).toHaveLength(4);
});

test('a network that fails is unavailable', async () => {
  const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  await expect(failing(reset).run(describe)).rejects.toMatchObject({
    name: 'Unavailable',
    code: 'ECONNRESET',
  });
  const late = sdkError('TimeoutError');
  await expect(failing(late).run(describe)).rejects.toMatchObject({
    name: 'Unavailable',
    code: 'TimeoutError',
  });
});

test('R-STATE: an answer to Enable that the SDK cannot read is not taken for "not suppressed"', async () => {
  const body =
    '<R><successfulResultSet><item><instanceId>i-1</instanceId><resumeAt>1609459200000</resumeAt></item></successfulResultSet></R>';
  const work = () => enableSuppression(['i-1'], 600, 'token');
  await expect(answering(200, body).run(work)).rejects.toMatchObject({
    name: 'Unavailable',
    cause: expect.any(TypeError),
  });
});

test('a missing permission names the action, and is not tried again', async () => {
  const account = refusing('UnauthorizedOperation', 403);
  await expect(account.run(describe)).rejects.toMatchObject({
    name: 'AccessDenied',
    action: 'ec2:DescribeInstances',
  });
  expect(account.asked).toHaveLength(1);
  expect(await failed(sdkError('AccessDeniedException'))).toBeInstanceOf(AccessDenied);
});

test("every other refusal carries the code that AWS writes, not the SDK's name for it", async () => {
  const account = scripted('elasticloadbalancing', {
    RegisterTargets: () => {
      throw new ServiceError('TooManyTargets', 'the group is full');
    },
  });
  await expect(account.run(() => registerTargets('arn', [{ id: 'i-1' }], 'instance'))).rejects.toMatchObject({
    name: 'AwsFailure',
    code: 'TooManyTargets',
  });
});

test('what is thrown on purpose passes through, and what is no error is still an answer', async () => {
  const refusal = new NothingToDo('nothing');
  expect(await failed(refusal)).toBe(refusal);
  expect(await failed('a text')).toMatchObject({ name: 'AwsFailure', code: 'Unknown' });
});

test('R-GONE: what AWS does not know is told from what it refuses', () => {
  const failure = (code: string) => new AwsFailure('a:B', code, '', undefined);
  expect(isNotFound(failure('TargetGroupNotFound'))).toBe(true);
  expect(isNotFound(failure('InvalidApplicationStatusCheckId.NotFound'))).toBe(true);
  expect(isNotFound(failure('InvalidInstanceID.Malformed'))).toBe(true);
  expect(isNotFound(failure('NotFoundInCache'))).toBe(false);
  expect(isNotFound(new TargetGroupUnknown('no such group'))).toBe(false);
});

test('a member that must be there is never guessed', () => {
  expect(given(0, 'a:B', 'Count')).toBe(0);
  expect(() => given(undefined, 'a:B', 'Count')).toThrow('the answer has no Count');
});
