import '../local/clock/lambda-globals.ts';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { createAccount } from '../local/account/account.ts';
import { createWorld } from '../local/account/world.ts';
import { bundleFunctions } from '../local/bundle/bundle-functions.ts';
import { withLiteralKeys } from '../local/bundle/sdk-schemas.ts';
import { smokeImport } from '../local/bundle/smoke-import.ts';
import { deployStack } from '../local/stack/deploy.ts';
import type { DeployedFunction } from '../local/stack/deployed-template.ts';
import { readTemplate } from '../local/stack/template.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
/** What a person who deploys has: the template, the machines and the bundles, without sources and packages. */
const released = mkdtempSync(join(tmpdir(), 'released-'));
afterAll(() => rmSync(released, { recursive: true }));

for (const part of ['template.yaml', 'statemachines'])
  cpSync(join(repository, part), join(released, part), { recursive: true });
const template = readTemplate({ world: createWorld(), path: join(repository, 'template.yaml') });
const bundles = await bundleFunctions(template, released);

function functionNamed(logicalId: string): DeployedFunction {
  const fn = template.functions.get(logicalId);
  if (!fn) throw new Error(`the template has no function ${logicalId}`);
  return fn;
}

async function deployBundles() {
  const world = createWorld();
  const account = createAccount(world);
  const stack = await deployStack({
    world,
    templatePath: join(released, 'template.yaml'),
    services: account.services,
    alarms: account.alarms,
    tags: {
      tagsOf: () => undefined,
      autoScalingGroupOf: () => undefined,
      deploymentGroupOf: () => undefined,
    },
    code: 'bundles',
  });
  const invoke = (logicalId: string, payload: unknown) =>
    world.clock.runFor(stack.lambda.invoke(functionNamed(logicalId).arn, payload));
  return { account, stack, invoke };
}

test('every bundle starts in a fresh process, with nothing beside it and nothing in its environment', async () => {
  for (const { function: fn } of bundles) await expect(smokeImport(fn, released)).resolves.toBeGreaterThan(0);
});

test('no bundle is larger than 360 KB', () => {
  const large = bundles.filter(({ bytes }) => bytes > 360 * 1024);
  expect(large.map(({ function: fn, bytes }) => `${fn.logicalId} has ${bytes} bytes`)).toEqual([]);
});

test("a bundle reaches the account with its own SDK client and its role's credentials", async () => {
  const { stack, invoke } = await deployBundles();
  const payload = {
    runId: 'never-begun',
    execution: 'an-execution',
    error: 'BudgetSpent',
    cause: 'too late',
  };
  expect(await invoke('FenceFunction', payload)).toMatchObject({ next: 'nothing', error: 'BudgetSpent' });
  expect(stack.calls.counts()).toContainEqual({
    service: 'dynamodb',
    action: 'GetItem',
    caller: 'FenceFunction',
    count: 1,
  });
});

test('a bundle reads an object of S3 as a stream, and decompresses it', async () => {
  const { account, invoke } = await deployBundles();
  const name = 'quiesce-logs-111122223333-eu-west-1';
  const key =
    'health_check_log_111122223333_elasticloadbalancing_eu-west-1_app.web.1_20261130T0900Z_10.0.0.7_a1b2c3d4.log.gz';
  const lines = 'http 2026-11-30T08:59:01.250000Z 0.02 10.0.1.20:80 web PASS 200 -\nno line\n';
  account.storage.put(account.storage.createBucket(name), key, gzipSync(lines.repeat(5000)));
  const event = { detail: { bucket: { name }, object: { key } } };
  const read = { kind: 'health-check', lines: 10_000, badLines: 5_000, node: '10.0.0.7' };
  expect(await invoke('ReadHealthCheckLogFunction', event)).toMatchObject(read);
});

test('an error keeps its name in a minified bundle, and names the field that was refused', async () => {
  const { invoke } = await deployBundles();
  const refused = invoke('PlanFunction', {
    phase: 'before',
    execution: 'an-execution',
    startedAt: '2026-11-30T09:00:00Z',
    enteredAt: '2026-11-30T09:00:01Z',
    optInTagValue: 'enabled',
    defaultPolicy: '{}',
    request: { runId: 'r', fleet: { autoScalingGroupName: 'web' }, policy: { leadSeconds: 10 } },
  });
  await expect(refused).rejects.toMatchObject({
    error: 'InvalidRequest',
    cause: expect.stringContaining('policy.leadSeconds: must be at least 180'),
  });
});

test('a bundle carries the operations that its function uses, and no others', () => {
  const observe = bundles.find(({ function: fn }) => fn.logicalId === 'ObserveFunction');
  const code = readFileSync(observe?.file ?? '', 'utf8');
  expect(code).toContain('DescribeApplicationStatus');
  expect(code).not.toMatch(/TerminateInstances|RunInstances|DeleteTargetGroup|AssumeRole/);
});

test('a schema key that is no constant is refused, not left to keep the whole service in every bundle', () => {
  const module = 'const _QN = "aws.protocols#queryName";\nexport var A$ = [3, { [_QN]: _A }];\n';
  expect(withLiteralKeys(module)).toContain('{ "aws.protocols#queryName": _A }');
  expect(() => withLiteralKeys(module.replace('[_QN]', '[_other]'))).toThrow(
    '[_other] is no string constant',
  );
});

test.each([
  ['does not load', "throw new Error('no network');", 'cannot be imported: Error: no network'],
  ['ends the process', 'process.exit(3);', 'cannot be imported: it exited with 3'],
  ['lacks its handler', 'export const handle = () => {};', 'exports no function named handler.'],
])('a bundle that %s fails the smoke import', async (_, code, why) => {
  const directory = mkdtempSync(join(released, 'broken-'));
  const file = join(directory, 'build/PlanFunction/index.mjs');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
  await expect(smokeImport(functionNamed('PlanFunction'), directory)).rejects.toThrow(
    `The bundle of PlanFunction, ${file}, ${why}`,
  );
});
