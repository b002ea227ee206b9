import { describe, expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import type { TaggedKind } from '../../local/stack/actions/resources.ts';
import { Authorization } from '../../local/stack/authorization.ts';
import type { JsonObject } from '../../local/stack/json.ts';
import { decide } from '../../local/stack/permissions.ts';
import { readPolicy } from '../../local/stack/policy-document.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { deployResources } from './helpers/templates.ts';

const policy = (...statements: readonly JsonObject[]) =>
  readPolicy({ Version: '2012-10-17', Statement: statements }, 'Role');

const suppress = (condition: JsonObject = {}, changes: JsonObject = {}): JsonObject => ({
  Effect: 'Allow',
  Action: 'ec2:EnableApplicationStatusCheckSuppression',
  Resource: 'arn:aws:ec2:*:*:instance/*',
  Condition: condition,
  ...changes,
});

const asked = (context: Readonly<Record<string, readonly string[]>> = {}) => ({
  action: 'ec2:EnableApplicationStatusCheckSuppression',
  resource: 'arn:aws:ec2:eu-west-1:111122223333:instance/i-1',
  context: new Map(Object.entries(context)),
});

describe('a decision', () => {
  test('allows nothing without a statement, and a Deny wins over every Allow', () => {
    expect(decide(policy(), asked()).kind).toBe('not-allowed');
    expect(decide(policy(suppress()), asked()).kind).toBe('allowed');
    expect(decide(policy(suppress(), suppress({}, { Effect: 'Deny' })), asked()).kind).toBe('denied');
  });

  test.each([
    ['*', true],
    ['arn:aws:ec2:eu-west-1:111122223333:instance/i-?', true],
    ['arn:aws:ec2:eu-west-1:111122223333:instance/i-2', false],
    ['arn:aws:ec2:eu-west-1:111122223333:instance/i', false],
  ])('for the resource %s', (resource, allowed) => {
    expect(decide(policy(suppress({}, { Resource: resource })), asked()).kind === 'allowed').toBe(allowed);
  });

  const tagged = { 'aws:ResourceTag/Quiesce': ['on'] };
  const keys = (...values: readonly string[]) => ({ 'dynamodb:LeadingKeys': values });
  test.each<[string, JsonObject, Readonly<Record<string, readonly string[]>>, boolean]>([
    ['StringEquals', { StringEquals: { 'aws:ResourceTag/Quiesce': ['off', 'on'] } }, tagged, true],
    ['an absent key', { StringEquals: { 'aws:ResourceTag/Quiesce': 'on' } }, {}, false],
    ['IfExists and an absent key', { StringEqualsIfExists: { 'aws:ResourceTag/Quiesce': 'on' } }, {}, true],
    [
      'IfExists and another value',
      { StringEqualsIfExists: { 'aws:ResourceTag/Quiesce': 'x' } },
      tagged,
      false,
    ],
    ['a Not operator and an absent key', { StringNotEquals: { 'aws:ResourceTag/Quiesce': 'on' } }, {}, true],
    ['a Not operator', { StringNotEquals: { 'aws:ResourceTag/Quiesce': ['x', 'on'] } }, tagged, false],
    ['StringLike', { StringLike: { 'aws:ResourceTag/Quiesce': 'o?' } }, tagged, true],
    ['case', { StringEquals: { 'aws:ResourceTag/Quiesce': 'ON' } }, tagged, false],
    ['Null true', { Null: { 'aws:ResourceTag/Quiesce': true } }, tagged, false],
    ['Null false', { Null: { 'aws:ResourceTag/Quiesce': 'false' } }, tagged, true],
    [
      'all of several operators',
      { StringEquals: { 'aws:ResourceTag/Quiesce': 'on' }, Null: { 'ec2:Region': false } },
      tagged,
      false,
    ],
    [
      'ForAllValues',
      { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['a', 'b'] } },
      keys('a', 'b'),
      true,
    ],
    [
      'ForAllValues and one too many',
      { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'a' } },
      keys('a', 'b'),
      false,
    ],
    [
      'ForAllValues and an absent key',
      { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'a' } },
      {},
      true,
    ],
    ['ForAnyValue', { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'a*' } }, keys('b', 'ab'), true],
    [
      'ForAnyValue and an absent key',
      { 'ForAnyValue:StringEquals': { 'dynamodb:LeadingKeys': 'a' } },
      {},
      false,
    ],
    [
      "ArnLike, whose wildcard stays within an ARN's part",
      { ArnLike: { 'aws:SourceArn': 'arn:aws:events:*:rule/x' } },
      { 'aws:SourceArn': ['arn:aws:events:eu-west-1:111122223333:rule/x'] },
      false,
    ],
  ])('under %s', (_, condition, context, allowed) => {
    expect(decide(policy(suppress(condition)), asked(context)).kind === 'allowed').toBe(allowed);
  });
});

