import { beforeAll, describe, expect, it } from 'vitest';
import { readScenario } from '../../local/simulate/scenario.ts';
import { deployed, throughCodeDeploy } from './helpers/through-code-deploy.ts';

const told = ({ stack }: Awaited<ReturnType<typeof deployed>>) =>
  (stack?.lambda.logs ?? [])
    .filter(({ line }) => line.includes('hook.answered'))
    .map(({ line }): { lifecycleEvent: string; verdict: string; reason: string } => JSON.parse(line))
    .filter(({ verdict }) => verdict !== 'wait');

describe('a blue/green deployment with a copied Auto Scaling group', () => {
  let succeeded: ReturnType<typeof deployed>;
  beforeAll(() => {
    succeeded = deployed({ scenario: readScenario('scenarios/codedeploy-blue-green.yaml') });
  });

  it('D1: has a go-ahead at every hook, on both sides, and begins no run', async () => {
    const all = await succeeded;
    expect(all.deployment.outcome, all.deployment.cause).toBe('succeeded');
    expect(all.violations).toEqual([]);
    expect(all.measures).toMatchObject({ replaced: 0, requestsFailed: 0 });
    expect([...(all.stack?.executions.all() ?? [])]).toEqual([]);
    const answers = told(all);
    expect(new Set(answers.map(({ verdict }) => verdict))).toEqual(new Set(['go-ahead']));
    const asked = (side: string) =>
      new Set(answers.flatMap(one => (one.reason.includes(side) ? [one.lifecycleEvent] : [])));
    expect(asked('the blue side')).toEqual(new Set(['BeforeBlockTraffic', 'AfterBlockTraffic']));
    expect(asked('the green side')).toEqual(
      new Set(['ApplicationStop', 'BeforeInstall', 'ValidateService', 'AfterAllowTraffic']),
    );
  });

  it('moves the traffic to the copy, whose name carries the deployment, and deletes the original', async () => {
    const all = await succeeded;
    const [deployment] = all.deployments;
    const { autoScaling, loadBalancing, codeDeploy, ec2 } = all.account;
    const copy = `CodeDeploy_web_${deployment?.id}`;
    expect(autoScaling.groups().map(({ name }) => name)).toEqual([copy]);
    expect(codeDeploy.deploymentGroup('shop', 'web')?.autoScalingGroupNames).toEqual([copy]);
    const green = [...autoScaling.group(copy).members.keys()];
    const [group] = loadBalancing.groups();
    expect(
      loadBalancing
        .registered(group?.arn ?? '')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(green.sort());
    expect(all.fleet.instances.map(({ id }) => ec2.instance(id)?.state)).toEqual(Array(4).fill('terminated'));
    // A check that is associated with the original group by its name knows nothing of the copy.
    expect(green.map(id => all.account.checks.hasIncludedCheck(id))).toEqual(Array(4).fill(false));
  });

  it('that fails on the green side leaves the blue one as it was', async () => {
    const how = { loadBalancerStep: true, blueGreen: { terminateAfterMinutes: 0 }, neverReady: true };
    const fleet = { instances: 2, autoScaling: { healthChecks: ['EC2'] } };
    const all = await deployed({ scenario: throughCodeDeploy(how, {}, fleet) });
    expect(all.deployment.outcome).toBe('failed');
    expect(all.violations).toEqual([]);
    expect(all.measures).toMatchObject({ replaced: 0, requestsFailed: 0 });
    expect(all.events.find(({ status }) => status === 'Failed')?.event).toBe('ValidateService');
  });
});
