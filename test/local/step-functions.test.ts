import { SFN, type StartExecutionCommandInput } from '@aws-sdk/client-sfn';
import { expect, it } from 'vitest';
import { StepFunctions } from '../../local/account/step-functions.ts';
import { createWorld } from '../../local/account/world.ts';
import { Executions } from '../../local/states/executions.ts';
import { createWire } from '../../local/wire/wire.ts';
import { type Functions, fails, machineOf, tasksOf } from './helpers/machines.ts';

const stateMachineArn = 'arn:aws:states:eu-west-1:111122223333:stateMachine:bracket';
const roleArn = 'arn:aws:iam::111122223333:role/bracket';

/** The service with one machine `bracket`, behind the SDK's client. */
function account(states: Record<string, object>, functions: Functions = {}) {
  const world = createWorld();
  const executions = new Executions(world, { tasks: tasksOf(functions) });
  const stepFunctions = new StepFunctions(world, executions);
  const definition = machineOf(states);
  stepFunctions.deploy({ name: 'bracket', arn: stateMachineArn, roleArn, definition });
  const wire = createWire({ services: [stepFunctions.service], gates: [], clock: world.clock });
  const client = new SFN({
    region: world.region,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    requestHandler: wire.transport(),
    maxAttempts: 1,
  });
  const start = (input: Partial<StartExecutionCommandInput>) =>
    client.startExecution({ stateMachineArn, ...input });
  return { world, executions, client, start, definition };
}

const wait = { W: { Type: 'Wait', Seconds: 60, End: true } };

it('D12: the same name with the same input joins a running execution, and only a running one', async () => {
  const { world, start, client } = account(wait);
  const first = await start({ name: 'run-1', input: '{"a":1}' });
  await world.clock.pass(10_000);
  expect(await start({ name: 'run-1', input: '{ "a": 1 }' })).toMatchObject({
    executionArn: first.executionArn,
    startDate: first.startDate,
  });
  await expect(start({ name: 'run-1', input: '{"a":2}' })).rejects.toThrow(
    expect.objectContaining({ name: 'ExecutionAlreadyExists' }),
  );
  await world.clock.pass(60_000);
  await expect(start({ name: 'run-1', input: '{"a":1}' })).rejects.toThrow(
    expect.objectContaining({ name: 'ExecutionAlreadyExists' }),
  );
  expect((await client.listExecutions({ stateMachineArn })).executions).toHaveLength(1);
});

it.each([
  [{ name: 'with space' }, 'InvalidName'],
  [{ name: 'd-1/i-1' }, 'InvalidName'],
  [{ name: 'n'.repeat(81) }, 'InvalidName'],
  [{ name: '' }, 'InvalidName'],
  [{ input: '{' }, 'InvalidExecutionInput'],
  [{ input: JSON.stringify('x'.repeat(262_144)) }, 'InvalidExecutionInput'],
  [{ stateMachineArn: `${stateMachineArn}-gone` }, 'StateMachineDoesNotExist'],
])('StartExecution refuses %o', async (input, name) => {
  const { start } = account(wait);
  await expect(start(input)).rejects.toThrow(expect.objectContaining({ name }));
});

it('StartExecution names an execution that has no name, and gives it {} for no input', async () => {
  const { world, start, client } = account({ P: { Type: 'Pass', End: true } });
  const { executionArn } = await start({});
  await world.clock.pass(0);
  const described = await client.describeExecution({ executionArn });
  expect(described).toMatchObject({ status: 'SUCCEEDED', input: '{}', output: '{}', stateMachineArn });
  expect(executionArn).toBe(`arn:aws:states:eu-west-1:111122223333:execution:bracket:${described.name}`);
});

it('DescribeExecution tells how it failed', async () => {
  const { world, start, client } = account({ F: { Type: 'Fail', Error: 'BelowFloor', Cause: 'one of two' } });
  const { executionArn } = await start({ name: 'run-1' });
  await world.clock.pass(0);
  const described = await client.describeExecution({ executionArn });
  expect(described).toMatchObject({ status: 'FAILED', error: 'BelowFloor', cause: 'one of two' });
  expect(described.stopDate).toEqual(new Date(world.clock.now()));
  expect(described.output).toBeUndefined();
});

it('StopExecution aborts it, and is harmless afterwards', async () => {
  const { world, start, client } = account(wait);
  const { executionArn } = await start({ name: 'run-1' });
  await world.clock.pass(7_000);
  const { stopDate } = await client.stopExecution({ executionArn, error: 'E', cause: 'c' });
  await world.clock.pass(1_000);
  expect((await client.stopExecution({ executionArn })).stopDate).toEqual(stopDate);
  const described = await client.describeExecution({ executionArn });
  expect(described).toMatchObject({ status: 'ABORTED', error: 'E', cause: 'c', stopDate });
  await expect(client.stopExecution({ executionArn: `${executionArn}-gone` })).rejects.toThrow(
    expect.objectContaining({ name: 'ExecutionDoesNotExist' }),
  );
});