describe('a policy that cannot be interpreted is refused', () => {
  test.each<[JsonObject, string]>([
    [suppress({}, { Action: 'ec2:*' }), 'the action ec2:* is refused'],
    [suppress({}, { NotAction: 'ec2:RunInstances' }), 'NotAction is not implemented'],
    [suppress({}, { NotResource: '*' }), 'NotResource is not implemented'],
    [suppress({}, { Principal: '*' }), 'Principal is not implemented'],
    [suppress({}, { Resource: 'i-1' }), 'the resource i-1 is neither an ARN nor *'],
    [suppress({ DateLessThan: { 'aws:CurrentTime': 'x' } }), 'DateLessThan is not implemented'],
    [
      suppress({ StringEquals: { 'aws:ResourceTags/Quiesce': 'on' } }),
      'aws:ResourceTags/Quiesce is not known',
    ],
    [suppress({ StringEquals: { 'dynamodb:LeadingKeys': 'a' } }), 'needs ForAllValues or ForAnyValue'],
  ])('%o', (statement, message) => {
    expect(() => policy(statement)).toThrow(message);
  });
});

const TARGET_GROUP = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef';

/** One function with these permissions, in an account with a few tagged resources. */
function authorize(statements: string) {
  const template = deployResources(`
  Ledger: { Type: AWS::Serverless::SimpleTable, Properties: { PrimaryKey: { Name: pk, Type: String } } }
  Act:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: build/act/
      Handler: index.handler
      Runtime: nodejs24.x
      Policies:
        - Version: '2012-10-17'
          Statement:
${statements}
  Start:
    Type: AWS::Serverless::StateMachine
    Properties: { Definition: {} }`);
  const tags: Partial<Record<TaggedKind, Readonly<Record<string, string>>>> = {
    instance: { 'i-mine': 'on', 'i-other': 'off' },
    'target-group': { [TARGET_GROUP]: 'on' },
    'auto-scaling-group': { fleet: 'on' },
    'application-status-check': { 'asc-1': 'on' },
  };
  const authorization = new Authorization(createWorld(), template, {
    tagsOf(kind, id) {
      const value = tags[kind]?.[id];
      return value === undefined ? undefined : new Map([['Quiesce', value]]);
    },
    autoScalingGroupOf: () => 'fleet',
    deploymentGroupOf: () => ({ applicationName: 'shop', deploymentGroupName: 'web' }),
  });
  const call = (service: string, action: string, input: Readonly<Record<string, unknown>>) => {
    const caller = { kind: 'function', name: 'Act' } as const;
    try {
      authorization.before({ service, action, caller, at: 0 }, input);
      return 'allowed';
    } catch (error) {
      if (error instanceof ServiceError) return error.code;
      throw error;
    }
  };
  return { authorization, call };
}

const statement = (action: string, resource: string, condition = '{}') =>
  `            - { Effect: Allow, Action: ['${action}'], Resource: '${resource}', Condition: ${condition} }\n`;

