import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PlanReport } from '../../local/cli/plan-report.ts';
import type { RunReport } from '../../local/cli/run-machine.ts';
import type { RunTold } from '../../local/cli/run-report.ts';
import { servedOf } from '../../local/cli/serve-text.ts';
import { serveAccount } from '../../local/cli/served-account.ts';
import type { StatusReport } from '../../local/cli/status-report.ts';
import { quiesceWith } from './helpers/quiesce.ts';
import { SHOP, serveShop } from './helpers/served.ts';

const directory = mkdtempSync(join(tmpdir(), 'quiesce-'));
afterAll(() => rmSync(directory, { recursive: true }));
const shop = serveShop();

function requestFile(name: string, request: object): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(request));
  return path;
}

const machine = (name: string): string => shop().told.machines[name] ?? '';

describe('a run from the command line', () => {
  const runId = 'release-42';
  const executions: string[] = [];
  const request = () =>
    requestFile('request.json', { runId, fleet: { instanceIds: shop().instanceIds.slice(0, 2) } });

  test('before: starts the machine and follows it to the go-ahead, a line a phase', async () => {
    const { code, stdout, stderr } = await shop().quiesce(
      'before',
      '--machine',
      machine('BeforeDeploy'),
      '--request',
      request(),
    );
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\+00:03:\d\d {2}release-42 {2}suppressing {2}took 00:03:\d\d$/m);
    expect(stdout).toMatch(/^suppressing +\+00:00:0\d +00:03:\d\d +00:10:00 +3\d %$/m);
    expect(stdout).toMatch(/^Go-ahead\. .*--run release-42$/m);
  });

  test('D12: before again joins it, and ends as it ended', async () => {
    const { code, stdout } = await shop().quiesce(
      'before',
      '--machine',
      machine('BeforeDeploy'),
      '--request',
      request(),
      '--json',
    );
    const report: RunReport = JSON.parse(stdout);
    expect({ code, report }).toMatchObject({ code: 0, report: { joined: true, status: 'SUCCEEDED' } });
    executions.push(report.executionArn);
  });

  test('D12: another request under its name is refused', async () => {
    const other = requestFile('other.json', { runId, fleet: { instanceIds: shop().instanceIds.slice(2) } });
    const { code, stderr } = await shop().quiesce(
      'before',
      '--machine',
      machine('BeforeDeploy'),
      '--request',
      other,
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/^RunEnded: .* was started with another request and has ended\. .*\n$/);
  });

  test('status shows it as live, what it claims, holds and has taken out', async () => {
    const { table, instanceIds, quiesce } = shop();
    const [text, json] = await Promise.all([
      quiesce('status', '--table', table),
      quiesce('status', '--table', table, '--json'),
    ]);
    expect(text.stdout).toMatch(/^release-42 +go-ahead .* 2 +before-release-42-\w+$/m);
    expect(text.stdout).toMatch(
      new RegExp(`^${instanceIds[0]} +release-42 .*moved by it +1 target in web$`, 'm'),
    );
    expect(text.stdout).toMatch(/^web +HealthCheck, ReplaceUnhealthy +release-42$/m);
    expect(text.stdout).toMatch(/^web +2 targets +release-42$/m);
    const status: StatusReport = JSON.parse(json.stdout);
    expect(status).toMatchObject({ runs: [{ runId, phase: 'go-ahead', instances: 2 }], hooks: [] });
    // The deployment's hour and after-deploy's budget are still to come, not what was left of before-deploy's.
    const [run] = status.runs;
    expect((run?.deadline ?? 0) - (run?.goAheadAt ?? 0)).toBeGreaterThan(3600 + 900);
    expect(status.instances.map(({ claims }) => claims.map(claim => claim.runId))).toEqual([
      [runId],
      [runId],
    ]);
  });

  test('a plan on its instances would be refused while it is live', async () => {
    const { table, instanceIds, quiesce } = shop();
    const ran = await quiesce('plan', '--instances', instanceIds[0], '--table', table, '--json');
    const report: PlanReport = JSON.parse(ran.stdout);
    expect(ran.code).toBe(1);
    expect(report.refusals).toMatchObject([
      { error: 'RunInProgress', cause: expect.stringContaining('release-42 is live on') },
    ]);
  });

  test('after: what it cannot promote is refused before it is started', async () => {
    const ran = await shop().quiesce(
      'after',
      '--machine',
      machine('AfterDeploy'),
      '--run',
      runId,
      '--promote',
      'web',
    );
    expect(ran).toEqual({
      code: 2,
      stdout: '',
      stderr: '--promote: must be the id of a check such as asc-0123456789abcdef0, not "web"\n',
    });
    const unknown = ['--promote', 'asc-00000000000000000'];
    const refused = await shop().quiesce(
      'after',
      '--machine',
      machine('AfterDeploy'),
      '--run',
      runId,
      ...unknown,
    );
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/^CheckUnknown:\n {2}There is no application status check asc-0+\.$/m);
  });

  test('after: brings the fleet back into service', async () => {
    const ran = await shop().quiesce('after', '--machine', machine('AfterDeploy'), '--run', runId, '--json');
    const report: RunReport = JSON.parse(ran.stdout);
    expect({ code: ran.code, report }).toMatchObject({ code: 0, report: { status: 'SUCCEEDED' } });
    expect(report.phases.find(({ phase }) => phase === 'released')).toMatchObject({ budgetSeconds: 450 });
    executions.push(report.executionArn);
  });

  test('then the ledger holds nothing, and tells the run as ended', async () => {
    const { table, quiesce } = shop();
    const [all, one, unknown] = await Promise.all([
      quiesce('status', '--table', table),
      quiesce('status', runId, '--table', table),
      quiesce('status', 'release-43', '--table', table),
    ]);
    expect(all.stdout).toBe('The ledger holds nothing: no run is live.\n');
    expect(one.stdout).toMatch(/^ {2}status +ended \(succeeded\)$/m);
    expect(one.stdout).toMatch(/^ {2}suspended +HealthCheck, ReplaceUnhealthy of Auto Scaling group web$/m);
    expect(one.stdout).not.toMatch(/^ {2}(hold|suspends|suppresses)/m);
    expect(unknown).toMatchObject({
      code: 1,
      stderr: 'RunUnknown: The ledger does not know the run release-43.\n',
    });
  });

  test('report tells both halves with their budgets and their price, and draws them', async () => {
    const { table, instanceIds, quiesce } = shop();
    const page = join(directory, 'run.html');
    const [before = ''] = executions;
    const ran = await quiesce('report', before, '--table', table, '--timeline', page, '--json');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const report: RunTold = JSON.parse(ran.stdout);
    expect(report).toMatchObject({
      runId,
      outcome: { status: 'succeeded' },
      instanceIds: instanceIds.slice(0, 2),
    });
    // The ledger knows which after-deploy belongs to it.
    expect(report.executions.map(({ executionArn }) => executionArn)).toEqual(executions);
    const order = ['draining', 'suppressing', 'go-ahead', 'deploying', 'ready', 'in service', 'released'];
    expect(report.phases.map(({ phase }) => phase)).toEqual(expect.arrayContaining(order));
    const { stateTransitions, stateTransitionsUsDollars, lambdaInvocations, lambdaSeconds } = report.cost;
    expect(stateTransitions).toBeGreaterThan(20);
    expect(stateTransitionsUsDollars).toBeCloseTo(stateTransitions * 0.000025);
    expect(lambdaInvocations).toBeGreaterThan(10);
    expect(lambdaSeconds).toBeGreaterThan(0);
    const html = readFileSync(page, 'utf8');
    for (const id of instanceIds.slice(0, 2)) expect(html).toContain(`<b>${id}</b>`);
    expect(html).toContain('<title>release-42: succeeded - Quiesce timeline</title>');
  });
});

