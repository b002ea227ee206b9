import { once } from 'node:events';
import { request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import * as autoScaling from '@aws-sdk/client-auto-scaling';
import * as cloudWatch from '@aws-sdk/client-cloudwatch';
import * as codeDeploy from '@aws-sdk/client-codedeploy';
import * as dynamoDb from '@aws-sdk/client-dynamodb';
import * as ec2 from '@aws-sdk/client-ec2';
import * as elb from '@aws-sdk/client-elastic-load-balancing-v2';
import * as sfn from '@aws-sdk/client-sfn';
import { afterEach, expect, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import {
  type Call,
  type Caller,
  type Gate,
  NoAnswer,
  type Service,
  ServiceError,
} from '../../local/wire/contract.ts';
import { currentInvocation, runAs, type Transport } from '../../local/wire/invocation.ts';
import { type Connection, installProcessConnection } from '../../local/wire/process-connection.ts';
import type { Listening } from '../../local/wire/server.ts';
import { createWire, type WireSettings } from '../../local/wire/wire.ts';

type Operations = Service['operations'];

const ec2Service = (operations: Operations): Service => ({
  name: 'ec2',
  client: ec2,
  protocol: { kind: 'ec2-query', version: '2016-11-15' },
  operations,
});
const elbService = (operations: Operations): Service => ({
  name: 'elasticloadbalancing',
  client: elb,
  protocol: { kind: 'query', version: '2015-12-01' },
  operations,
});
const autoScalingService = (operations: Operations): Service => ({
  name: 'autoscaling',
  client: autoScaling,
  protocol: { kind: 'query', version: '2011-01-01' },
  operations,
});
const jsonService = (name: string, client: object, target: string, operations: Operations): Service => ({
  name,
  client,
  protocol: { kind: 'json', target, jsonVersion: '1.0' },
  operations,
});

const settings = {
  region: 'eu-west-1',
  endpoint: 'http://simulated',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  maxAttempts: 1,
};

function wireOf(services: readonly Service[], more: Partial<WireSettings> = {}) {
  const { clock } = createWorld();
  return { clock, ...createWire({ services, gates: [], clock, ...more }) };
}

const fail =
  (code: string, message = 'no', status?: number, members?: Record<string, unknown>) =>
  () => {
    throw new ServiceError(code, message, status, members);
  };

/** Sends a form as it is, without an SDK that would refuse to write it. */
async function post(transport: Transport, body: string, headers: Record<string, string> = {}) {
  const { response } = await transport.handle({
    protocol: 'http:',
    hostname: 'simulated',
    path: '/',
    method: 'POST',
    headers,
    body,
  });
  return { status: response.statusCode, body: new TextDecoder().decode(response.body) };
}

test('empty and absent stay apart, and zero stays zero', async () => {
  const wire = wireOf([
    ec2Service({
      DescribeApplicationStatus: (): ec2.DescribeApplicationStatusResult => ({
        ApplicationStatuses: {
          Instances: [
            { ApplicationStatus: { Details: [{ Reason: { Code: 'connection-error', StatusCode: 0 } }] } },
            { ApplicationStatus: { Details: [] } },
          ],
        },
      }),
    }),
    autoScalingService({
      DescribeAutoScalingGroups: (input: autoScaling.DescribeAutoScalingGroupsCommandInput) => ({
        AutoScalingGroups: [],
        NextToken: JSON.stringify(input.AutoScalingGroupNames),
      }),
    }),
  ]);
  const requestHandler = wire.transport();
  const instances = new ec2.EC2({ ...settings, requestHandler });
  const { ApplicationStatuses, NextToken } = await instances.describeApplicationStatus({});
  expect(NextToken).toBeUndefined();
  expect(ApplicationStatuses?.Instances).toEqual([
    { ApplicationStatus: { Details: [{ Reason: { Code: 'connection-error', StatusCode: 0 } }] } },
    { ApplicationStatus: { Details: [] } },
  ]);
  const groups = new autoScaling.AutoScaling({ ...settings, requestHandler });
  const answer = await groups.describeAutoScalingGroups({ AutoScalingGroupNames: [] });
  expect(answer).toMatchObject({ AutoScalingGroups: [], NextToken: '[]' });
});

test.each(['TargetGroupNotFound', 'TargetGroupNotFoundException'])(
  'a modeled error thrown as %s is the exception that the SDK exports',
  async code => {
    const { transport } = wireOf([elbService({ DescribeTargetHealth: fail(code, `<gone> & "lost"`) })]);
    const client = new elb.ElasticLoadBalancingV2({ ...settings, requestHandler: transport() });
    const error: unknown = await client
      .describeTargetHealth({ TargetGroupArn: 'arn' })
      .catch(thrown => thrown);
    expect(error).toBeInstanceOf(elb.TargetGroupNotFoundException);
    expect(error).toMatchObject({
      name: 'TargetGroupNotFoundException',
      message: '<gone> & "lost"',
      Error: { Code: 'TargetGroupNotFound', Type: 'Sender' },
      $metadata: { httpStatusCode: 400 },
    });
  },
);

test('errors of every protocol arrive with their code, their class and their members', async () => {
  const item = { pk: { S: 'i-1' }, bytes: { B: Uint8Array.of(0, 255) }, nothing: { NULL: true } };
  const { transport } = wireOf([
    ec2Service({ DescribeInstances: fail('InvalidInstanceID.NotFound') }),
    autoScalingService({ SuspendProcesses: fail('ScalingActivityInProgress') }),
    jsonService('cloudwatch', cloudWatch, 'GraniteServiceVersion20100801', {
      SetAlarmState: fail('ResourceNotFound'),
    }),
    jsonService('codedeploy', codeDeploy, 'CodeDeploy_20141006', {
      GetDeployment: fail('DeploymentDoesNotExistException'),
    }),
    jsonService('states', sfn, 'AWSStepFunctions', { StartExecution: fail('ExecutionAlreadyExists') }),
    jsonService('dynamodb', dynamoDb, 'DynamoDB_20120810', {
      PutItem: fail('ConditionalCheckFailedException', 'failed', 400, { Item: item }),
    }),
  ]);
  const client = { ...settings, requestHandler: transport() };
  const thrownBy = (work: Promise<object>) => work.catch((thrown: unknown) => thrown);

  const notFound = await thrownBy(new ec2.EC2(client).describeInstances({}));
  expect(notFound).toMatchObject({ name: 'InvalidInstanceID.NotFound', message: 'no', $fault: 'client' });
  const busy = new autoScaling.AutoScaling(client).suspendProcesses({ AutoScalingGroupName: 'a' });
  expect(await thrownBy(busy)).toBeInstanceOf(autoScaling.ScalingActivityInProgressFault);
  const alarm = { AlarmName: 'a', StateValue: 'OK', StateReason: 'r' } as const;
  const noAlarm = await thrownBy(new cloudWatch.CloudWatch(client).setAlarmState(alarm));
  expect(noAlarm).toBeInstanceOf(cloudWatch.ResourceNotFound);
  expect(noAlarm).toMatchObject({ Error: { Code: 'ResourceNotFound', Type: 'Sender' } });
  const noDeployment = thrownBy(new codeDeploy.CodeDeploy(client).getDeployment({ deploymentId: 'd' }));
  expect(await noDeployment).toBeInstanceOf(codeDeploy.DeploymentDoesNotExistException);
  const twice = thrownBy(new sfn.SFN(client).startExecution({ stateMachineArn: 'arn' }));
  expect(await twice).toBeInstanceOf(sfn.ExecutionAlreadyExists);
  const lost = await thrownBy(new dynamoDb.DynamoDB(client).putItem({ TableName: 't', Item: item }));
  expect(lost).toBeInstanceOf(dynamoDb.ConditionalCheckFailedException);
  expect(lost).toMatchObject({ Item: item });
});

test('a fault of the service is a Receiver error, which the SDK tries again', async () => {
  let calls = 0;
  const { transport } = wireOf([
    elbService({
      DescribeTargetGroups() {
        calls += 1;
        if (calls === 1) throw new ServiceError('InternalFailure', 'try again', 500);
        return { TargetGroups: [] };
      },
    }),
  ]);
  const body = 'Action=DescribeTargetGroups&Version=2015-12-01';
  expect(await post(transport(), body)).toMatchObject({
    status: 500,
    body: expect.stringContaining('<Type>Receiver</Type><Code>InternalFailure</Code>'),
  });
  calls = 0;
  const client = new elb.ElasticLoadBalancingV2({ ...settings, maxAttempts: 2, requestHandler: transport() });
  await client.describeTargetGroups({});
  expect(calls).toBe(2);
});

test('an operation that the account does not implement is refused by name', async () => {
  const { transport } = wireOf([ec2Service({}), jsonService('states', sfn, 'AWSStepFunctions', {})]);
  const client = { ...settings, requestHandler: transport() };
  await expect(new ec2.EC2(client).runInstances({ MinCount: 1, MaxCount: 1 })).rejects.toMatchObject({
    name: 'InvalidAction',
    message: 'The simulated account does not implement ec2:RunInstances.',
  });
  await expect(new sfn.SFN(client).listActivities({})).rejects.toMatchObject({
    name: 'UnknownOperationException',
    message: 'The simulated account does not implement states:ListActivities.',
  });
  await expect(new codeDeploy.CodeDeploy(client).listApplications({})).rejects.toMatchObject({
    name: 'UnknownOperationException',
    message: 'The simulated account has no service that answers ListApplications (CodeDeploy_20141006).',
  });
});

test('a service cannot offer an operation that its client does not know', () => {
  expect(() => wireOf([ec2Service({ DescribeInstanses: () => ({}) })])).toThrow(
    'the client of ec2 has no operation DescribeInstanses',
  );
});

test.each([
  ['InstanceIdd.1=i-1', 'UnknownParameter', 'InstanceIdd'],
  ['Filter.1.Nam=x', 'UnknownParameter', 'Nam'],
  ['MaxResults=many', 'InvalidParameterValue', 'MaxResults must be a number'],
  ['DryRun=yes', 'InvalidParameterValue', 'DryRun must be a boolean'],
  ['InstanceId.1=i-1&InstanceId.3=i-3', 'InvalidParameterValue', 'lacks the item 2'],
  ['InstanceId=i-1', 'InvalidParameterValue', 'must be a list'],
  ['InstanceId=i-1&InstanceId.1=i-1', 'InvalidParameterValue', 'exclude each other'],
])('a form with %s is refused with %s', async (parameters, code, message) => {
  const { transport } = wireOf([ec2Service({ DescribeInstances: () => ({}) })]);
  const answer = await post(transport(), `Action=DescribeInstances&Version=2016-11-15&${parameters}`);
  expect(answer.status).toBe(400);
  expect(answer.body).toContain(`<Code>${code}</Code>`);
  expect(answer.body).toContain(message);
});

test.each([
  ['{"name":"n","stateMachineArm":"arn"}', 'ValidationException', 'no member stateMachineArm'],
  ['{"name":"n"}', 'ValidationException', 'StartExecutionInput.stateMachineArn is required'],
  ['{"stateMachineArn":7}', 'SerializationException', 'must be a string'],
  ['{', 'SerializationException', 'not JSON'],
])('a JSON body %s is refused with %s', async (body, code, message) => {
  const { transport } = wireOf([
    jsonService('states', sfn, 'AWSStepFunctions', { StartExecution: () => ({}) }),
  ]);
  const answer = await post(transport(), body, { 'x-amz-target': 'AWSStepFunctions.StartExecution' });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ __type: code, message: expect.stringContaining(message) });
});

