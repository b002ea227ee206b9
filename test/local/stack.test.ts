import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Alarms } from '../../local/account/alarms.ts';
import { CloudWatch } from '../../local/account/cloud-watch.ts';
import type { Journal } from '../../local/account/journal.ts';
import { createWorld } from '../../local/account/world.ts';
import { deployStack, type StackSettings } from '../../local/stack/deploy.ts';

const templatePath = fileURLToPath(new URL('fixtures/stack/template.yaml', import.meta.url));

async function deploy(settings: Partial<StackSettings> = {}) {
  const world = createWorld();
  const alarms = new Alarms(new CloudWatch(world), () => undefined);
  const stack = await deployStack({
    world,
    templatePath,
    services: [],
    tags: {
      tagsOf: () => undefined,
      autoScalingGroupOf: () => undefined,
      deploymentGroupOf: () => undefined,
    },
    alarms,
    code: 'source',
    ...settings,
  });
  const run = async (machine: string, input: object) => {
    const execution = stack.startExecution(machine, { input: { ...input } });
    await world.clock.runFor(execution.ended);
    return execution;
  };
  return { ...world, alarms, stack, run };
}

test('a machine calls a function that writes to the table, waits as its parameter says, and reads the table itself', async () => {
  const { clock, run } = await deploy({ parameters: { Pause: '600' } });
  const started = clock.now();
  await run('CountMachine', { name: 'apples' });
  const execution = await run('CountMachine', { name: 'apples' });
  expect([execution.status, execution.output]).toEqual(['SUCCEEDED', 2]);
  expect(clock.now() - started).toBeGreaterThan(1_200_000);
  expect(clock.now() - started).toBeLessThan(1_202_000);
});

test('a machine may not invoke a function that its role does not name', async () => {
  const { run } = await deploy();
  const execution = await run('CountMachine', { name: 'pears', forbidden: true });
  expect([execution.status, execution.error]).toEqual(['FAILED', 'Lambda.AccessDeniedException']);
  expect(execution.cause).toMatch(
    /not authorized to perform: lambda:InvokeFunction on resource: .*:function:/,
  );
});

test('every call is counted, and a permission that none of them needed is reported', async () => {
  const { stack, run } = await deploy();
  await run('CountMachine', { name: 'plums' });
  expect(stack.calls.counts()).toEqual([
    { service: 'dynamodb', action: 'GetItem', caller: 'CountMachine', count: 1 },
    { service: 'dynamodb', action: 'UpdateItem', caller: 'CountFunction', count: 1 },
    { service: 'lambda', action: 'Invoke', caller: 'CountMachine', count: 1 },
  ]);
  expect(stack.unusedPermissions().map(({ action }) => action)).toEqual([
    'dynamodb:DeleteItem',
    'sqs:SendMessage',
    'states:StartExecution',
  ]);
});

test('an event that matches a rule starts its machine with what the rule makes of it', async () => {
  const { clock, stack } = await deploy();
  stack.events.put({
    source: 'aws.autoscaling',
    'detail-type': 'EC2 Instance Launch Successful',
    detail: { name: 'launches' },
  });
  await clock.pass(120_000);
  expect([...stack.executions.all()].map(({ input, output }) => ({ input, output }))).toEqual([
    { input: { name: 'launches' }, output: 1 },
  ]);
});

test('a schedule invokes its function on the virtual clock', async () => {
  const { clock, stack } = await deploy();
  await clock.pass(16 * 60_000);
  expect(stack.calls.counts()).toEqual([
    { service: 'dynamodb', action: 'UpdateItem', caller: 'CountFunction', count: 3 },
  ]);
});

test('D14: an event on which a function dies three times ends in its on-failure queue', async () => {
  const { clock, stack } = await deploy({ dies: () => 'before' });
  await clock.pass(9 * 60_000);
  const [message] = stack.queues.messages(stack.template.queues.get('Failures')?.arn ?? '');
  expect(JSON.parse(message?.body ?? '{}')).toMatchObject({
    requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 3 },
    requestPayload: { name: 'ticks' },
    responsePayload: { errorType: 'Runtime.ExitError' },
  });
  expect(stack.lostEvents).toEqual([]);
});

test('the same seed gives the same run, to the millisecond', async () => {
  const trace = async () => {
    const { journal, run } = await deploy();
    await run('CountMachine', { name: 'again' });
    return journal.entries;
  };
  expect(await trace()).toEqual(await trace());
});

describe('the alarms of a template', () => {
  const entered = ({ entries }: Journal) =>
    entries.flatMap(entry => (entry.type === 'alarm' ? [`${entry.alarm} ${entry.state}`] : []));

  test('a failed execution is in the metrics of Step Functions, and alarms', async () => {
    const { clock, journal, alarms, run } = await deploy();
    expect(alarms.get('quiesce-Unwell').state.value).toBe('OK');
    await run('CountMachine', { name: 'pears', forbidden: true });
    await clock.pass(120_000);
    expect(entered(journal)).toContain('quiesce-MachineFailed ALARM');
    expect(alarms.get('quiesce-Unwell').state.value).toBe('ALARM');
  });

  test('a function that fails, and what its queue then holds, alarm; the composite tells whom it may', async () => {
    const { clock, journal, alarms, stack } = await deploy({
      dies: ({ function: fn }) => (fn === 'CountFunction' ? 'before' : undefined),
    });
    await clock.pass(12 * 60_000);
    expect(entered(journal)).toEqual(
      expect.arrayContaining([
        'quiesce-CountErrors ALARM',
        'quiesce-FailuresArrived ALARM',
        'quiesce-Unwell ALARM',
      ]),
    );
    const actions = alarms.history.items.flatMap(({ HistoryItemType, HistorySummary }) =>
      HistoryItemType === 'Action' ? [HistorySummary] : [],
    );
    expect(actions.slice(0, 4)).toEqual([
      expect.stringMatching(/^Successfully executed action .*quiesce-ObeyFunction$/),
      expect.stringMatching(/^Successfully executed action .*quiesce-People$/),
      expect.stringMatching(
        /^Failed to execute action .*quiesce-Others.*not authorized to perform: sns:Publish/,
      ),
      expect.stringMatching(/^Failed to execute action .*quiesce-CountFunction.*is not authorized/),
    ]);
    expect(stack.topics.published[0]).toMatchObject({
      subject: 'ALARM: "quiesce-Unwell" in eu-west-1',
      message: expect.stringContaining('"NewStateValue":"ALARM"'),
    });
    const invoked = {
      namespace: 'AWS/Lambda',
      name: 'Invocations',
      dimensions: { FunctionName: 'quiesce-ObeyFunction' },
    };
    expect(alarms.metrics.valuesIn(invoked, 0, clock.now()).length).toBeGreaterThan(0);
  });

  test('what a function writes in embedded metric format becomes its metrics', async () => {
    const { clock, alarms, stack } = await deploy();
    const record = {
      _aws: {
        Timestamp: 0,
        CloudWatchMetrics: [
          { Namespace: 'Shop', Dimensions: [['service']], Metrics: [{ Name: 'sold', Unit: 'Count' }] },
        ],
      },
      service: 'fruit',
      sold: [3, 4],
    };
    await clock.runFor(
      stack.lambda.invoke('quiesce-ObeyFunction', { write: JSON.stringify(record), answer: 1 }),
    );
    const sold = { namespace: 'Shop', name: 'sold', dimensions: { service: 'fruit' } };
    expect(alarms.metrics.valuesIn(sold, 0, clock.now() + 1)).toEqual([3, 4]);
  });
});