test('a run that is refused ends with 1 and its named error', async () => {
  const request = requestFile('whole.json', { runId: 'whole', fleet: { autoScalingGroupName: 'web' } });
  const ran = await shop().quiesce('before', '--machine', machine('BeforeDeploy'), '--request', request);
  expect(ran.code).toBe(1);
  expect(ran.stdout).toMatch(/^BelowFloor:\n {2}Taking 4 of the targets out of target group web /m);
});

test('Ctrl-C leaves the execution running and says how to follow it again', async () => {
  const account = await serveAccount({ scenario: SHOP, port: 0, pace: 1 });
  onTestFinished(() => account.close());
  const { environment, machines, instances } = servedOf(account, SHOP, 1);
  const instanceIds = instances.slice(0, 1).map(({ instanceId }) => instanceId);
  const request = requestFile('slow.json', { runId: 'slow', fleet: { instanceIds } });
  const command = ['before', '--machine', machines.BeforeDeploy ?? '', '--request', request];
  const { code, stderr } = await quiesceWith(
    {
      env: environment,
      begun: child =>
        account.standing.account.world.journal.listen(entry => {
          if (entry.type === 'suppression' && entry.state === 'spreading') child.kill('SIGINT');
        }),
    },
    ...command,
  );
  expect(code).toBe(130);
  expect(stderr).toContain(`before-slow-`);
  expect(stderr).toContain(`Follow it again:\n  npx quiesce ${command.join(' ')}\n`);
  expect([...account.stack.executions.all()].map(({ status }) => status)).toEqual(['RUNNING']);
});
