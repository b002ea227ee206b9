import { describe, expect, test } from 'vitest';
import type { NewDeployment } from '../../local/account/code-deploy.ts';
import { type Bracket, bracket, type Fleet, outcome, usual } from './helpers/bracket.ts';

/** Refused: the named error, a sentence that says what to do, nothing touched, and nothing left in the ledger. */
async function expectRefusal(refused: Bracket, request: unknown, error: string, sentence: RegExp) {
  const [execution] = await refused.end(refused.start('BeforeDeploy', request));
  expect(outcome(execution)).toBe(`FAILED ${error}`);
  expect(execution.cause).toMatch(sentence);
  expect(refused.acts).toEqual([]);
  expect(await refused.violations()).toEqual([]);
}

interface Case {
  readonly of: string;
  readonly fleet?: Fleet;
  readonly prepare?: (bracket: Bracket) => void;
  readonly request: (bracket: Bracket) => object;
  readonly error: string;
  readonly sentence: RegExp;
}

/** CodeDeploy begins a deployment to the first instance. */
function deployTo(bracket: Bracket, more: Partial<NewDeployment>): string {
  const { codeDeploy } = bracket.standing.account;
  const group = { applicationName: 'shop', deploymentGroupName: 'web' };
  codeDeploy.addDeploymentGroup(group);
  return codeDeploy.startDeployment({ ...group, instanceIds: bracket.ids(0), ...more });
}

const two = (bracket: Bracket) => ({ fleet: { instanceIds: bracket.ids(0, 1) } });
const withPolicy =
  (policy: object, more: object = {}) =>
  (bracket: Bracket) => ({ ...two(bracket), policy, ...more });
const withFleet = (fleet: object) => () => ({ fleet });

const cases: readonly Case[] = [
  {
    of: 'an unknown instance',
    request: withFleet({ instanceIds: ['i-0123456789abcdef0'] }),
    error: 'InstanceUnknown',
    sentence: /no instance i-0123456789abcdef0 .* Correct fleet\.instanceIds/,
  },
  {
    of: 'an unknown Auto Scaling group',
    request: withFleet({ autoScalingGroupName: 'none' }),
    error: 'AutoScalingGroupUnknown',
    sentence: /no Auto Scaling group none .* Correct fleet\.autoScalingGroupName/,
  },
  {
    of: 'an unknown deployment',
    request: withFleet({ codeDeployDeploymentId: 'd-ABCDEFGHI' }),
    error: 'DeploymentUnknown',
    sentence: /d-ABCDEFGHI/,
  },
  {
    of: 'an unknown target group',
    request: bracket => ({
      ...two(bracket),
      targetGroupArns: [
        'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/none/0123456789abcdef',
      ],
    }),
    error: 'TargetGroupUnknown',
    sentence: /targetgroup\/none\/0123456789abcdef .* Correct targetGroupArns/,
  },
  {
    of: 'a tag that nothing carries',
    request: withFleet({ tag: { key: 'team', value: 'nobody' } }),
    error: 'NothingToDo',
    sentence: /No instance carries the tag team=nobody/,
  },
  {
    of: 'zones without an instance',
    request: bracket => ({ ...two(bracket), zones: ['eu-west-1z'] }),
    error: 'NothingToDo',
    sentence: /No instance of the fleet is in eu-west-1z/,
  },
  {
    of: 'D1: a fleet that is still being launched',
    fleet: { ...usual, autoScaling: { others: ['Pending:Wait'] } },
    request: bracket => {
      const members = bracket.standing.account.autoScaling.group('web').members.values();
      const launching = [...members].filter(member => member.lifecycle === 'Pending:Wait');
      return { fleet: { instanceIds: launching.map(member => member.instanceId) } };
    },
    error: 'NothingToDo',
    sentence: /i-[0-9a-f]+ is being launched/,
  },
  {
    of: 'D1: a deployment that CodeDeploy made for an instance on its way in',
    request: bracket => ({
      fleet: { codeDeployDeploymentId: deployTo(bracket, { creator: 'autoscaling' }) },
    }),
    error: 'NothingToDo',
    sentence: /Deployment d-[0-9A-Z]+ was made by autoscaling: its instance is not in service/,
  },
  {
    of: 'D1: the green side of a deployment',
    request: bracket => {
      const [id = ''] = bracket.ids(0);
      return { fleet: { codeDeployDeploymentId: deployTo(bracket, { labels: { [id]: 'Green' } }) } };
    },
    error: 'NothingToDo',
    sentence: /is the green side of the deployment/,
  },
  {
    of: 'a lead that is shorter than suppression takes to spread',
    request: withPolicy({ leadSeconds: 179 }),
    error: 'InvalidRequest',
    sentence: /policy\.leadSeconds: must be at least 180/,
  },
  {
    of: 'R-GUARD: a floor that would be crossed',
    request: bracket => ({ fleet: { instanceIds: bracket.ids() } }),
    error: 'BelowFloor',
    sentence: /target group web .* floor of 2 in all zones.* Deploy to fewer instances at once/,
  },
  {
    of: "R-GUARD: a floor that is the group's own",
    fleet: {
      ...usual,
      targetGroups: [
        {
          name: 'web',
          port: 8080,
          attributes: { 'target_group_health.dns_failover.minimum_healthy_targets.count': '3' },
        },
      ],
    },
    request: withPolicy({ minHealthyPercent: 0 }),
    error: 'BelowFloor',
    sentence: /floor of 3/,
  },
  {
    of: "R-BUDGET: the caller's time-out that is shorter than the budget",
    request: bracket => ({ ...two(bracket), timeoutSeconds: 300 }),
    error: 'BudgetExceedsTimeout',
    sentence: /may take 1080 s and the caller waits 300 s\. Raise timeoutSeconds/,
  },
  {
    of: "R-BUDGET: the caller's time-out that does not leave time to queue",
    request: bracket => ({ ...two(bracket), timeoutSeconds: 1100, queue: true }),
    error: 'BudgetExceedsTimeout',
    sentence: /may take 1980 s/,
  },
  {
    of: "D15: budgets that the machine's own time-out would cut",
    request: withPolicy({ waitSeconds: 6500 }),
    error: 'BudgetExceedsTimeout',
    sentence: /the machine's own time-out is 14400 s\. Lower .*policy\.waitSeconds/,
  },
  {
    of: 'a group with an instance that is marked Unhealthy',
    fleet: { ...usual, autoScaling: { suspended: ['ReplaceUnhealthy'] } },
    prepare: bracket => bracket.markUnhealthyByHand(bracket.ids(3)),
    request: two,
    error: 'FleetNotSettled',
    sentence: /Auto Scaling group web is about to replace i-.* Wait until/,
  },
  {
    of: 'a group with an instance refresh',
    prepare: ({ standing }) =>
      standing.account.autoScaling.refreshes.start(standing.account.autoScaling.group('web')),
    request: two,
    error: 'FleetNotSettled',
    sentence: /Auto Scaling group web has an instance refresh in progress\. Wait for it, or cancel it/,
  },
  {
    of: 'Standby below the minimum size',
    fleet: { ...usual, autoScaling: { minSize: 3 } },
    request: withPolicy({ autoScaling: 'standby' }),
    error: 'StandbyNotPossible',
    sentence: /would leave 2, below its MinSize of 3\. .*policy\.autoScaling: hold/,
  },
  {
    of: 'Standby, which moves the traffic, where the traffic is left',
    request: run => ({ ...two(run), traffic: 'leave', policy: { autoScaling: 'standby' } }),
    error: 'StandbyNotPossible',
    sentence: /the request says traffic: leave\. Use policy\.autoScaling: hold, or traffic: drain/,
  },
  {
    of: 'D19: instances without the tag',
    fleet: { ...usual, optedIn: ['targetGroups', 'autoScalingGroup'] },
    request: two,
    error: 'NotOptedIn',
    sentence: /Instance i-.* does not carry the tag quiesce=enabled.* add the tag/,
  },
  {
    of: 'D19: a target group without the tag',
    fleet: { ...usual, optedIn: ['instances', 'autoScalingGroup'] },
    request: two,
    error: 'NotOptedIn',
    sentence: /Target group web does not carry the tag quiesce=enabled.* traffic: leave/,
  },
  {
    of: 'D19: an Auto Scaling group without the tag',
    fleet: { ...usual, optedIn: ['instances', 'targetGroups'] },
    request: two,
    error: 'NotOptedIn',
    sentence: /Auto Scaling group web does not carry the tag quiesce=enabled.* policy\.autoScaling: none/,
  },
];