test('a mistake of a simulated service ends the simulation instead of being retried away', async () => {
  const { transport, clock } = wireOf([ec2Service({ DescribeInstances: () => ({ Reservation: [] }) })]);
  const client = new ec2.EC2({ ...settings, requestHandler: transport() });
  await expect(client.describeInstances({})).rejects.toMatchObject({ name: 'InternalFailure' });
  await expect(clock.run(() => false)).rejects.toThrow('DescribeInstancesResult has no member Reservation');
});

test('gates see every call from the outside in and every answer from the inside out', async () => {
  const seen: string[] = [];
  const gate = (name: string): Gate => ({
    before: (call, input) =>
      void seen.push(`${name}> ${call.caller.name} ${call.action} ${JSON.stringify(input)}`),
    after: (_call, _input, output) => void seen.push(`<${name} ${JSON.stringify(output)}`),
  });
  const operations = {
    DescribeTargetGroups(_input: object, call: Call) {
      seen.push(`${call.service} at ${call.at}`);
      return { TargetGroups: [] };
    },
  };
  const { transport, clock } = wireOf([elbService(operations)], { gates: [gate('outer'), gate('inner')] });
  const requestHandler = transport({ kind: 'function', name: 'Observe' });
  const client = new elb.ElasticLoadBalancingV2({ ...settings, requestHandler });
  await client.describeTargetGroups({ PageSize: 5 });
  expect(seen).toEqual([
    'outer> Observe DescribeTargetGroups {"PageSize":5}',
    'inner> Observe DescribeTargetGroups {"PageSize":5}',
    `elasticloadbalancing at ${clock.now()}`,
    '<inner {"TargetGroups":[]}',
    '<outer {"TargetGroups":[]}',
  ]);
});

