// First, so that the SDK keeps the replaced timers and file reads.
import '../../local/clock/lambda-globals.ts';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ec2 from '@aws-sdk/client-ec2';
import { expect, onTestFinished, test } from 'vitest';
import { createWorld } from '../../local/account/world.ts';
import type { DeployedFunction } from '../../local/stack/deployed-template.ts';
import { Lambda, type LambdaSettings } from '../../local/stack/lambda.ts';
import { TaskFailure } from '../../local/states/failure.ts';
import { createWire } from '../../local/wire/wire.ts';

const obey: DeployedFunction = {
  logicalId: 'ObeyFunction',
  name: 'stack-obey',
  arn: 'arn:aws:lambda:eu-west-1:111122223333:function:stack-obey',
  versionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:stack-obey:1',
  aliasArn: undefined,
  codeUri: 'build/obey/',
  handler: 'index.handler',
  source: 'functions/obey.ts',
  environment: {},
  timeoutSeconds: 60,
  memoryMegabytes: 512,
  role: {
    logicalId: 'ObeyFunctionRole',
    name: 'role',
    arn: 'arn:aws:iam::111122223333:role/role',
    statements: [],
  },
  asynchronous: { maximumRetryAttempts: 2, maximumEventAgeSeconds: 21_600, onFailure: undefined },
  url: undefined,
  invokers: [],
};

function deploy(settings: Partial<LambdaSettings> = {}) {
  const world = createWorld();
  const terminated: string[] = [];
  const service = {
    name: 'ec2',
    client: ec2,
    protocol: { kind: 'ec2-query', version: '2016-11-15' },
    operations: {
      async TerminateInstances({ InstanceIds = [] }: ec2.TerminateInstancesCommandInput) {
        await world.clock.sleep(1000);
        terminated.push(...InstanceIds);
        return {};
      },
    },
  } as const;
  const wire = createWire({ services: [service], gates: [], clock: world.clock });
  const lambda = new Lambda({
    world,
    functions: new Map([[obey.logicalId, obey]]),
    directory: new URL('fixtures/stack', import.meta.url).pathname,
    code: 'source',
    transport: caller => wire.transport(caller),
    ...settings,
  });
  return { ...world, lambda, terminated };
}

async function failureOf(invocation: Promise<unknown>): Promise<TaskFailure> {
  const failure = await invocation.catch(error => error);
  if (failure instanceof TaskFailure) return failure;
  throw new Error(`expected a failure, not ${JSON.stringify(failure)}`);
}

test('a function sees its own context, with the time that is left counted in virtual time', async () => {
  const { clock, lambda } = deploy();
  const answer = await clock.runFor(lambda.invoke(obey.versionArn ?? '', { sleepSeconds: 13 }));
  expect(answer).toMatchObject({
    functionName: 'stack-obey',
    functionVersion: '1',
    invokedFunctionArn: obey.versionArn,
    memoryLimitInMB: '512',
    remaining: 47_000,
    awsRequestId: expect.stringMatching(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
  });
});

test('events and answers pass through JSON', async () => {
  const { clock, lambda } = deploy();
  const answer = { at: new Date(0), left: undefined };
  expect(await clock.runFor(lambda.invoke('stack-obey', { answer }))).toEqual({
    at: '1970-01-01T00:00:00.000Z',
  });
});

test('an error is reported by its name, its message and its trace', async () => {
  const { clock, lambda } = deploy();
  const failure = await clock.runFor(failureOf(lambda.invoke('stack-obey', { fail: 'no' })));
  expect(failure.error).toBe('Disobeyed');
  expect(JSON.parse(failure.cause)).toMatchObject({
    errorType: 'Disobeyed',
    errorMessage: 'no',
    trace: expect.arrayContaining(['Disobeyed: no']),
  });
});

test('D5: a function that times out is cut off, but its call in flight takes effect', async () => {
  const { clock, lambda, terminated } = deploy();
  const started = clock.now();
  const orders = { terminate: Array.from({ length: 99 }, (_, index) => `i-${index}`) };
  const failure = await clock.runFor(failureOf(lambda.invoke(obey.arn, orders)));
  expect(failure).toMatchObject({
    error: 'Sandbox.Timedout',
    message: expect.stringContaining('after 60.00 seconds'),
  });
  expect(clock.now() - started).toBe(60_000);
  const until = terminated.length;
  await clock.pass(600_000);
  expect(terminated.length - until).toBeLessThanOrEqual(1);
  expect(terminated.length).toBeLessThan(62);
});

test.each([
  ['before', ['i-0']],
  ['after', ['i-0', 'i-1']],
] as const)('a function that dies %s its second call leaves this done', async (moment, done) => {
  const { clock, lambda, terminated } = deploy({ dies: (_, call) => (call === 1 ? moment : undefined) });
  const orders = { terminate: ['i-0', 'i-1', 'i-2'] };
  const failure = await clock.runFor(failureOf(lambda.invoke('stack-obey', orders)));
  expect(failure.error).toBe('Runtime.ExitError');
  await clock.pass(60_000);
  expect(terminated).toEqual(done);
});

test('what a function writes is kept, line by line, and not printed', async () => {
  const { clock, lambda } = deploy();
  await clock.runFor(lambda.invoke('stack-obey', { write: '{"level":"INFO"}\nsecond' }));
  expect(lambda.logs).toEqual(
    ['{"level":"INFO"}', 'second'].map(line => ({ at: clock.now(), function: 'ObeyFunction', line })),
  );
});

test('an unknown function and an unknown version are not found', async () => {
  const { lambda } = deploy();
  await expect(lambda.invoke('nobody', {})).rejects.toMatchObject({ code: 'ResourceNotFoundException' });
  await expect(lambda.invoke(`${obey.arn}:2`, {})).rejects.toMatchObject({
    code: 'ResourceNotFoundException',
  });
});

test('two functions of one process cannot disagree on a variable', () => {
  const one = { ...obey, environment: { LEVEL: 'INFO' } };
  const other = { ...obey, logicalId: 'Other', environment: { LEVEL: 'DEBUG' } };
  const functions = new Map([one, other].map(fn => [fn.logicalId, fn]));
  expect(() => deploy({ functions })).toThrow('ObeyFunction and Other give LEVEL different values');
});

test('from bundles, the code is what the build has put where CodeUri says', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bundles-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, 'build/obey'), { recursive: true });
  await writeFile(join(directory, 'build/obey/index.mjs'), 'export const handler = async () => "bundled";');
  const { clock, lambda } = deploy({ directory, code: 'bundles' });
  expect(await clock.runFor(lambda.invoke(obey.name, {}))).toBe('bundled');
});

test('a template that names code which is not there is refused at once', () => {
  const functions = new Map([['Lost', { ...obey, logicalId: 'Lost', source: 'functions/lost.ts' }]]);
  expect(() => deploy({ functions })).toThrow('Lost: there is no functions/lost.ts');
});
