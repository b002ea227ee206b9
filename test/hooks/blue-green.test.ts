import { beforeAll, describe, expect, it } from 'vitest';
import type { Entry } from '../../local/account/journal.ts';
import { readScenario } from '../../local/simulate/scenario.ts';
import { type Gate, ServiceError } from '../../local/wire/contract.ts';
import { busyOnce } from './helpers/busy-association.ts';
import { deployed, throughCodeDeploy } from './helpers/through-code-deploy.ts';

const told = ({ stack }: Awaited<ReturnType<typeof deployed>>) =>
  (stack?.lambda.logs ?? [])
    .filter(({ line }) => line.includes('hook.answered'))
    .map(({ line }): { lifecycleEvent: string; verdict: string; reason: string } => JSON.parse(line))
    .filter(({ verdict }) => verdict !== 'wait');

const associations = ({ account: { checks } }: Awaited<ReturnType<typeof deployed>>) =>
  checks.registry
    .active()
    .flatMap(check =>
      [...check.associations.values()].map(one =>
        one.type === 'tag' ? `${one.key}=${one.value}` : one.instanceId,
      ),
    );

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
  });

  it('takes the checks of the original over to the copy before traffic, and off the original when it is gone', async () => {
    const all = await succeeded;
    const [deployment] = all.deployments;
    const { autoScaling, checks, loadBalancing, world } = all.account;
    const copy = `CodeDeploy_web_${deployment?.id}`;
    const green = [...autoScaling.group(copy).members.keys()];
    expect(green.map(id => checks.hasIncludedCheck(id))).toEqual(Array(4).fill(true));
    const first = (happened: (entry: Entry) => boolean) => world.journal.entries.find(happened)?.at ?? 0;
    const begins = first(entry => entry.type === 'check' && green.includes(entry.instanceId));
    const [group] = loadBalancing.groups();
    const registered = first(
      entry => entry.type === 'target' && entry.targetGroupArn === group?.arn && green.includes(entry.id),
    );
    expect(begins).toBeGreaterThan(0);
    expect(begins).toBeLessThan(registered);
    expect(associations(all)).toEqual([`aws:autoscaling:groupName=${copy}`]);
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

  const how = { loadBalancerStep: true, blueGreen: { terminateAfterMinutes: 1 }, config: 'AllAtOnce' };
  const grouped = { instances: 2, autoScaling: { healthChecks: ['EC2'] } };

  it.each([
    ['that is no fleet of ours', { ...grouped, optedIn: ['targetGroups', 'checks'] }],
    ['whose checks are none of ours', { ...grouped, optedIn: ['instances', 'targetGroups'] }],
    ['without a check', { ...grouped, checks: [] }],
  ])('D19: nothing is taken over by a copy %s', async (_, fleet) => {
    const all = await deployed({ scenario: throughCodeDeploy(how, {}, fleet) });
    expect(all.deployment.outcome, all.deployment.cause).toBe('succeeded');
    expect(associations(all).filter(one => one.includes('CodeDeploy_'))).toEqual([]);
  });

  it('R-EVENTUAL: an association whose answer was lost and that does not show yet is waited for', async () => {
    let lost = 0;
    let hidden = 0;
    const around: Gate['around'] = async ({ action, caller }, input, perform) => {
      const output = await perform(input);
      if (caller.name !== 'HookFunction') return output;
      // As often as a client tries by itself: then the script asks again.
      if (action === 'AssociateApplicationStatusCheck' && lost++ < 4)
        throw new ServiceError('InternalError', 'An internal error has occurred', 500);
      if (action !== 'DescribeApplicationStatusCheckAssociations' || lost === 0 || hidden > 0) return output;
      // It shows the original's, and not yet what is confirmed.
      const { Associations = [] }: { Associations?: readonly { readonly Value?: string }[] } = output;
      hidden += Associations.filter(({ Value }) => Value?.startsWith('CodeDeploy_')).length;
      return { Associations: Associations.filter(({ Value }) => !Value?.startsWith('CodeDeploy_')) };
    };
    const all = await deployed({ scenario: throughCodeDeploy(how, {}, grouped), gates: () => [{ around }] });
    expect(all.deployment.outcome, all.deployment.cause).toBe('succeeded');
    expect(hidden).toBe(1);
    expect(associations(all)).toEqual([expect.stringMatching(/^aws:autoscaling:groupName=CodeDeploy_/)]);
    expect(all.violations).toEqual([]);
  });

  it('R-PARTIAL: what EC2 does not take off the original, in an answer of 200, the next sweep takes off', async () => {
    const { gate, refused } = busyOnce();
    const all = await deployed({ scenario: throughCodeDeploy(how, {}, grouped), gates: () => [gate] });
    expect(all.deployment.outcome, all.deployment.cause).toBe('succeeded');
    expect(refused()).toBe(1);
    expect(associations(all)).toEqual([expect.stringMatching(/^aws:autoscaling:groupName=CodeDeploy_/)]);
  });

  it('D47: a check that has no association left refuses the traffic by name', async () => {
    const scenario = throughCodeDeploy(how, { quotas: { associationsPerCheck: 1 } }, grouped);
    const all = await deployed({ scenario });
    expect(all.deployment.outcome).toBe('failed');
    const failed = all.events.find(({ status }) => status === 'Failed');
    expect(failed).toMatchObject({
      event: 'ValidateService',
      log: expect.stringContaining('does not associate'),
    });
    expect(associations(all)).toEqual(['aws:autoscaling:groupName=web']);
  });
});
