import { describe, expect, it } from 'vitest';
import { CodeDeploy } from '../../local/account/code-deploy.ts';
import { codeDeployOperations } from '../../local/account/code-deploy-operations.ts';
import type { ServiceEvent } from '../../local/account/neighbours.ts';
import { createWorld } from '../../local/account/world.ts';

const NAMES = { applicationName: 'shop', deploymentGroupName: 'web' };

function deployable() {
  const world = createWorld({ physics: { deploymentStatusLagSeconds: 0 } });
  const events: ServiceEvent[] = [];
  const codeDeploy = new CodeDeploy(world, event => events.push(event));
  codeDeploy.addDeploymentGroup({ ...NAMES, autoScalingGroupNames: ['fleet'], targetGroupNames: ['web'] });
  const ids = (count: number) => Array.from({ length: count }, (_, n) => `i-${n}`);
  return {
    codeDeploy,
    events,
    ids,
    api: codeDeployOperations(codeDeploy),
    start: (count: number, more: object = {}) =>
      codeDeploy.startDeployment({ ...NAMES, instanceIds: ids(count), ...more }),
  };
}

describe('a deployment', () => {
  it('R-PAGE: names its fleet in pages', () => {
    const { api, start, ids } = deployable();
    const deploymentId = start(130);
    const { targetIds: first = [], nextToken } = api.ListDeploymentTargets({ deploymentId });
    const { targetIds: rest = [], nextToken: none } = api.ListDeploymentTargets({ deploymentId, nextToken });
    expect(first).toHaveLength(100);
    expect([...first, ...rest]).toEqual(ids(130));
    expect(none).toBeUndefined();
  });

  it('R-CHUNK: describes 25 targets a batch, and R-PARTIAL: fails a batch with a foreign one', () => {
    const { api, start, ids } = deployable();
    const deploymentId = start(30);
    const batch = (targetIds: string[]) => api.BatchGetDeploymentTargets({ deploymentId, targetIds });
    expect(batch(ids(25)).deploymentTargets).toHaveLength(25);
    expect(() => batch(ids(26))).toThrow(
      expect.objectContaining({ code: 'DeploymentTargetListSizeExceededException' }),
    );
    expect(() => batch(['i-0', 'i-99'])).toThrow(
      expect.objectContaining({ code: 'DeploymentTargetDoesNotExistException' }),
    );
  });

  it('shows the lifecycle events of its kind, in order, and the labels of a blue/green one', () => {
    const { api, start } = deployable();
    const deploymentId = start(2, { labels: { 'i-0': 'Blue', 'i-1': 'Green' } });
    const targets = api.BatchGetDeploymentTargets({
      deploymentId,
      targetIds: ['i-0', 'i-1'],
    }).deploymentTargets;
    const shown = targets?.map(({ instanceTarget: target }) => [
      target?.instanceLabel,
      target?.lifecycleEvents?.[0]?.lifecycleEventName,
      target?.lifecycleEvents?.length,
    ]);
    expect(shown).toEqual([
      ['Blue', 'BeforeBlockTraffic', 3],
      ['Green', 'ApplicationStop', 10],
    ]);
    const labels = { ServerInstanceLabel: ['Green'] };
    expect(api.ListDeploymentTargets({ deploymentId, targetFilters: labels }).targetIds).toEqual(['i-1']);
  });

  it('D2: a rollback is a new deployment that names the one it rolls back', () => {
    const { api, start, codeDeploy } = deployable();
    const failed = start(1);
    codeDeploy.endDeployment(failed, 'Failed');
    const rollback = start(1, { rollbackOf: failed });
    expect(api.GetDeployment({ deploymentId: rollback }).deploymentInfo).toMatchObject({
      status: 'InProgress',
      creator: 'codeDeployRollback',
      rollbackInfo: { rollbackTriggeringDeploymentId: failed },
    });
    expect(api.GetDeployment({ deploymentId: failed }).deploymentInfo).toMatchObject({
      status: 'Failed',
      deploymentOverview: { Failed: 1, Pending: 0 },
      rollbackInfo: { rollbackDeploymentId: rollback },
    });
  });

  it.each([
    ['Succeeded', ['START', 'SUCCESS', 'SUCCESS']],
    ['Failed', ['START', 'FAILURE', 'FAILURE']],
    ['Stopped', ['START', 'STOP']],
  ] as const)('tells the event bus when it starts and when it is %s', (status, states) => {
    const { codeDeploy, start, events } = deployable();
    const deploymentId = start(1);
    codeDeploy.endDeployment(deploymentId, status);
    expect(events.map(({ detail }) => detail.state)).toEqual(states);
    expect(events[0]).toMatchObject({
      source: 'aws.codedeploy',
      'detail-type': 'CodeDeploy Deployment State-change Notification',
      detail: { region: 'eu-west-1', deploymentId, deploymentGroup: 'web', application: 'shop' },
    });
    expect(() => codeDeploy.endDeployment(deploymentId, status)).toThrow('not a deployment in progress');
  });
});

it('describes a deployment group with its Auto Scaling groups and target groups', () => {
  const { api } = deployable();
  expect(api.GetDeploymentGroup(NAMES).deploymentGroupInfo).toMatchObject({
    autoScalingGroups: [{ name: 'fleet' }],
    loadBalancerInfo: { targetGroupInfoList: [{ name: 'web' }] },
    deploymentStyle: { deploymentType: 'IN_PLACE', deploymentOption: 'WITH_TRAFFIC_CONTROL' },
  });
  expect(() => api.GetDeploymentGroup({ ...NAMES, deploymentGroupName: 'none' })).toThrow(
    expect.objectContaining({ code: 'DeploymentGroupDoesNotExistException' }),
  );
});
