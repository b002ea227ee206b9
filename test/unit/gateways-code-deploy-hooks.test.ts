// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import { expect, test } from 'vitest';
import {
  deployment,
  deploymentConfig,
  eventInProgress,
  hookedTarget,
  putHookStatus,
} from '../../functions/core/aws/code-deploy.ts';
import { AwsFailure } from '../../functions/core/errors.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { scripted } from './helpers/scripted-account.ts';

const refuse = (code: string) => () => {
  throw new ServiceError(code, 'refused');
};
const info = { status: 'InProgress', creator: 'user', deploymentConfigName: 'CodeDeployDefault.OneAtATime' };
const GetDeployment = () => ({ deploymentInfo: info });

test('a target whose progress CodeDeploy does not show yet has none', async () => {
  const account = scripted('codedeploy', {
    GetDeployment,
    GetDeploymentTarget: () => ({
      deploymentTarget: { deploymentTargetType: 'InstanceTarget', instanceTarget: { targetId: 'i-1' } },
    }),
  });
  expect(await account.run(() => hookedTarget('d-1', 'i-1'))).toMatchObject({
    targetStatus: 'Unknown',
    events: {},
    loadBalanced: false,
  });
});

test('an event without a status is unknown', async () => {
  const account = scripted('codedeploy', {
    GetDeployment,
    GetDeploymentTarget: () => ({
      deploymentTarget: {
        deploymentTargetType: 'InstanceTarget',
        instanceTarget: { targetId: 'i-1', lifecycleEvents: [{ lifecycleEventName: 'BeforeInstall' }, {}] },
      },
    }),
  });
  expect((await account.run(() => hookedTarget('d-1', 'i-1')))?.events).toMatchObject({
    BeforeInstall: 'Unknown',
  });
});

test.each(['DeploymentTargetDoesNotExistException', 'InvalidDeploymentTargetIdException'])(
  'D9: an instance that is no target is none, by %s',
  async code => {
    const account = scripted('codedeploy', { GetDeployment, GetDeploymentTarget: refuse(code) });
    expect(await account.run(() => hookedTarget('d-1', 'i-1'))).toBeUndefined();
  },
);

test('R-SWALLOW: every other error of a target, a listing or an answer is thrown on', async () => {
  const code = 'DeploymentIdRequiredException';
  const account = scripted('codedeploy', {
    GetDeployment: () => ({
      deploymentInfo: { ...info, applicationName: 'shop', deploymentGroupName: 'web' },
    }),
    GetDeploymentTarget: refuse(code),
    ListDeploymentTargets: refuse(code),
    PutLifecycleEventHookExecutionStatus: refuse(code),
  });
  for (const read of [
    () => hookedTarget('d-1', 'i-1'),
    () => deployment('d-1'),
    () => eventInProgress('d-1'),
  ])
    await expect(account.run<unknown>(read)).rejects.toMatchObject({ name: 'AwsFailure', code });
  await expect(account.run(() => putHookStatus('d-1', 'h-1', 'Failed'))).rejects.toBeInstanceOf(AwsFailure);
});

test('R-HOOKSTATUS: a hook that is answered already is answered', async () => {
  const account = scripted('codedeploy', {
    PutLifecycleEventHookExecutionStatus: refuse('LifecycleEventAlreadyCompletedException'),
  });
  await expect(account.run(() => putHookStatus('d-1', 'h-1', 'Succeeded'))).resolves.toBeUndefined();
});

test('the event in progress is read of a deployment to Lambda, and is none before it shows', async () => {
  const target = (lifecycleEvents: object[]) => ({
    ListDeploymentTargets: () => ({ targetIds: ['t-1'] }),
    GetDeploymentTarget: () => ({
      deploymentTarget: { deploymentTargetType: 'LambdaTarget', lambdaTarget: { lifecycleEvents } },
    }),
  });
  const shown = scripted(
    'codedeploy',
    target([{ lifecycleEventName: 'BeforeAllowTraffic', status: 'InProgress' }]),
  );
  expect(await shown.run(() => eventInProgress('d-1'))).toBe('BeforeAllowTraffic');
  expect(await scripted('codedeploy', target([])).run(() => eventInProgress('d-1'))).toBeUndefined();
  const none = scripted('codedeploy', { ListDeploymentTargets: () => ({ targetIds: [] }) });
  expect(await none.run(() => eventInProgress('d-1'))).toBeUndefined();
});

test.each([
  ['CodeDeployDefault.HalfAtATime', 'FLEET_PERCENT', false],
  ['ours', 'HOST_COUNT', true],
])('D8: the configuration %s', async (name, type, custom) => {
  const account = scripted('codedeploy', {
    GetDeploymentConfig: () => ({ deploymentConfigInfo: { minimumHealthyHosts: { type, value: 5 } } }),
  });
  expect(await account.run(() => deploymentConfig(name))).toMatchObject({
    name,
    custom,
    minimumHealthyHosts: { type, value: 5 },
    createdAt: undefined,
  });
});
