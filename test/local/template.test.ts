import { describe, expect, test } from 'vitest';
import { deploy, deployResources } from './helpers/templates.ts';

const FUNCTION = `
  Plan:
    Type: AWS::Serverless::Function
    Metadata: { Source: functions/plan.ts }
    Properties: { CodeUri: build/plan/, Handler: index.handler, Runtime: nodejs24.x }
`;

/** An SSM parameter is inert, so its properties show what an expression came to. */
const evaluated = (expression: string): unknown => {
  const template = `
Mappings:
  Limits: { standard: { chunk: '100' } }
Parameters:
  Names: { Type: CommaDelimitedList, Default: 'one, two' }
  Mode: { Type: String, Default: fast, AllowedValues: [fast, slow] }
Conditions:
  Fast: !Equals [!Ref Mode, fast]
  Slow: !Not [!Condition Fast]
  Both: !And [{ Condition: Fast }, !Or [!Condition Slow, !Equals ['1', 1]]]
Resources:
  Topic: { Type: AWS::SNS::Topic }
  Ghost: { Type: AWS::SNS::Topic, Condition: Slow }
  Probe: { Type: AWS::SSM::Parameter, Properties: { Value: ${expression} } }
${FUNCTION}`;
  return deploy({ template }).inert.get('Probe')?.properties.Value;
};

const TOPIC = 'arn:aws:sns:eu-west-1:111122223333:quiesce-Topic';

describe('intrinsic functions', () => {
  test.each([
    ['!Ref Topic', TOPIC],
    ['!GetAtt Topic.TopicName', 'quiesce-Topic'],
    ['{ Fn::GetAtt: [Plan, Arn] }', 'arn:aws:lambda:eu-west-1:111122223333:function:quiesce-Plan'],
    [`!Sub "\${AWS::Partition}/\${Topic.TopicName}/\${!Literal}"`, `aws/quiesce-Topic/\${Literal}`],
    [`!Sub ["\${Which}-\${Mode}", { Which: !Select [1, !Ref Names] }]`, 'two-fast'],
    ['!Base64 { Ref: Mode }', 'ZmFzdA=='],
    ['!Join ["|", !Split [":", "a:b"]]', 'a|b'],
    ['!If [Both, !FindInMap [Limits, standard, chunk], none]', '100'],
    ['!If [Slow, x, !Ref AWS::NoValue]', undefined],
    ['[a, !If [Slow, b, !Ref AWS::NoValue], !Ref AWS::Region]', ['a', 'eu-west-1']],
  ])('%s', (expression, expected) => {
    expect(evaluated(expression)).toEqual(expected);
  });

  test.each([
    ['!ImportValue Other', 'no stack exports Other'],
    ['!Ref Missing', 'Probe: refers to Missing'],
    ['!Ref Ghost', 'Probe: refers to Ghost, which the template does not have or its condition excludes'],
    ['!GetAtt Topic.Colour', 'Fn::GetAtt Topic.Colour is not implemented'],
    ['!Ref Plan.Version', 'Plan.Version does not exist'],
    ['!If [Unknown, a, b]', 'no condition Unknown'],
    ['!Blub x', 'the tag !Blub is unknown'],
  ])('%s is refused', (expression, message) => {
    expect(() => evaluated(expression)).toThrow(message);
  });
});

describe('parameters', () => {
  const check = (declaration: string, given?: string) =>
    deploy({
      template: `
Parameters: { Lead: ${declaration} }
Resources: { Topic: { Type: AWS::SNS::Topic } }
Outputs: { Lead: { Value: !Ref Lead } }`,
      parameters: given === undefined ? {} : { Lead: given },
    }).outputs.Lead;

  test('take their default, or the value given', () => {
    expect(check('{ Type: Number, Default: 180 }')).toBe('180');
    expect(check('{ Type: Number, Default: 180, MinValue: 180 }', '240')).toBe('240');
  });

  test.each([
    ['{ Type: Number, Default: 180, MinValue: 180 }', '60', 'at least 180'],
    ['{ Type: Number, Default: 180, MaxValue: 600 }', '601', 'at most 600'],
    ['{ Type: Number, Default: 180 }', 'soon', 'a number'],
    ['{ Type: String, Default: a, AllowedValues: [a, b] }', 'c', 'one of a, b'],
    ['{ Type: String, Default: a, AllowedPattern: "[a-z]+" }', 'a1', 'match [a-z]+'],
    ['{ Type: String, Default: abc, MinLength: 3 }', 'ab', 'at least 3 characters'],
    ['{ Type: String, Default: a, AllowedValues: [a], ConstraintDescription: only a }', 'b', 'only a'],
    ['{ Type: String }', undefined, 'needs a value'],
    ['{ Type: "AWS::SSM::Parameter::Value<String>", Default: a }', undefined, 'not implemented'],
  ])('%s refuses %s', (declaration, given, message) => {
    expect(() => check(declaration, given)).toThrow(message);
  });

  test('that the template does not have are refused', () => {
    const template = `Resources: { Topic: { Type: AWS::SNS::Topic } }`;
    expect(() => deploy({ template, parameters: { Lead: '1' } })).toThrow('no parameter Lead');
  });
});

