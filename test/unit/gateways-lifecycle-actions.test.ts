import { describe, expect, test } from 'vitest';
import { checkAssociations } from '../../functions/core/aws/check-associations.ts';
import {
  completeAction,
  lifecycleHook,
  recordHeartbeat,
} from '../../functions/core/aws/lifecycle-actions.ts';
import { AwsFailure } from '../../functions/core/errors.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { scripted } from './helpers/scripted-account.ts';

const action = { token: 'token-1', group: 'web', hook: 'quiesce-launch', instanceId: 'i-1' };
const invalid = (message: string) => () => {
  throw new ServiceError('ValidationError', message);
};

/** What Auto Scaling says when there is nothing left to answer. */
const OVER = [
  'No active Lifecycle Action found with token token-1',
  'No Lifecycle Hook found with name quiesce-launch for Auto Scaling group web',
  "AutoScalingGroup name not found - AutoScalingGroup 'web' not found",
];

describe('R-HOOK: a lifecycle action', () => {
  test('is named by its token, since an instance may wait at a hook more than once', async () => {
    const account = scripted('autoscaling', {
      RecordLifecycleActionHeartbeat: () => ({}),
      CompleteLifecycleAction: () => ({}),
    });
    expect(await account.run(() => recordHeartbeat(action))).toBe(true);
    expect(await account.run(() => completeAction(action, 'ABANDON'))).toBe(true);
    const named = {
      AutoScalingGroupName: 'web',
      LifecycleHookName: 'quiesce-launch',
      LifecycleActionToken: 'token-1',
    };
    expect(account.asked.map(({ input }) => input)).toEqual([
      named,
      { ...named, LifecycleActionResult: 'ABANDON' },
    ]);
  });

  test.each(OVER)('is over, which is no error: %s', async message => {
    const account = scripted('autoscaling', {
      RecordLifecycleActionHeartbeat: invalid(message),
      CompleteLifecycleAction: invalid(message),
      DescribeLifecycleHooks: invalid(message),
    });
    expect(await account.run(() => recordHeartbeat(action))).toBe(false);
    expect(await account.run(() => completeAction(action, 'CONTINUE'))).toBe(false);
    expect(await account.run(() => lifecycleHook('web', 'quiesce-launch'))).toBeUndefined();
  });

  test('that is refused for any other reason is an error', async () => {
    const account = scripted('autoscaling', { RecordLifecycleActionHeartbeat: invalid('a bad token') });
    await expect(account.run(() => recordHeartbeat(action))).rejects.toBeInstanceOf(AwsFailure);
  });
});

test('the times of a hook are read, never assumed', async () => {
  const hooks = [{ LifecycleHookName: 'quiesce-launch', HeartbeatTimeout: 60, GlobalTimeout: 6000 }];
  const account = scripted('autoscaling', { DescribeLifecycleHooks: () => ({ LifecycleHooks: hooks }) });
  expect(await account.run(() => lifecycleHook('web', 'quiesce-launch'))).toEqual({
    heartbeatSeconds: 60,
    globalSeconds: 6000,
  });
  hooks.pop();
  expect(await account.run(() => lifecycleHook('web', 'quiesce-launch'))).toBeUndefined();
});

test('R-PAGE: every association of every check is read', async () => {
  const pages = [
    [{ ApplicationStatusCheckId: 'asc-1', AssociationType: 'tag', Key: 'stage', Value: 'live' }],
    [{ ApplicationStatusCheckId: 'asc-2', AssociationType: 'instance-id', Value: 'i-1' }],
  ];
  const account = scripted('ec2', {
    DescribeApplicationStatusCheckAssociations: ({ NextToken }: { NextToken?: string }) => ({
      Associations: pages[Number(NextToken ?? 0)],
      ...(NextToken === undefined && { NextToken: '1' }),
    }),
  });
  expect(await account.run(() => checkAssociations())).toEqual([
    { checkId: 'asc-1', tag: { key: 'stage', value: 'live' } },
    { checkId: 'asc-2', instanceId: 'i-1' },
  ]);
});