describe('a run is refused, and nothing is touched, for', () => {
  test.for(cases)('$of', async ({ fleet, prepare, request, error, sentence }) => {
    const refused = await bracket(fleet);
    prepare?.(refused);
    await expectRefusal(refused, { runId: 'r', ...request(refused) }, error, sentence);
  });
});

test.for([
  ['targetGroups', { traffic: 'leave' }],
  ['autoScalingGroup', { policy: { autoScaling: 'none' } }],
] as const)('D19: what the refusal advises for untagged %s is taken', async ([untagged, advised]) => {
  const tagged = (['instances', 'targetGroups', 'autoScalingGroup'] as const).filter(
    what => what !== untagged,
  );
  const mended = await bracket({ ...usual, autoScaling: { healthChecks: ['EC2'] }, optedIn: tagged });
  expect(outcome(await mended.before(advised))).toBe('SUCCEEDED');
  expect(outcome(await mended.after())).toBe('SUCCEEDED');
  expect(await mended.violations()).toEqual([]);
});

describe('D15: malformed input reaches the fence as well, for', () => {
  const fleet = { instanceIds: ['i-0123456789abcdef0'] };
  const malformed: readonly (readonly [string, unknown, RegExp])[] = [
    ['a string', 'r', /the request: /],
    ['null', null, /the request: /],
    ['an array', [{ runId: 'r' }], /the request: /],
    ['no member at all', {}, /runId: .*fleet: must be exactly one of/],
    ['an unknown member', { runId: 'r', fleet, leadSeconds: 200 }, /leadSeconds: is no member here/],
    ['a runId of another type', { runId: { a: 1 }, fleet }, /runId: /],
    ['a runId that no ledger could hold', { runId: 'r'.repeat(3000), fleet }, /runId: must be 1 to 128/],
    ['no instance', { runId: 'r', fleet: { instanceIds: [] } }, /fleet\.instanceIds: /],
    ['two fleets', { runId: 'r', fleet: { ...fleet, autoScalingGroupName: 'web' } }, /exactly one of/],
    ['wrong types', { runId: 'r', fleet, queue: 'yes', policy: { waitSeconds: 1.5 } }, /waitSeconds.*queue/],
  ];

  test.for(malformed)('%s', async ([, input, sentence]) => {
    await expectRefusal(await bracket(), input, 'InvalidRequest', sentence);
  });

  test('after-deploy', async () => {
    const refused = await bracket();
    const [execution] = await refused.end(
      refused.start('AfterDeploy', { runId: 'r', deployedAt: 'yesterday', force: true }),
    );
    expect(outcome(execution)).toBe('FAILED InvalidRequest');
    expect(execution.cause).toMatch(/deployedAt: .*force: is no member here/);
    expect(await refused.violations()).toEqual([]);
  });
});
