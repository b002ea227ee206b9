// First, so that the clients keep the virtual timers: their retries take no real time.
import '../local/clock/lambda-globals.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import * as autoScaling from '../functions/core/aws/auto-scaling.ts';
import * as codeDeploy from '../functions/core/aws/code-deploy.ts';
import * as elasticLoadBalancing from '../functions/core/aws/elastic-load-balancing.ts';
import * as instances from '../functions/core/aws/instances.ts';
import * as stepFunctions from '../functions/core/aws/step-functions.ts';
import * as table from '../functions/core/ledger/table.ts';
import { BUNDLE } from '../local/bundle/bundle-functions.ts';
import { answering } from './unit/helpers/scripted-account.ts';

const gateways = { autoScaling, codeDeploy, elasticLoadBalancing, instances, stepFunctions, table };
type Gateways = typeof gateways;

const directory = mkdtempSync(join(tmpdir(), 'bundled-'));
afterAll(() => rmSync(directory, { recursive: true }));
beforeAll(() => {
  vi.stubEnv('LEDGER_TABLE', 'ledger');
});

const core = fileURLToPath(new URL('../functions/core', import.meta.url));

async function bundled(contents: string, name: string) {
  const outfile = join(directory, name);
  await build({ ...BUNDLE, stdin: { contents, resolveDir: core }, outfile, logLevel: 'silent' });
  return import(pathToFileURL(outfile).href);
}

const bundle: Gateways = await bundled(
  `export * as autoScaling from './aws/auto-scaling.ts';
   export * as codeDeploy from './aws/code-deploy.ts';
   export * as elasticLoadBalancing from './aws/elastic-load-balancing.ts';
   export * as instances from './aws/instances.ts';
   export * as stepFunctions from './aws/step-functions.ts';
   export * as table from './ledger/table.ts';`,
  'gateways.mjs',
);

const json = (type: string) => JSON.stringify({ __type: type, message: 'as AWS says it' });
const query = (code: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>as AWS says it</Message></Error><RequestId>r</RequestId></ErrorResponse>`;
const ec2Error = (code: string) =>
  `<Response><Errors><Error><Code>${code}</Code><Message>as AWS says it</Message></Error></Errors><RequestID>r</RequestID></Response>`;

type Ask = (gateways: Gateways) => Promise<unknown>;
const targetHealth: Ask = from => from.elasticLoadBalancing.targetHealth('arn:aws:elasticloadbalancing:x');
const describing: Ask = from => from.instances.describeInstances(['i-1']);
const groups: Ask = from => from.autoScaling.groups(['web']);
const deployment: Ask = from => from.codeDeploy.deployment('d-1');
const start: Ask = from => from.stepFunctions.startExecution('arn:aws:states:x', 'name', {});
const write: Ask = from => from.table.change('run#r', { UpdateExpression: 'SET a = :a' });

/** What the product sees of an answer: the outcome, or the error that core/aws/call.ts makes of it. */
async function outcomeOf(ask: Ask, from: Gateways, status: number, body: string) {
  const account = answering(status, body);
  const outcome = await account.run(() =>
    ask(from).then(
      answer => ({ answer }),
      ({ name, action, code, message, retryable }) => ({ name, action, code, message, retryable }),
    ),
  );
  return { ...outcome, retried: account.elapsedMs() > 0 };
}

const dynamo = (code: string) => json(`com.amazonaws.dynamodb.v20120810#${code}`);

test.each<readonly [code: string, ask: Ask, status: number, body: string, taken: object]>([
  ['TargetGroupNotFound', targetHealth, 400, query('TargetGroupNotFound'), { name: 'TargetGroupUnknown' }],
  ['InvalidTarget', targetHealth, 400, query('InvalidTarget'), { code: 'InvalidTarget' }],
  ['Throttling', targetHealth, 400, query('Throttling'), { name: 'Throttled' }],
  ['ResourceContention', groups, 500, query('ResourceContention'), { name: 'Unavailable' }],
  ['InvalidInstanceID.NotFound', describing, 400, ec2Error('InvalidInstanceID.NotFound'), {}],
  ['DeploymentDoesNotExistException', deployment, 400, json('DeploymentDoesNotExistException'), {}],
  ['ThrottlingException', deployment, 400, json('ThrottlingException'), { name: 'Throttled' }],
  ['ExecutionAlreadyExists', start, 400, json('ExecutionAlreadyExists'), { answer: 'exists' }],
  ['StateMachineDoesNotExist', start, 400, json('StateMachineDoesNotExist'), { name: 'AwsFailure' }],
  ['a failed condition', write, 400, dynamo('ConditionalCheckFailedException'), { answer: undefined }],
  ['a throttled table', write, 400, dynamo('ProvisionedThroughputExceededException'), { name: 'Throttled' }],
  ['InternalServerError', write, 500, dynamo('InternalServerError'), { name: 'Unavailable' }],
  ['an error that no client models', write, 400, dynamo('NewlyInvented'), { code: 'NewlyInvented' }],
])('a bundle takes %s as the source does, retries included', async (_, ask, status, body, taken) => {
  const fromBundle = await outcomeOf(ask, bundle, status, body);
  expect(fromBundle).toMatchObject(taken);
  expect(fromBundle).toEqual(await outcomeOf(ask, gateways, status, body));
});

test('a function that goes by an error class of the SDK is not bundled: its client would never throw it', async () => {
  const source = `import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
    export const handler = error => error instanceof ResourceNotFoundException;`;
  await expect(bundled(source, 'by-class.mjs')).rejects.toThrow('go by the error');
});

test('an operation that streams fails loudly in a bundle', async () => {
  const { load } = await bundled(
    `import { EventStreamSerde } from '@smithy/core/event-streams'; export const load = () => new EventStreamSerde({});`,
    'streaming.mjs',
  );
  expect(load).toThrow('@smithy/core/event-streams is left out of this bundle.');
});

test('a bundled client still says its version', async () => {
  const { version } = await bundled(
    `import packageInfo from '../../node_modules/@aws-sdk/client-ec2/package.json'; export const version = packageInfo.version;`,
    'version.mjs',
  );
  const { default: manifest } = await import('@aws-sdk/client-ec2/package.json', { with: { type: 'json' } });
  expect(version).toBe(manifest.version);
});