test('a gate that refuses keeps the operation from happening, and its error is the answer', async () => {
  let happened = 0;
  const act = () => ({ NextToken: `act ${++happened}` });
  const deny: Gate = { before: fail('UnauthorizedOperation', 'not allowed', 403) };
  const { transport } = wireOf([ec2Service({ DescribeInstances: act })], { gates: [deny] });
  const client = new ec2.EC2({ ...settings, requestHandler: transport() });
  await expect(client.describeInstances({})).rejects.toMatchObject({
    name: 'UnauthorizedOperation',
    $metadata: { httpStatusCode: 403 },
  });
  expect(happened).toBe(0);
});

test('an answer that is lost after the act is a time-out, which the SDK tries again', async () => {
  let acts = 0;
  const lossy: Gate = {
    after() {
      if (acts === 1) throw new NoAnswer('lost');
    },
  };
  const act = () => {
    acts += 1;
    return { TargetGroups: [] };
  };
  const { transport } = wireOf([elbService({ DescribeTargetGroups: act })], { gates: [lossy] });
  const client = { ...settings, requestHandler: transport() };
  await new elb.ElasticLoadBalancingV2({ ...client, maxAttempts: 2 }).describeTargetGroups({});
  expect(acts).toBe(2);
  acts = 0;
  await expect(new elb.ElasticLoadBalancingV2(client).describeTargetGroups({})).rejects.toMatchObject({
    name: 'TimeoutError',
  });
});