it('R-PAGE: GetExecutionHistory pages through the events, either way', async () => {
  const { world, start, client } = account(
    {
      T: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke',
        Arguments: { FunctionName: 'f', Payload: '{% $states.input %}' },
        TimeoutSeconds: 60,
        Assign: { status: '{% $states.result.StatusCode %}' },
        Next: 'U',
      },
      U: { Type: 'Task', Resource: 'arn:aws:states:::aws-sdk:ec2:describeInstances', End: true },
    },
    {
      invoke: () => ({ ExecutedVersion: '$LATEST', Payload: 'done', StatusCode: 200 }),
      describeInstances: fails('Ec2.UnauthorizedException', 'no'),
    },
  );
  const { executionArn } = await start({ name: 'run-1', input: '{"a":1}' });
  await world.clock.pass(0);
  const first = await client.getExecutionHistory({ executionArn, maxResults: 6 });
  const second = await client.getExecutionHistory({ executionArn, nextToken: first.nextToken });
  expect(first.events?.map(({ type }) => type)).toEqual([
    'ExecutionStarted',
    'TaskStateEntered',
    'TaskScheduled',
    'TaskStarted',
    'TaskSucceeded',
    'TaskStateExited',
  ]);
  const [started, , scheduled, , succeeded, exited] = first.events ?? [];
  expect(started).toMatchObject({
    id: 1,
    previousEventId: 0,
    executionStartedEventDetails: { input: '{"a":1}' },
  });
  expect(scheduled).toMatchObject({
    id: 3,
    previousEventId: 2,
    timestamp: new Date(world.clock.now()),
    taskScheduledEventDetails: {
      resourceType: 'lambda',
      resource: 'invoke',
      region: 'eu-west-1',
      parameters: '{"FunctionName":"f","Payload":{"a":1}}',
      timeoutInSeconds: 60,
    },
  });
  expect(succeeded?.taskSucceededEventDetails?.output).toContain('"Payload":"done"');
  expect(exited?.stateExitedEventDetails).toMatchObject({ name: 'T', assignedVariables: { status: '200' } });
  expect(second.events?.at(-2)).toMatchObject({
    type: 'TaskFailed',
    taskFailedEventDetails: {
      resourceType: 'aws-sdk:ec2',
      resource: 'describeInstances',
      error: 'Ec2.UnauthorizedException',
      cause: 'no',
    },
  });
  expect(second.events?.at(-1)).toMatchObject({
    type: 'ExecutionFailed',
    executionFailedEventDetails: { error: 'Ec2.UnauthorizedException' },
  });
  expect(second.nextToken).toBeUndefined();
  const [last] =
    (await client.getExecutionHistory({ executionArn, reverseOrder: true, maxResults: 1 })).events ?? [];
  expect(last).toEqual(second.events?.at(-1));
});

it('ListExecutions gives the newest first, by status', async () => {
  const { world, start, client } = account(wait);
  for (const name of ['run-1', 'run-2', 'run-3']) {
    await start({ name });
    await world.clock.pass(30_000);
  }
  const names = async (statusFilter?: 'RUNNING') =>
    (await client.listExecutions({ stateMachineArn, ...(statusFilter && { statusFilter }) })).executions?.map(
      ({ name }) => name,
    );
  expect(await names()).toEqual(['run-3', 'run-2', 'run-1']);
  expect(await names('RUNNING')).toEqual(['run-3']);
  const page = await client.listExecutions({ stateMachineArn, maxResults: 2 });
  const rest = await client.listExecutions({ stateMachineArn, maxResults: 2, nextToken: page.nextToken });
  expect(rest.executions?.map(({ name }) => name)).toEqual(['run-1']);
});

it('DescribeStateMachine gives the definition back', async () => {
  const { client, definition } = account(wait);
  const described = await client.describeStateMachine({ stateMachineArn });
  expect(described).toMatchObject({ name: 'bracket', roleArn, type: 'STANDARD', status: 'ACTIVE' });
  expect(JSON.parse(described.definition ?? '')).toEqual(definition);
});

it('SendTaskSuccess answers a task that waits for its token', async () => {
  let token = '';
  const { world, start, client } = account(
    {
      T: {
        Type: 'Task',
        Resource: 'arn:aws:states:::lambda:invoke.waitForTaskToken',
        Arguments: '{% $states.context.Task.Token %}',
        HeartbeatSeconds: 60,
        End: true,
      },
    },
    {
      'invoke.waitForTaskToken': args => {
        token = String(args);
        return {};
      },
    },
  );
  const { executionArn } = await start({ name: 'run-1' });
  await world.clock.pass(50_000);
  await client.sendTaskHeartbeat({ taskToken: token });
  await world.clock.pass(50_000);
  await expect(client.sendTaskSuccess({ taskToken: token, output: '{' })).rejects.toThrow(
    expect.objectContaining({ name: 'InvalidOutput' }),
  );
  await client.sendTaskSuccess({ taskToken: token, output: '"answered"' });
  await world.clock.pass(0);
  expect(await client.describeExecution({ executionArn })).toMatchObject({ output: '"answered"' });
  await expect(client.sendTaskFailure({ taskToken: token })).rejects.toThrow(
    expect.objectContaining({ name: 'TaskTimedOut' }),
  );
});
