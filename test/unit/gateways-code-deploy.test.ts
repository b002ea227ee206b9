// First, so that the clients keep the virtual timers.
import '../../local/clock/lambda-globals.ts';
import type {
  BatchGetDeploymentTargetsCommandInput,
  ListDeploymentTargetsCommandInput,
} from '@aws-sdk/client-codedeploy';
import { expect, test } from 'vitest';
import { deployment } from '../../functions/core/aws/code-deploy.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { names, scripted } from './helpers/scripted-account.ts';

const info = {
  status: 'InProgress',
  creator: 'user',
  applicationName: 'shop',
  deploymentGroupName: 'web',
};
const found = (more: object = {}) => ({ GetDeployment: () => ({ deploymentInfo: { ...info, ...more } }) });
const refuse = (code: string) => () => {
  throw new ServiceError(code, 'refused');
};
const target = (targetId: string, more: object = {}) => ({
  deploymentTargetType: 'InstanceTarget',
  instanceTarget: { targetId, status: 'Pending', ...more },
});

test('R-CHUNK, R-PAGE, R-PARTIAL: all targets are read by 25, and a vanished instance does not hide the others', async () => {
  const ids = names('i-', 60);
  const account = scripted('codedeploy', {
    ...found(),
    ListDeploymentTargets: ({ nextToken }: ListDeploymentTargetsCommandInput) =>
      nextToken ? { targetIds: ids.slice(40) } : { targetIds: ids.slice(0, 40), nextToken: 'more' },
    BatchGetDeploymentTargets: ({ targetIds = [] }: BatchGetDeploymentTargetsCommandInput) =>
      targetIds.includes('i-030')
        ? refuse('InstanceDoesNotExistException')()
        : { deploymentTargets: targetIds.map(id => target(id)) },
  });
  const read = await account.run(() => deployment('d-1'));
  expect(read.targets.map(({ instanceId }) => instanceId)).toEqual(ids.filter(id => id !== 'i-030'));
  const sizes = account.asked.map(({ input }) =>
    Array.isArray(input.targetIds) ? input.targetIds.length : 0,
  );
  expect(Math.max(...sizes)).toBe(25);
});

test('D2: a rollback names the deployment that it follows, and blue/green labels its instances', async () => {
  const account = scripted('codedeploy', {
    ...found({ creator: 'codeDeployRollback', rollbackInfo: { rollbackTriggeringDeploymentId: 'd-0' } }),
    ListDeploymentTargets: () => ({ targetIds: ['i-1', 'i-2'] }),
    BatchGetDeploymentTargets: () => ({
      deploymentTargets: [target('i-1', { instanceLabel: 'Green', status: 'Succeeded' }), target('i-2')],
    }),
  });
  expect(await account.run(() => deployment('d-1'))).toEqual({
    ...info,
    creator: 'codeDeployRollback',
    rollbackOf: 'd-0',
    targets: [
      { instanceId: 'i-1', status: 'Succeeded', label: 'Green' },
      { instanceId: 'i-2', status: 'Pending' },
    ],
  });
});

test('a deployment that has not started, or that has no instances, has no targets', async () => {
  const notStarted = scripted('codedeploy', {
    ...found({ status: 'Created' }),
    ListDeploymentTargets: refuse('DeploymentNotStartedException'),
  });
  expect(await notStarted.run(() => deployment('d-1'))).toEqual({ ...info, status: 'Created', targets: [] });

  const ecs = scripted('codedeploy', {
    ...found(),
    ListDeploymentTargets: () => ({ targetIds: ['cluster:service'] }),
    BatchGetDeploymentTargets: () => ({ deploymentTargets: [{ deploymentTargetType: 'ECSTarget' }] }),
  });
  expect((await ecs.run(() => deployment('d-1'))).targets).toEqual([]);

  const silent = scripted('codedeploy', {
    ...found(),
    ListDeploymentTargets: () => ({ targetIds: ['i-1'] }),
    BatchGetDeploymentTargets: () => ({}),
  });
  expect((await silent.run(() => deployment('d-1'))).targets).toEqual([]);
});

test.each(['DeploymentDoesNotExistException', 'InvalidDeploymentIdException'])(
  'a deployment is unknown when CodeDeploy answers %s',
  async code => {
    const account = scripted('codedeploy', { GetDeployment: refuse(code) });
    await expect(account.run(() => deployment('d-9'))).rejects.toMatchObject({
      name: 'DeploymentUnknown',
      message: 'There is no CodeDeploy deployment d-9.',
    });
  },
);

test('every other refusal is thrown', async () => {
  const account = scripted('codedeploy', {
    ...found(),
    ListDeploymentTargets: refuse('ApplicationDoesNotExistException'),
  });
  await expect(account.run(() => deployment('d-1'))).rejects.toMatchObject({
    code: 'ApplicationDoesNotExistException',
  });
});