describe('SAM', () => {
  const template = `
Globals:
  Function:
    Runtime: nodejs24.x
    Handler: index.handler
    Timeout: 60
    Environment: { Variables: { TABLE: !Ref Ledger, LEVEL: info } }
Resources:
  Ledger: { Type: AWS::Serverless::SimpleTable, Properties: { PrimaryKey: { Name: pk, Type: String } } }
  Failures: { Type: AWS::SQS::Queue }
  FailuresPolicy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Failures]
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Service: events.amazonaws.com }
            Action: sqs:SendMessage
            Resource: !GetAtt Failures.Arn
            Condition: { ArnLike: { aws:SourceArn: !Sub 'arn:\${AWS::Partition}:events:*:\${AWS::AccountId}:rule/*' } }
  Plan:
    Type: AWS::Serverless::Function
    Metadata: { Source: functions/plan.ts }
    Properties:
      CodeUri: build/plan/
      AutoPublishAlias: live
      Environment: { Variables: { LEVEL: debug } }
      FunctionUrlConfig: { AuthType: AWS_IAM }
      EventInvokeConfig:
        MaximumRetryAttempts: 1
        DestinationConfig: { OnFailure: { Type: SQS, Destination: !GetAtt Failures.Arn } }
      Policies:
        - AWSXRayDaemonWriteAccess
        - Version: '2012-10-17'
          Statement: [{ Sid: Look, Effect: Allow, Action: ec2:DescribeInstances, Resource: '*' }]
      Events:
        Hourly: { Type: Schedule, Properties: { Schedule: rate(1 hour), State: DISABLED } }
  Before:
    Type: AWS::Serverless::StateMachine
    Properties:
      DefinitionUri: before.asl.yaml
      DefinitionSubstitutions: { Plan: !Ref Plan.Version, LeadSeconds: 180 }
      Policies:
        - Version: '2012-10-17'
          Statement: [{ Effect: Allow, Action: lambda:InvokeFunction, Resource: !Ref Plan.Version }]
      Events:
        Started:
          Type: EventBridgeRule
          Properties:
            Pattern: { source: [aws.codedeploy] }
            DeadLetterConfig: { Arn: !GetAtt Failures.Arn }
            RetryPolicy: { MaximumRetryAttempts: 3 }
  Extra:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      Roles: [!Ref PlanRole]
      PolicyDocument:
        Version: '2012-10-17'
        Statement: { Effect: Allow, Action: states:StartExecution, Resource: !Ref Before }
Outputs:
  Url: { Value: !GetAtt PlanUrl.FunctionUrl }
`;
  const machine = `
StartAt: Wait
TimeoutSeconds: \${LeadSeconds}
States:
  Wait: { Type: Wait, Seconds: '{% \${LeadSeconds} %}', Next: Plan }
  Plan: { Type: Task, Resource: '\${Plan}', End: true }`;
  const stack = deploy({ template, files: { 'before.asl.yaml': machine } });
  const plan = stack.functions.get('Plan');
  const arn = 'arn:aws:lambda:eu-west-1:111122223333:function:quiesce-Plan';

  test('a function has what Globals and its own properties say', () => {
    expect(plan).toMatchObject({
      name: 'quiesce-Plan',
      versionArn: `${arn}:1`,
      aliasArn: `${arn}:live`,
      source: 'functions/plan.ts',
      timeoutSeconds: 60,
      environment: { TABLE: 'quiesce-Ledger', LEVEL: 'debug' },
      url: { url: stack.outputs.Url, authType: 'AWS_IAM' },
      asynchronous: { maximumRetryAttempts: 1, maximumEventAgeSeconds: 21_600 },
    });
  });

  test('a generated role has the policies, the destination and what is attached to it', () => {
    const granted = plan?.role.statements.map(({ sid, actions, resources }) => [
      sid,
      ...actions,
      ...resources,
    ]);
    expect(granted).toEqual([
      ['GeneratedBySam', 'sqs:SendMessage', 'arn:aws:sqs:eu-west-1:111122223333:quiesce-Failures'],
      ['Look', 'ec2:DescribeInstances', '*'],
      ['Statement1', 'states:StartExecution', stack.machines.get('Before')?.arn],
    ]);
  });

  test("a function's schedule becomes a rule that its alias lets in", () => {
    const rule = stack.rules.get('PlanHourly');
    expect(rule).toMatchObject({
      enabled: false,
      trigger: { kind: 'schedule', expression: 'rate(1 hour)' },
      targets: [{ arn: `${arn}:live`, maximumRetryAttempts: 185, maximumEventAgeSeconds: 86_400 }],
    });
    expect(plan?.invokers).toMatchObject([{ sourceArn: rule?.arn, qualifier: 'live' }]);
  });

  test("D26: a machine's definition names published versions, with its numbers filled in", () => {
    expect(stack.machines.get('Before')?.definition).toMatchObject({
      TimeoutSeconds: 180,
      States: { Wait: { Seconds: '{% 180 %}' }, Plan: { Resource: `${arn}:1` } },
    });
  });

  test("a machine's event becomes a rule with a role that may start it", () => {
    const [target] = stack.rules.get('BeforeStarted')?.targets ?? [];
    expect(target).toMatchObject({
      arn: stack.machines.get('Before')?.arn,
      maximumRetryAttempts: 3,
      deadLetterArn: stack.queues.get('Failures')?.arn,
      role: { statements: [{ actions: ['states:StartExecution'] }] },
    });
  });
});

