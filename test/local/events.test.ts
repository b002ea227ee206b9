import { describe, expect, test } from 'vitest';
import { CloudWatch } from '../../local/account/cloud-watch.ts';
import { createWorld } from '../../local/account/world.ts';
import { Authorization } from '../../local/stack/authorization.ts';
import { Events, type EventsSettings } from '../../local/stack/events.ts';
import type { Json } from '../../local/stack/json.ts';
import { Queues } from '../../local/stack/queues.ts';
import { ServiceMetrics } from '../../local/stack/service-metrics.ts';
import { ServiceError } from '../../local/wire/contract.ts';
import { deployResources } from './helpers/templates.ts';

const FUNCTION = `
  Hear:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: build/hear/
      Handler: index.handler
      Runtime: nodejs24.x`;

/** One function with one event, and a queue. */
const heard = (event: string): string => `${FUNCTION}
      Events:
        It: ${event}
  Dead: { Type: AWS::SQS::Queue }
`;

const LAUNCHED = `{ Type: EventBridgeRule, Properties: { Pattern: { source: [aws.autoscaling] } } }`;

const BURIED = `
          Type: EventBridgeRule
          Properties:
            Pattern: { source: [aws.autoscaling] }
            RetryPolicy: { MaximumRetryAttempts: 3 }
            DeadLetterConfig: { Arn: !GetAtt Dead.Arn }`;

const QUEUE_POLICY = `
  DeadPolicy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Dead]
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
          - Effect: Allow
            Principal: { Service: events.amazonaws.com }
            Action: sqs:SendMessage
            Resource: !GetAtt Dead.Arn
            Condition: { ArnEquals: { aws:SourceArn: !GetAtt HearIt.Arn } }
`;

const DEAD = 'arn:aws:sqs:eu-west-1:111122223333:quiesce-Dead';

function bus(
  resources: string,
  {
    deliveries,
    refuse,
  }: { deliveries?: EventsSettings['deliveries']; refuse?: () => ServiceError | undefined } = {},
) {
  const world = createWorld();
  const template = deployResources(resources);
  const cloudWatch = new CloudWatch(world);
  const metrics = new ServiceMetrics(world, cloudWatch);
  const queues = new Queues(world, template, metrics);
  const received: { readonly after: number; readonly by: string; readonly input: Json }[] = [];
  const start = world.clock.now();
  const receive = (by: string, input: Json) => {
    const refusal = refuse?.();
    received.push({ after: world.clock.now() - start, by, input });
    if (refusal) throw refusal;
  };
  const authorization = new Authorization(world, template, {
    tagsOf: () => undefined,
    autoScalingGroupOf: () => undefined,
    deploymentGroupOf: () => undefined,
  });
  const events = new Events({
    world,
    template,
    queues,
    authorization,
    metrics,
    targets: {
      invoke: async (_, arn, event) => receive(arn, event),
      start: async ({ logicalId }, input) => receive(logicalId, input),
    },
    ...(deliveries && { deliveries }),
  });
  /** The values of one metric of AWS/Events. */
  const published = (name: string) =>
    cloudWatch.valuesIn(
      { namespace: 'AWS/Events', name, dimensions: { RuleName: 'quiesce-HearIt' } },
      start,
      Number.POSITIVE_INFINITY,
    );
  const put = () =>
    events.put({ source: 'aws.autoscaling', 'detail-type': 'Launched', detail: { EC2InstanceId: 'i-1' } });
  return {
    world,
    published,
    events,
    queues,
    received,
    put,
    pass: (seconds: number) => world.clock.pass(seconds * 1000),
  };
}

describe('an event', () => {
  test('reaches the function whose pattern it matches, with what EventBridge adds', async () => {
    const { put, pass, received } = bus(heard(LAUNCHED));
    const id = put();
    await pass(1);
    expect(received).toEqual([
      {
        after: 500,
        by: 'arn:aws:lambda:eu-west-1:111122223333:function:quiesce-Hear',
        input: {
          version: '0',
          id,
          source: 'aws.autoscaling',
          'detail-type': 'Launched',
          account: '111122223333',
          region: 'eu-west-1',
          time: '2026-11-30T09:00:00Z',
          resources: [],
          detail: { EC2InstanceId: 'i-1' },
        },
      },
    ]);
  });

  test('R-IDEMP: arrives twice, late or never when the delivery schedule says so', async () => {
    const schedule = [[500, 30_000], [], [600_000]];
    const { put, pass, received } = bus(heard(LAUNCHED), { deliveries: () => schedule.shift() ?? [] });
    const ids = [put(), put(), put()];
    await pass(700);
    expect(received.map(({ after, input }) => [after, Object(input).id])).toEqual([
      [500, ids[0]],
      [30_000, ids[0]],
      [600_000, ids[2]],
    ]);
  });

  test.each([
    [`InputPath: $.detail`, { EC2InstanceId: 'i-1' }],
    [`Input: '{"fixed":true}'`, { fixed: true }],
    [
      `InputTransformer: { InputPathsMap: { id: $.detail.EC2InstanceId, all: $.detail }, InputTemplate: '{"id": <id>, "text": "instance <id>", "all": <all>}' }`,
      { id: 'i-1', text: 'instance i-1', all: { EC2InstanceId: 'i-1' } },
    ],
  ])('is shaped by %s', async (property, expected) => {
    const event = `{ Type: EventBridgeRule, Properties: { Pattern: { source: [aws.autoscaling] }, ${property} } }`;
    const { put, pass, received } = bus(heard(event));
    put();
    await pass(1);
    expect(received.map(({ input }) => input)).toEqual([expected]);
  });

  test("starts a machine under the rule's role", async () => {
    const { put, pass, received } = bus(`
  Run:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition: {}
      Events: { It: ${LAUNCHED} }
`);
    put();
    await pass(1);
    expect(received.map(({ by }) => by)).toEqual(['Run']);
  });
});