test('a client that stops waiting is answered in time, and what it asked for happens all the same', async () => {
  let acts = 0;
  const act = () => ({ NextMarker: `act ${++acts}` });
  const { clock, ...wire } = wireOf([elbService({ DescribeTargetGroups: act })], {
    gates: [{ before: () => clock.sleep(10_000) }],
  });
  const requestHandler = wire.transport();
  const client = new elb.ElasticLoadBalancingV2({ ...settings, requestHandler });
  const began = clock.now();
  const timedOut = client
    .describeTargetGroups({}, { requestTimeout: 3000 })
    .catch((thrown: unknown) => thrown);
  expect(await clock.runFor(timedOut)).toMatchObject({ name: 'TimeoutError' });
  expect(clock.now() - began).toBe(3000);
  const controller = new AbortController();
  const aborted = client
    .describeTargetGroups({}, { abortSignal: controller.signal })
    .catch((e: unknown) => e);
  clock.after(1000, () => controller.abort());
  expect(await clock.runFor(aborted)).toMatchObject({ name: 'AbortError' });
  await clock.pass(20_000);
  expect(acts).toBe(2);
});

test('a service may answer wire bytes itself, behind the same gates', async () => {
  const seen: object[] = [];
  const { transport } = wireOf(
    [
      {
        ...jsonService('dynamodb', dynamoDb, 'DynamoDB_20120810', {}),
        raw: async ({ headers, body }, call) => ({
          status: 200,
          headers: { 'content-type': headers['content-type'] ?? '' },
          body: JSON.stringify({ Item: { ...JSON.parse(body).Key, by: { S: call.caller.name } } }),
        }),
      },
    ],
    {
      gates: [
        {
          before: (_call, input) => void seen.push(input),
          after: (_c, _i, output) => void seen.push(output),
        },
      ],
    },
  );
  const requestHandler = transport({ kind: 'function', name: 'Plan' });
  const client = new dynamoDb.DynamoDB({ ...settings, requestHandler });
  const key = { pk: { N: '12345678901234567890.5' }, list: { L: [{ M: { a: { NS: ['1', '2'] } } }] } };
  const { Item } = await client.getItem({ TableName: 't', Key: key });
  expect(Item).toEqual({ ...key, by: { S: 'Plan' } });
  expect(seen).toEqual([{ TableName: 't', Key: key }, { Item: { ...key, by: { S: 'Plan' } } }]);
});

