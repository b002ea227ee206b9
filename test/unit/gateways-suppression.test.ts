// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  DisableApplicationStatusCheckSuppressionCommandInput,
  EnableApplicationStatusCheckSuppressionCommandInput,
} from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import { disableSuppression, enableSuppression } from '../../functions/core/aws/suppression.ts';
import { AccessDenied, AwsFailure } from '../../functions/core/errors.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { knowing, scripted } from './helpers/scripted-account.ts';

const at = new Date('2026-11-30T09:00:00Z');

test('R-PARTIAL: what EC2 refuses inside a successful answer is told apart, with its reason', async () => {
  const account = scripted('ec2', {
    EnableApplicationStatusCheckSuppression: () => ({
      SuccessfulResults: [{ InstanceId: 'i-1', ResumeAt: at }, { InstanceId: 'i-2' }],
      UnsuccessfulResults: [{ InstanceId: 'i-3', Reason: 'it is suppressed already' }, { InstanceId: 'i-4' }],
    }),
  });
  const outcome = await account.run(() => enableSuppression(['i-1', 'i-2', 'i-3', 'i-4', 'i-5'], 5400, 't'));
  expect(outcome).toEqual({
    done: [{ instanceId: 'i-1', resumesAt: at }, { instanceId: 'i-2' }],
    unnamed: ['i-5'],
    failed: [
      { instanceId: 'i-3', reason: 'it is suppressed already' },
      { instanceId: 'i-4', reason: 'EC2 gives no reason' },
    ],
  });
  expect(account.asked[0]?.input).toMatchObject({ DurationSeconds: 5400 });
});

test('R-GONE: an instance that vanished is named, and the others are suppressed, each call under its own token', async () => {
  const account = scripted('ec2', {
    EnableApplicationStatusCheckSuppression: knowing<EnableApplicationStatusCheckSuppressionCommandInput>(
      id => id !== 'i-2',
      ids => ({ SuccessfulResults: ids.map(InstanceId => ({ InstanceId, ResumeAt: at })) }),
    ),
  });
  const enable = () => enableSuppression(['i-1', 'i-2', 'i-3'], 60, 'run-1');
  const outcome = await account.run(enable);
  expect(outcome.done.map(({ instanceId }) => instanceId)).toEqual(['i-1', 'i-3']);
  expect(outcome.failed).toEqual([
    { instanceId: 'i-2', reason: expect.stringContaining("The instance IDs 'i-2' do not exist") },
  ]);
  const tokens = account.asked.map(({ input }) => input.ClientToken);
  expect(new Set(tokens).size).toBe(tokens.length);

  account.asked.length = 0;
  await account.run(enable);
  expect(account.asked.map(({ input }) => input.ClientToken)).toEqual(tokens);
  account.asked.length = 0;
  await account.run(() => enableSuppression(['i-1'], 60, 'run-2'));
  expect(tokens).not.toContain(account.asked[0]?.input.ClientToken);
});

describe('D19: IAM denies a whole call for one instance without the opt-in tag', () => {
  const denying = (tagged: readonly string[]) =>
    scripted('ec2', {
      DescribeInstances: () => ({
        Reservations: [
          {
            Instances: ['i-1', 'i-2', 'i-3'].map(InstanceId => ({
              InstanceId,
              State: { Name: 'running' },
              Placement: { AvailabilityZone: 'a' },
              Tags: tagged.includes(InstanceId) ? [{ Key: 'quiesce', Value: 'enabled' }] : [],
            })),
          },
        ],
      }),
      DisableApplicationStatusCheckSuppression: ({ InstanceIds = [] }: { InstanceIds?: string[] }) => {
        if (InstanceIds.some(id => !tagged.includes(id)))
          throw new ServiceError('UnauthorizedOperation', 'You are not authorized', 403);
        return { SuccessfulResults: InstanceIds.map(InstanceId => ({ InstanceId })) };
      },
    });
  const disable = (account: ReturnType<typeof scripted>, ...ids: string[]) =>
    account.run(() => disableSuppression(ids, 't'));

  test('and the others are asked for without it', async () => {
    const account = denying(['i-1', 'i-3']);
    const outcome = await disable(account, 'i-1', 'i-2', 'i-3', 'i-gone');
    expect(outcome.done.map(({ instanceId }) => instanceId)).toEqual(['i-1', 'i-3']);
    expect(outcome.failed).toEqual(
      ['i-2', 'i-gone'].map(instanceId => ({
        instanceId,
        reason: expect.stringContaining('UnauthorizedOperation'),
      })),
    );
    expect(account.asked).toHaveLength(4);
  });

  test('and a role that is permitted none is denied, in as many calls as there are values of the tag', async () => {
    const account = denying([]);
    await expect(disable(account, 'i-1', 'i-2')).rejects.toThrow(AccessDenied);
    await expect(disable(account, 'i-1')).rejects.toThrow(AccessDenied);
    expect(account.asked).toHaveLength(4);
  });

  test('and what fails otherwise is thrown as it is', async () => {
    let calls = 0;
    const account = scripted('ec2', {
      DescribeInstances: () => ({ Reservations: [] }),
      DisableApplicationStatusCheckSuppression: () => {
        throw new ServiceError(++calls === 1 ? 'UnauthorizedOperation' : 'IncorrectState', 'no', 400);
      },
    });
    await expect(disable(account, 'i-1', 'i-2')).rejects.toThrow(AwsFailure);
  });
});

test('D31: a duration that EC2 does not take is an answer for each instance, in one call', async () => {
  const account = scripted('ec2', {
    EnableApplicationStatusCheckSuppression: () => {
      throw new ServiceError('InvalidParameterValue', 'DurationSeconds is too long');
    },
  });
  const outcome = await account.run(() => enableSuppression(['i-1', 'i-2'], 999_999, 't'));
  expect(outcome.done).toEqual([]);
  expect(outcome.failed).toEqual(
    ['i-1', 'i-2'].map(instanceId => ({ instanceId, reason: expect.stringContaining('is too long') })),
  );
  expect(account.asked).toHaveLength(1);
});

test('another refusal of the whole call is thrown', async () => {
  const account = scripted('ec2', {
    DisableApplicationStatusCheckSuppression: () => {
      throw new ServiceError('OptInRequired', 'not in this Region');
    },
  });
  await expect(account.run(() => disableSuppression(['i-1'], 't'))).rejects.toMatchObject({
    code: 'OptInRequired',
  });
});

test('suppression is ended for the instances that are named, and for no others', async () => {
  const account = scripted('ec2', {
    DisableApplicationStatusCheckSuppression: ({
      InstanceIds = [],
    }: DisableApplicationStatusCheckSuppressionCommandInput) => ({
      SuccessfulResults: InstanceIds.map(InstanceId => ({ InstanceId })),
    }),
  });
  expect(await account.run(() => disableSuppression(['i-1'], 't'))).toEqual({
    done: [{ instanceId: 'i-1' }],
    failed: [],
    unnamed: [],
  });
  expect(account.asked[0]?.input).toMatchObject({ InstanceIds: ['i-1'] });
});