const OPTED_IN = "{ StringEquals: { 'aws:ResourceTag/Quiesce': 'on' } }";

describe('a call', () => {
  test('is denied as a whole when one of its instances has not opted in', () => {
    const { call } = authorize(statement('ec2:EnableApplicationStatusCheckSuppression', '*', OPTED_IN));
    const enable = (...InstanceIds: readonly string[]) =>
      call('ec2', 'EnableApplicationStatusCheckSuppression', { InstanceIds });
    expect(enable('i-mine')).toBe('allowed');
    expect(enable('i-mine', 'i-other')).toBe('UnauthorizedOperation');
  });

  test('R-GONE: on an instance that is gone is left to the service, which answers NotFound', () => {
    const { call } = authorize(statement('ec2:EnableApplicationStatusCheckSuppression', '*', OPTED_IN));
    expect(call('ec2', 'EnableApplicationStatusCheckSuppression', { InstanceIds: ['i-gone'] })).toBe(
      'allowed',
    );
  });

  test("is refused in each service's own words", () => {
    const { authorization, call } = authorize(statement('ec2:DescribeInstances', '*'));
    expect(call('elasticloadbalancing', 'RegisterTargets', { TargetGroupArn: TARGET_GROUP })).toBe(
      'AccessDenied',
    );
    expect(call('autoscaling', 'SuspendProcesses', { AutoScalingGroupName: 'fleet' })).toBe('AccessDenied');
    expect(call('states', 'StartExecution', { stateMachineArn: 'arn' })).toBe('AccessDeniedException');
    const caller = { kind: 'function', name: 'Act' } as const;
    expect(() =>
      authorization.before(
        { service: 'autoscaling', action: 'ResumeProcesses', caller, at: 0 },
        { AutoScalingGroupName: 'fleet' },
      ),
    ).toThrow(
      /^User: arn:aws:sts::111122223333:assumed-role\/quiesce-ActRole\/Act is not authorized to perform: autoscaling:ResumeProcesses on resource: arn:aws:autoscaling:eu-west-1:111122223333:autoScalingGroup:[\w-]+:autoScalingGroupName\/fleet because no identity-based policy allows/,
    );
  });

  test('that the authorization table does not know is denied and says so', () => {
    const { authorization } = authorize(statement('ec2:DescribeInstances', '*'));
    const call = {
      service: 'ec2',
      action: 'RunInstances',
      caller: { kind: 'function', name: 'Act' },
      at: 0,
    } as const;
    expect(() => authorization.before(call, {})).toThrow('ec2:RunInstances has no row');
  });

  test("of an operator or of AWS's own services passes", () => {
    const { authorization } = authorize(statement('ec2:DescribeInstances', '*'));
    for (const kind of ['operator', 'service'] as const)
      authorization.before(
        { service: 'ec2', action: 'RunInstances', caller: { kind, name: 'x' }, at: 0 },
        {},
      );
  });

  test('that only describes needs *', () => {
    const { call } = authorize(
      statement('elasticloadbalancing:DescribeTargetHealth', TARGET_GROUP) +
        statement('ec2:DescribeInstances', '*'),
    );
    expect(call('elasticloadbalancing', 'DescribeTargetHealth', {})).toBe('AccessDenied');
    expect(call('ec2', 'DescribeInstances', {})).toBe('allowed');
  });

  test.each([
    [
      'cloudwatch',
      'PutCompositeAlarm',
      { AlarmName: 'quiesce-x' },
      'arn:aws:cloudwatch:*:*:alarm:quiesce-*',
      'AccessDeniedException',
    ],
    ['cloudwatch', 'PutCompositeAlarm', { AlarmName: 'quiesce-x' }, '*', 'allowed'],
    ['cloudwatch', 'DescribeAlarms', {}, 'arn:aws:cloudwatch:*:*:alarm:*', 'AccessDeniedException'],
    [
      'cloudwatch',
      'DeleteAlarms',
      { AlarmNames: ['quiesce-x'] },
      'arn:aws:cloudwatch:*:*:alarm:quiesce-*',
      'allowed',
    ],
    [
      'cloudwatch',
      'DeleteAlarms',
      { AlarmNames: ['theirs'] },
      'arn:aws:cloudwatch:*:*:alarm:quiesce-*',
      'AccessDeniedException',
    ],
    [
      'codedeploy',
      'PutLifecycleEventHookExecutionStatus',
      { deploymentId: 'd-1' },
      'arn:aws:codedeploy:*:*:deploymentgroup:shop/web',
      'allowed',
    ],
    [
      'codedeploy',
      'StopDeployment',
      { deploymentId: 'd-1' },
      'arn:aws:codedeploy:*:*:deploymentgroup:shop/web',
      'AccessDeniedException',
    ],
  ])('D18: %s %s %o under %s', (service, action, input, resource, expected) => {
    const { call } = authorize(statement(`${service}:${action}`, resource));
    expect(call(service, action, input)).toBe(expected);
  });

  test('that creates with tags needs the permission to tag', () => {
    const create = { TagSpecifications: [{ Tags: [{ Key: 'Owner', Value: 'quiesce' }] }] };
    const creates = statement('ec2:CreateApplicationStatusCheck', '*');
    const tags = statement(
      'ec2:CreateTags',
      '*',
      "{ StringEquals: { 'ec2:CreateAction': CreateApplicationStatusCheck } }",
    );
    expect(authorize(creates).call('ec2', 'CreateApplicationStatusCheck', {})).toBe('allowed');
    expect(authorize(creates).call('ec2', 'CreateApplicationStatusCheck', create)).toBe(
      'UnauthorizedOperation',
    );
    expect(authorize(creates + tags).call('ec2', 'CreateApplicationStatusCheck', create)).toBe('allowed');
    expect(authorize(creates + tags).call('ec2', 'CreateTags', { Resources: ['i-mine'], Tags: [] })).toBe(
      'UnauthorizedOperation',
    );
  });

  test('on a table is held to the partition keys that the policy names', () => {
    const mine = "{ 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'RUN#*' } }";
    const table = 'arn:aws:dynamodb:*:*:table/quiesce-Ledger';
    const { call } = authorize(
      statement('dynamodb:UpdateItem', table, mine) + statement('dynamodb:Query', table, mine),
    );
    const update = (S: string) =>
      call('dynamodb', 'UpdateItem', { TableName: 'quiesce-Ledger', Key: { pk: { S } } });
    expect([update('RUN#1'), update('HOLD#1')]).toEqual(['allowed', 'AccessDeniedException']);
    const query = (S: string) =>
      call('dynamodb', 'Query', {
        TableName: 'quiesce-Ledger',
        KeyConditionExpression: '#pk = :run',
        ExpressionAttributeNames: { '#pk': 'pk' },
        ExpressionAttributeValues: { ':run': { S } },
      });
    expect([query('RUN#1'), query('HOLD#1')]).toEqual(['allowed', 'AccessDeniedException']);
  });
});

test('a role that names an action which the authorization table lacks is refused', () => {
  expect(() => authorize(statement('ec2:DescribeInstence', '*'))).toThrow(
    'ActRole: ec2:DescribeInstence has no row in the authorization table',
  );
});

test('an allowed action that no call needed is reported', () => {
  const { authorization, call } = authorize(
    statement('ec2:DescribeInstances', '*') +
      statement('ec2:DescribeSubnets', '*') +
      statement('logs:PutLogEvents', '*'),
  );
  call('ec2', 'DescribeInstances', {});
  expect(authorization.unusedPermissions()).toEqual([
    { role: 'ActRole', sid: 'Statement2', action: 'ec2:DescribeSubnets' },
  ]);
});
