import type { AutoScalingGroupsType } from '@aws-sdk/client-auto-scaling';
import { expect, test } from 'vitest';
import type { Gate } from '../../local/wire/contract.ts';
import type { Fleet } from '../machine/helpers/bracket.ts';
import { type Adopting, adopting } from './helpers/adopting.ts';

const MINUTE = 60_000;

/** What the plan says of a check beforehand. */
async function planned(group: Adopting, check: object) {
  const adoption = group.start({ check: { protocol: 'http', port: 8080, ...check } });
  await group.bracket.reaches(adoption, 'Sample');
  const plan = adoption.history.events().find(({ stateExitedEventDetails: exit }) => exit?.name === 'Plan');
  return JSON.parse(plan?.stateExitedEventDetails?.output ?? 'null');
}

/** Another check is on the group already, and its launches are slow. */
const slow: Fleet = {
  instances: 2,
  zones: ['eu-west-1a'],
  startUpSeconds: 300,
  targetGroups: [{ name: 'web', port: 8080, healthCheck: { path: '/live' } }],
  checks: [{ port: 8080, aggregation: 'excluded', graceSeconds: 30 }],
  autoScaling: { healthChecks: ['EC2'], graceSeconds: 60 },
};

test('the plan says what a check costs, and what its settings contradict', async () => {
  const group = await adopting({ quotas: {} }, slow);
  const { cost, warnings } = await planned(group, { path: '/live', matcher: '200-399', graceSeconds: 90 });
  expect(cost).toEqual({ interfaces: 1, metrics: 4, usDollars: 8.5 });
  expect(warnings).toEqual([
    expect.stringContaining('The check: the matcher 200-399 accepts redirects'),
    expect.stringContaining('web and The check ask the same path /live'),
    expect.stringContaining("grace period (60 s) is shorter than the check's (90 s)"),
    expect.stringContaining('minimum healthy percentage 0, not 100'),
  ]);
});

test('R-GONE: an attached target group that is gone is named, and the adoption goes on', async () => {
  const gone = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/gone/0123456789abcdef';
  const around: Gate['around'] = async ({ action }, input, perform) => {
    const output = await perform(input);
    if (action !== 'DescribeAutoScalingGroups') return output;
    const { AutoScalingGroups = [] }: Partial<AutoScalingGroupsType> = output;
    const attached = AutoScalingGroups.map(group => ({
      ...group,
      TargetGroupARNs: [...(group.TargetGroupARNs ?? []), gone],
    }));
    return { ...output, AutoScalingGroups: attached };
  };
  const parameters = { CheckQuotas: '{"checks":1,"targets":1}' };
  const group = await adopting({ parameters, gates: () => [{ around }] }, slow);
  const { warnings } = await planned(group, {});
  expect(warnings).toContainEqual(`web: its target group ${gone} is gone, so what it asks is not known.`);
  expect(warnings.filter((one: string) => one.includes('by the stack'))).toEqual([
    expect.stringContaining('2 checks'),
    expect.stringContaining('4 targets'),
  ]);
});

test('the plan measures the start-up by the checks that are there, once an instance was launched under them', async () => {
  const group = await adopting({}, slow);
  for (const id of group.bracket.ids()) group.bracket.standing.account.ec2.terminate(id);
  await group.bracket.clock.pass(20 * MINUTE);
  const { autoScaling } = group.bracket.standing.account;
  autoScaling.group('web').maintenancePolicy = { MinHealthyPercentage: 100, MaxHealthyPercentage: 110 };
  const { warnings } = await planned(group, { graceSeconds: 60 });
  expect(warnings).toEqual(
    [
      expect.stringMatching(
        /The check: the initialization grace period \(60 s\) is shorter than the start-up \(\d{3} s\)/,
      ),
      expect.stringMatching(
        /^The grace period of the Auto Scaling group \(60 s\) is shorter than the start-up/,
      ),
    ].toReversed(),
  );
});
