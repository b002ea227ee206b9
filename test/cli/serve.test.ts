import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { DescribeApplicationStatusCommand, EC2Client } from '@aws-sdk/client-ec2';
import {
  DeregisterTargetsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { expect, onTestFinished, test } from 'vitest';
import { executionName } from '../../functions/core/naming.ts';
import type { Happened } from '../../local/cli/happenings.ts';
import type { InterfacesReport } from '../../local/cli/interfaces-report.ts';
import { keepPace } from '../../local/cli/pace.ts';
import type { Served } from '../../local/cli/serve-text.ts';
import { VirtualClock } from '../../local/clock/virtual-clock.ts';
import { pythonWithBoto3 } from './helpers/boto3.ts';
import { quiesce, scenarioFile } from './helpers/quiesce.ts';
import { serveShop } from './helpers/served.ts';

const shop = serveShop();

test('serves an account to any SDK, tells what happens, and ends cleanly on Ctrl-C', async () => {
  const child = spawn(process.execPath, [
    'local/cli.ts',
    'serve',
    scenarioFile('protected'),
    '--port',
    '0',
    '--speed',
    'max',
    '--json',
  ]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const served: Served = JSON.parse((await lines.next()).value ?? '');
  const { environment, instances, targetGroups, machines } = served;
  const client = {
    endpoint: environment.AWS_ENDPOINT_URL ?? '',
    region: environment.AWS_REGION ?? '',
    credentials: { accessKeyId: 'simulated', secretAccessKey: 'simulated' },
  };
  const instanceId = instances[0]?.instanceId ?? '';
  const TargetGroupArn = targetGroups[0]?.arn;
  const target = { Id: instanceId, Port: 8080 };

  const ec2 = new EC2Client(client);
  const seen = await ec2.send(new DescribeApplicationStatusCommand({ InstanceIds: [instanceId] }));
  expect(seen.ApplicationStatuses?.Instances).toMatchObject([{ ApplicationStatus: { Status: 'ok' } }]);
  const elb = new ElasticLoadBalancingV2Client(client);
  await elb.send(new DeregisterTargetsCommand({ TargetGroupArn, Targets: [target] }));
  const health = await elb.send(new DescribeTargetHealthCommand({ TargetGroupArn, Targets: [target] }));
  expect(health.TargetHealthDescriptions).toMatchObject([{ TargetHealth: { State: 'draining' } }]);
  const sfn = new SFNClient(client);
  const { executionArn } = await sfn.send(
    new StartExecutionCommand({
      stateMachineArn: machines.BeforeDeploy,
      name: executionName('before', 'sdk'),
      input: JSON.stringify({ runId: 'sdk', fleet: { instanceIds: [instanceId] } }),
    }),
  );

  const told: Happened[] = [];
  while (told.at(-1)?.what !== 'SUCCEEDED') told.push(JSON.parse((await lines.next()).value ?? ''));
  expect(told.map(({ who, what, detail }) => `${who} ${what} ${detail}`)).toEqual(
    expect.arrayContaining([
      'call elasticloadbalancing DeregisterTargets',
      `target group draining web: ${instanceId}:8080`,
      `suppression spreading ${instanceId}`,
      `suppression suppressed ${instanceId}`,
      expect.stringMatching(/^execution RUNNING /),
      expect.stringMatching(/^run suppressing sdk: took 00:03:/),
    ]),
  );
  const ended = await sfn.send(new DescribeExecutionCommand({ executionArn }));
  expect(ended.status).toBe('SUCCEEDED');

  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});

test('ends when npm, which had started it, was ended: its shell dies of the signal and passes none on', async () => {
  const command = `"${process.execPath}" local/cli.ts serve ${scenarioFile('protected')} --port 0 --json; true`;
  const shell = spawn('sh', ['-c', command], { env: { ...process.env, npm_command: 'exec' } });
  const lines = createInterface(shell.stdout)[Symbol.asyncIterator]();
  const { environment }: Served = JSON.parse((await lines.next()).value ?? '');
  shell.kill('SIGTERM');
  // The server holds the other end of the pipe.
  while (!(await lines.next()).done);
  await expect(fetch(environment.AWS_ENDPOINT_URL ?? '')).rejects.toThrow('fetch failed');
});

const boto3 = pythonWithBoto3();

test.skipIf('why' in boto3)(`boto3 drives it${'why' in boto3 ? `: skipped, ${boto3.why}` : ''}`, async () => {
  if ('why' in boto3) return;
  const { told, instanceIds, table } = shop();
  const [instanceId] = instanceIds;
  const { stdout } = await promisify(execFile)(
    boto3.python,
    [
      'test/cli/helpers/drive.py',
      told.machines.BeforeDeploy ?? '',
      told.targetGroups[0]?.arn ?? '',
      table,
      instanceId,
    ],
    { env: { ...process.env, ...told.environment } },
  );
  expect(JSON.parse(stdout)).toEqual({
    described: instanceId,
    status: 'ok',
    enabled: [instanceId],
    draining: 'draining',
    groups: ['web'],
    run: 'SUCCEEDED',
    ledger: true,
    refused: 'InvalidInstanceID.NotFound',
  });
});

test("ages are told by the account's clock, not by that of the person who asks", async () => {
  const { account, quiesce } = shop();
  const beganAt = new VirtualClock().now();
  const { stdout } = await quiesce('interfaces', '--json');
  const { interfaces }: InterfacesReport = JSON.parse(stdout);
  const most = (account.standing.account.world.clock.now() - beganAt) / 1000;
  for (const { ageSeconds } of interfaces) {
    expect(ageSeconds).toBeGreaterThanOrEqual(0);
    expect(ageSeconds).toBeLessThanOrEqual(most + 1);
  }
  expect(interfaces.length).toBeGreaterThan(0);
});

test('prints what to export, and what there is to name', async () => {
  const { describeServed } = await import('../../local/cli/serve-text.ts');
  const { told, instanceIds, table } = shop();
  const text = describeServed(told);
  for (const said of [
    `export AWS_ENDPOINT_URL=${told.environment.AWS_ENDPOINT_URL}`,
    `export QUIESCE_LEDGER_TABLE=${table}`,
    `quiesce plan --instances ${instanceIds[0]},${instanceIds[1]}`,
    ...Object.values(told.machines),
  ])
    expect(text).toContain(said);
});

test('a port that is in use is one sentence', async () => {
  const port = new URL(shop().account.url).port;
  const { code, stderr } = await quiesce('serve', scenarioFile('protected'), '--port', port);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Port ${port} is in use: name another with --port, or 0 for a free one.\n`,
  });
});

test.each([
  ['--port', '70000', /^The port is a whole number from 0 to 65535, not 70000\.\n$/],
  ['--speed', '0', /^The speed is real, max or a number above 0, not 0\.\n$/],
])('%s %s ends with 2', async (option, value, sentence) => {
  const ran = await quiesce('serve', scenarioFile('protected'), option, value);
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringMatching(sentence) });
});

test('time passes by the wall clock, so many times as fast', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const [virtual, real] = [clock.now(), performance.now()];
  clock.after(60_000, () => stop.abort());
  await keepPace({ clock, pace: 1000, isBusy: () => false, signal: stop.signal });
  const rate = (clock.now() - virtual) / (performance.now() - real);
  expect(rate).toBeGreaterThan(500);
  expect(rate).toBeLessThan(1100);
});

test('at max it flies while something is under way, and no further', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  let busy = true;
  const began = clock.now();
  clock.after(3_600_000, () => {
    busy = false;
    stop.abort();
  });
  await keepPace({ clock, pace: 'max', isBusy: () => busy, signal: stop.signal });
  expect(clock.now() - began).toBeLessThan(3_601_000);
});
