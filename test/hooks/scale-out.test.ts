import { expect, it } from 'vitest';
import { autoScalingActs } from '../../local/account/auto-scaling-acts.ts';
import { deploy } from '../../local/simulate/deployment.ts';
import { type Scene, settleEnd, standUp } from '../../local/simulate/simulation.ts';
import { deployed, executionsOf, throughCodeDeploy } from './helpers/through-code-deploy.ts';

const lifecycleOf = ({ account, fleet }: Pick<Scene, 'account' | 'fleet'>) => {
  const members = [...account.autoScaling.group(fleet.groupName ?? '').members.values()];
  const ours = new Set(fleet.instances.map(({ id }) => id));
  return members.filter(({ instanceId }) => !ours.has(instanceId)).map(({ lifecycle }) => lifecycle);
};

it('D1: a scale-out in the middle of a deployment reaches InService, and gets the new revision afterwards', async () => {
  const events = [{ after: 'Lead', atSeconds: 20, do: 'scale-out' }];
  const all = await deployed({ scenario: throughCodeDeploy({}, { events }) });
  expect(all.violations).toEqual([]);
  expect(all.measures).toMatchObject({ replaced: 0, requestsFailed: 0 });
  expect(lifecycleOf(all)).toEqual(['InService']);
  expect(all.deployments.map(({ facts, status }) => [facts.creator, status])).toEqual([
    ['user', 'Succeeded'],
    ['autoscaling', 'Succeeded'],
    ['CodeDeployAutoUpdate', 'Succeeded'],
  ]);
  // The launch needed no run; each of the three, and then the new one once it was in service, had one.
  expect(executionsOf(all, 'BeforeDeploy')).toHaveLength(4);
});

it('D1: a scale-out between two deployments reaches InService, by the same AppSpec and without a run', async () => {
  const scenario = throughCodeDeploy({}, {}, { instances: 2 });
  const standing = await standUp({ scenario });
  const { account, stack, invariants } = standing;
  const { clock } = account.world;
  await clock.runFor(deploy(standing, { name: 'hooks', spec: scenario.deployment }));

  const runs = () => [...(stack?.executions.all() ?? [])].length;
  const runsBefore = runs();
  autoScalingActs(account.autoScaling).SetDesiredCapacity({
    AutoScalingGroupName: 'web',
    DesiredCapacity: 3,
  });
  await clock.pass(300_000);
  expect(lifecycleOf(standing)).toEqual(['InService']);
  const launch = [...account.codeDeploy.deployments()].at(-1);
  expect(launch).toMatchObject({ facts: { creator: 'autoscaling' }, status: 'Succeeded' });
  const asked = (stack?.lambda.logs ?? []).filter(({ line }) => line.includes(launch?.id ?? 'none'));
  const answers = asked.map(({ line }) => JSON.parse(line)).filter(({ verdict }) => verdict === 'go-ahead');
  expect(answers.map(({ act }) => act)).toEqual(['gate', 'gate', 'after']);
  expect(runs()).toBe(runsBefore);
  await settleEnd(standing);
  expect(invariants.violations).toEqual([]);
});