describe('a delivery that fails', () => {
  const throttled = () => new ServiceError('TooManyRequestsException', 'Rate Exceeded.', 429);

  test('R-LOOP: is retried with growing pauses while the target throttles, then kept by the dead-letter queue', async () => {
    const { put, pass, received, queues, events, published } = bus(heard(BURIED) + QUEUE_POLICY, {
      refuse: throttled,
    });
    put();
    await pass(60);
    expect(received).toHaveLength(4);
    const [message] = queues.messages(DEAD);
    expect(message?.attributes).toMatchObject({
      ERROR_CODE: 'TooManyRequestsException',
      RETRY_ATTEMPTS: '3',
    });
    expect(JSON.parse(message?.body ?? '')).toMatchObject({ source: 'aws.autoscaling' });
    expect(events.dropped).toEqual([]);
    expect(['FailedInvocations', 'InvocationsSentToDlq'].map(published)).toEqual([[1], [1]]);
  });

  test('is not retried when the target refuses for good', async () => {
    const gone = () => new ServiceError('ResourceNotFoundException', 'Function not found', 404);
    const { put, pass, received, queues } = bus(heard(BURIED) + QUEUE_POLICY, { refuse: gone });
    put();
    await pass(60);
    expect(received).toHaveLength(1);
    expect(queues.messages(DEAD)).toHaveLength(1);
  });

  test("is lost when the queue's policy does not let EventBridge in", async () => {
    const { put, pass, queues, events, published } = bus(heard(BURIED), { refuse: throttled });
    put();
    await pass(60);
    expect(queues.messages(DEAD)).toEqual([]);
    expect(events.dropped).toMatchObject([
      { rule: 'HearIt', reason: expect.stringContaining('sqs:SendMessage') },
    ]);
    expect(published('InvocationsFailedToBeSentToDlq')).toEqual([1]);
  });

  test('is what happens without a permission of the function', async () => {
    const { put, pass, received, events } = bus(`${FUNCTION}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      EventPattern: { source: [aws.autoscaling] }
      Targets: [{ Id: Hear, Arn: !GetAtt Hear.Arn }]
`);
    put();
    await pass(60);
    expect(received).toEqual([]);
    expect(events.dropped).toMatchObject([{ reason: expect.stringContaining('lambda:InvokeFunction') }]);
  });

  test("is what happens when the rule's role may not start the machine", async () => {
    const { put, pass, received, events } = bus(`
  Run: { Type: AWS::Serverless::StateMachine, Properties: { Definition: {} } }
  Role:
    Type: AWS::IAM::Role
    Properties: { AssumeRolePolicyDocument: {} }
  Rule:
    Type: AWS::Events::Rule
    Properties:
      EventPattern: { source: [aws.autoscaling] }
      Targets: [{ Id: Run, Arn: !Ref Run, RoleArn: !GetAtt Role.Arn }]
`);
    put();
    await pass(60);
    expect(received).toEqual([]);
    expect(events.dropped).toMatchObject([{ reason: expect.stringContaining('states:StartExecution') }]);
  });
});

describe('a schedule', () => {
  const every = (rate: string) => heard(`{ Type: Schedule, Properties: { Schedule: ${rate} } }`);

  test('fires at its rate', async () => {
    const { pass, received } = bus(every('rate(5 minutes)'));
    await pass(901);
    expect(received.map(({ after }) => after)).toEqual([300_500, 600_500, 900_500]);
    expect(received[0]?.input).toMatchObject({ source: 'aws.events', 'detail-type': 'Scheduled Event' });
  });

  test.each(['rate(1 minutes)', 'rate(5 minute)', 'rate(0 minutes)', '"cron(0 9 * * ? *)"'])(
    '%s is refused',
    rate => {
      expect(() => bus(every(rate))).toThrow('HearIt');
    },
  );
});

test('a target outside of the template is refused', () => {
  const rule = `
  Rule:
    Type: AWS::Events::Rule
    Properties:
      EventPattern: { source: [aws.autoscaling] }
      Targets: [{ Id: x, Arn: 'arn:aws:lambda:eu-west-1:111122223333:function:other' }]`;
  expect(() => bus(rule)).toThrow('is no function or machine of the template');
});
