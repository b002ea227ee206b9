import { expect, test } from 'vitest';
import type { DeployedTemplate } from '../../local/stack/deployed-template.ts';
import { matchesWildcards } from '../../local/stack/wildcards.ts';
import { brokenTemplate, product } from './helpers/product.ts';
import { everyRole, type RoleGroup, roleGroups, rolesOf } from './helpers/role-groups.ts';

/** Actions for which IAM names no resource, so that nothing narrower than `*` can be written (D18). */
const WITHOUT_RESOURCE = [
  {
    reason:
      'The service authorization reference lists no resource type for describing instances, their status and their interfaces.',
    actions: [
      'ec2:DescribeInstances',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeApplicationStatus',
      'ec2:DescribeApplicationStatusChecks',
      'ec2:DescribeApplicationStatusCheckAssociations',
    ],
  },
  {
    reason: 'It lists none for describing security groups, their associations and subnets.',
    actions: [
      'ec2:DescribeSecurityGroups',
      'ec2:DescribeSecurityGroupVpcAssociations',
      'ec2:DescribeSubnets',
    ],
  },
  {
    reason: 'It lists none for any Describe action of Auto Scaling.',
    actions: [
      'autoscaling:DescribeAutoScalingGroups',
      'autoscaling:DescribeAutoScalingInstances',
      'autoscaling:DescribeInstanceRefreshes',
      'autoscaling:DescribeLifecycleHooks',
      'autoscaling:DescribeScalingActivities',
    ],
  },
  {
    reason: 'It lists none for any Describe action of Elastic Load Balancing.',
    actions: [
      'elasticloadbalancing:DescribeTargetGroups',
      'elasticloadbalancing:DescribeTargetGroupAttributes',
      'elasticloadbalancing:DescribeTargetHealth',
      'elasticloadbalancing:DescribeLoadBalancers',
      'elasticloadbalancing:DescribeLoadBalancerAttributes',
      'elasticloadbalancing:DescribeTags',
    ],
  },
  {
    reason: 'It lists none for reading metrics.',
    actions: ['cloudwatch:GetMetricData'],
  },
  {
    reason:
      'CloudWatch: "You can\'t create a composite alarm if your permission has a narrower scope"; the same holds for describing them.',
    actions: ['cloudwatch:DescribeAlarms', 'cloudwatch:PutCompositeAlarm'],
  },
  {
    reason: "It lists none for deployment targets, although CodeDeploy's own guide says deploymentgroup.",
    actions: [
      'codedeploy:ListDeploymentTargets',
      'codedeploy:BatchGetDeploymentTargets',
      'codedeploy:GetDeploymentTarget',
    ],
  },
].flatMap(({ actions }) => actions);

const statementsOf = (template: DeployedTemplate) =>
  everyRole(template).flatMap(({ logicalId, statements }) =>
    statements.map(statement => ({ role: logicalId, ...statement })),
  );

const onEverything = (template: DeployedTemplate) =>
  statementsOf(template)
    .filter(({ resources }) => resources.includes('*'))
    .flatMap(({ role, actions }) => actions.map(action => ({ role, action })));

const tooWide = (template: DeployedTemplate): readonly string[] =>
  onEverything(template)
    .filter(({ action }) => !WITHOUT_RESOURCE.includes(action))
    .map(({ role, action }) => `${role}: ${action}`);

/** What changes the resources of a fleet, which belong to somebody else. */
const CHANGES_A_FLEET = /^(ec2|autoscaling|elasticloadbalancing):(?!Describe)/;

const withoutOptIn = (template: DeployedTemplate): readonly string[] =>
  statementsOf(template)
    .filter(({ conditions }) => !conditions.some(isOptIn))
    .flatMap(({ role, actions }) =>
      actions.filter(action => CHANGES_A_FLEET.test(action)).map(action => `${role}: ${action}`),
    );

const isOptIn = ({ key, values }: { readonly key: string; readonly values: readonly string[] }): boolean =>
  // What is created has no tag yet: it has to be created with it.
  ['aws:ResourceTag/quiesce', 'aws:RequestTag/quiesce'].includes(key) && values.join() === 'enabled';

test('D18: a role may act on every resource only where IAM names none', () => {
  expect(tooWide(product)).toEqual([]);
  const { read } = brokenTemplate('- codedeploy:BatchGetDeploymentTargets', '- codedeploy:StopDeployment');
  expect(tooWide(read())).toEqual(['PlanFunctionRole: codedeploy:StopDeployment']);
});

test('D18: every row of the table is needed', () => {
  const used = new Set(onEverything(product).map(({ action }) => action));
  expect(WITHOUT_RESOURCE.filter(action => !used.has(action))).toEqual([]);
});

test('D19: nothing without the opt-in tag can be changed', () => {
  expect(withoutOptIn(product)).toEqual([]);
  const { read } = brokenTemplate('aws:ResourceTag/quiesce', 'aws:ResourceTag/quiet');
  expect(withoutOptIn(read())).toEqual(['LifecycleActionFunctionRole: autoscaling:CompleteLifecycleAction']);
});

test.each(['dynamodb:*', 'dynamodb:Get*', '*'])('no policy may say the action %s', action => {
  const { read } = brokenTemplate('- dynamodb:GetItem', `- "${action}"`);
  expect(read).toThrow('name each action, without wildcards');
});

test('every role is proven to need what it may: by deploying, by adopting, by retiring, by hooks, or by attending instances', () => {
  const proven = Object.keys(roleGroups).flatMap(group => rolesOf(product, group as RoleGroup));
  const every = everyRole(product).map(({ logicalId }) => logicalId);
  expect([...proven].sort()).toEqual([...every].sort());
});

/** Functions and machines, as far as a definition names them. */
const CALLED = /arn:aws:(?:lambda|states):[^:"]+:\d+:(?:function|stateMachine):[^"]+/g;

/** What a machine may call and does not, and what it calls and may not. */
const mismatches = (template: DeployedTemplate): readonly string[] =>
  [...template.machines.values()].flatMap(({ logicalId, definition, role }) => {
    // What a payload names, another calls.
    const withoutPayloads = JSON.stringify(definition, (key, value) =>
      key === 'Payload' ? undefined : value,
    );
    const called = withoutPayloads.match(CALLED) ?? [];
    const allowed = role.statements
      .flatMap(({ resources }) => resources)
      .filter(arn => /:(function|stateMachine):/.test(arn));
    return [
      ...allowed.filter(pattern => !called.some(arn => matchesWildcards(pattern, arn))),
      ...new Set(called.filter(arn => !allowed.some(pattern => matchesWildcards(pattern, arn)))),
    ].map(arn => `${logicalId}: ${arn.split(':').slice(6).join(':')}`);
  });

test('a machine may call each function and machine that its definition names, and no other', () => {
  expect(mismatches(product)).toEqual([]);
  const { read } = brokenTemplate('LifecycleActionFunction.Arn}', 'FenceFunction.Arn}');
  expect(mismatches(read())).toEqual([
    'InstanceTermination: quiesce-FenceFunction:*',
    expect.stringMatching(/^InstanceTermination: quiesce-LifecycleActionFunction:/),
  ]);
});