test('the connection of this process speaks for the invocation that it is used in', async () => {
  installProcessConnection();
  const connection: Connection = Reflect.get(globalThis, Symbol.for('quiesce.connection'));
  const client = new elb.ElasticLoadBalancingV2({ ...settings, ...connection });
  await expect(client.describeTargetGroups({})).rejects.toThrow('outside an invocation');

  const callers: string[] = [];
  const world = createWorld();
  const operations = {
    DescribeTargetGroups(_: object, call: Call) {
      // The account is no part of the function: a library in it must not wait on the function's virtual timers.
      expect(currentInvocation()).toBeUndefined();
      return { NextMarker: call.caller.name };
    },
  };
  const { transport } = wireOf([elbService(operations)]);
  const callAs = (name: string) => {
    const caller: Caller = { kind: 'function', name };
    const invocation = { caller, world, transport: transport(caller), random: world.random.fork(name) };
    return runAs(invocation, async () => {
      callers.push((await client.describeTargetGroups({})).NextMarker ?? '');
    });
  };
  await world.clock.runFor(Promise.all([callAs('Plan'), callAs('Undo')]));
  expect(callers).toEqual(['Plan', 'Undo']);
});

let listening: Listening | undefined;
afterEach(async () => {
  await listening?.close();
  listening = undefined;
});

test('on a port the same operations serve any SDK, and the access key id says who calls', async () => {
  const operations = { DescribeInstances: (_: object, call: Call) => ({ NextToken: call.caller.name }) };
  const wire = wireOf([ec2Service(operations)], {
    callers: new Map([['AKIDPLAN', { kind: 'function', name: 'Plan' }]]),
  });
  listening = await wire.listen();
  const { url } = listening;
  const callWith = (accessKeyId: string) => {
    const client = new ec2.EC2({
      ...settings,
      endpoint: url,
      credentials: { accessKeyId, secretAccessKey: 's' },
    });
    return client.describeInstances({}).finally(() => client.destroy());
  };
  expect(await callWith('AKIDPLAN')).toMatchObject({ NextToken: 'Plan' });
  expect(await callWith('AKIDOTHER')).toMatchObject({ NextToken: 'operator' });
});

test.each([
  ['D48: a foreign Host header is refused', { host: 'attacker.example' }, '', 403],
  ['D48: so is localhost on another port', { host: 'localhost:1' }, '', 403],
  ['the loopback name on its own port is served', {}, 'Action=DescribeInstances&Version=2016-11-15', 200],
  ['a body above the limit is refused', {}, 'x'.repeat(17 * 1024 * 1024), 413],
])('%s', async (_, headers, body, status) => {
  listening = await wireOf([ec2Service({ DescribeInstances: () => ({}) })]).listen();
  const { port } = listening;
  const answered = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers }, response => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end(body);
  });
  expect(answered).toBe(status);
});

test('time stands still while the body of a request is on its way', async () => {
  const handledAt: number[] = [];
  const note = (_: object, call: Call) => ({ NextToken: String(handledAt.push(call.at)) });
  const { clock, listen } = wireOf([ec2Service({ DescribeInstances: note })]);
  listening = await listen();
  const startedAt = clock.now();
  const sent = request({
    port: listening.port,
    host: '127.0.0.1',
    method: 'POST',
    headers: { expect: '100-continue' },
  });
  const answered = once(sent, 'response');
  sent.flushHeaders();
  // The server has the headers, and waits for the body.
  await once(sent, 'continue');
  const passed = clock.pass(60_000);
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(clock.now()).toBe(startedAt);
  sent.end('Action=DescribeInstances&Version=2016-11-15');
  await Promise.all([answered, passed]);
  expect(handledAt).toEqual([startedAt]);
  expect(clock.now()).toBe(startedAt + 60_000);
});