describe('what would fail or be passed over in silence is refused', () => {
  test.each([
    ['Thing: { Type: AWS::S3::Bucket }', 'Thing: the type AWS::S3::Bucket is not implemented'],
    [
      'Queue: { Type: AWS::SQS::Queue, Properties: { FifoQueue: true } }',
      'Queue: ✖ Unrecognized key: "FifoQueue"',
    ],
    ['Topic: { Type: AWS::SNS::Topic, CreationPolicy: {} }', 'Topic: CreationPolicy is not implemented'],
    [
      'F: { Type: AWS::Serverless::Function, Properties: { CodeUri: x, Handler: h, Runtime: nodejs24.x, VpcConfig: {} } }',
      'F: ✖ Unrecognized key: "VpcConfig"',
    ],
    [
      'F: { Type: AWS::Serverless::Function, Properties: { CodeUri: x, Handler: h, Runtime: nodejs24.x, Policies: [{ SQSPollerPolicy: {} }] } }',
      'FRole: the policy template SQSPollerPolicy is not implemented',
    ],
    [
      'F: { Type: AWS::Serverless::Function, Properties: { Role: r, Policies: [AWSXRayDaemonWriteAccess] } }',
      'F: SAM ignores Policies',
    ],
    [
      'F: { Type: AWS::Serverless::Function, Properties: { CodeUri: x, Handler: h, Runtime: nodejs24.x, Events: { Q: { Type: SQS, Properties: {} } } } }',
      'F, event Q: the type SQS is not implemented',
    ],
    [
      `M: { Type: AWS::Serverless::StateMachine, Properties: { Definition: { A: "\${B}" } } }`,
      'M: DefinitionSubstitutions has no B',
    ],
    [
      'M: { Type: AWS::Serverless::StateMachine, Properties: { Definition: {}, DefinitionSubstitutions: { B: 1 } } }',
      'M: the definition does not use the substitution B',
    ],
    [
      'R: { Type: AWS::Events::Rule, Properties: { EventPattern: { a: [b] }, Targets: [{ Id: x, Arn: y, InputPath: "$..z" }] } }',
      'R: the JSON path $..z is not implemented',
    ],
  ])('%s', (resource, message) => {
    expect(() => deployResources(`  ${resource}`)).toThrow(message);
  });

  test('resources that need each other, as CloudFormation refuses them', () => {
    const resources = `
  Plan:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: build/plan/
      Handler: index.handler
      Runtime: nodejs24.x
      Environment: { Variables: { MACHINE: !Ref Before } }
  Before:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition: { Resource: '\${Plan}' }
      DefinitionSubstitutions: { Plan: !GetAtt Plan.Arn }`;
    expect(() => deployResources(resources)).toThrow(
      'Circular dependency between resources: Plan -> Before -> Plan',
    );
  });
});
