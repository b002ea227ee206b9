import { EnableApplicationStatusCheckSuppressionCommand } from '@aws-sdk/client-ec2';
import { describe, expect, test } from 'vitest';
import { ec2 } from '../../functions/core/aws/clients.ts';
import { readFleetRequest } from '../../local/cli/fleet-request.ts';
import type { PlanReport } from '../../local/cli/plan-report.ts';
import { readOnly } from '../../local/cli/reading-only.ts';
import { quiesceWith, type Ran } from './helpers/quiesce.ts';
import { serveShop } from './helpers/served.ts';

const shop = serveShop('max', { DefaultPolicy: '{"leadSeconds":240,"waitSeconds":60}' });
const reportOf = ({ stdout }: Ran): PlanReport => JSON.parse(stdout);

describe('a plan that would begin', () => {
  test('D43: shows what would happen to each instance, the budgets and the blindness, and only reads', async () => {
    const { instanceIds, table, calls, quiesce } = shop();
    const [a, b] = instanceIds;
    calls.length = 0;
    const { code, stdout } = await quiesce('plan', '--instances', `${a},${b}`, '--table', table);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${a}  eu-west-1a  web    for the run  1 included  web:8080$`, 'm'));
    expect(stdout).toMatch(/^web +instance +00:00:30 +50 % of all zones$/m);
    expect(stdout).toContain(
      'Auto Scaling group web: HealthCheck, ReplaceUnhealthy are suspended meanwhile.',
    );
    expect(stdout).toMatch(/^lead +00:10:00 /m);
    expect(stdout).toMatch(/2 instances suppressed for at most \d+ instance-minutes/);
    const actions = new Set(calls.map(({ action }) => action));
    expect(actions).toContain('DescribeApplicationStatus');
    for (const action of actions) expect(action).toMatch(/^(Describe|List|Get|BatchGet)/);
  });

  test('names a CodeDeploy deployment, in which green instances are left alone', async () => {
    const { instanceIds, account, quiesce } = shop();
    const [blue, green] = instanceIds;
    const { codeDeploy } = account.standing.account;
    const names = { applicationName: 'shop', deploymentGroupName: 'web' };
    codeDeploy.addDeploymentGroup(names);
    const id = codeDeploy.startDeployment({
      ...names,
      instanceIds: [blue, green],
      labels: { [blue]: 'Blue', [green]: 'Green' },
    });
    const { plan } = reportOf(await quiesce('plan', '--deployment', id, '--traffic', 'leave', '--json'));
    expect(plan).toMatchObject({
      members: [{ instanceId: blue, suppression: 'ours', memberships: [] }],
      bystanders: [{ instanceId: green }],
    });
  });

  test("reads the stack's DefaultPolicy from the machine that it names, under what the request says", async () => {
    const { instanceIds, told, quiesce } = shop();
    const machine = ['--machine', told.machines.BeforeDeploy ?? ''];
    const [json, text, other] = await Promise.all([
      quiesce('plan', '--instances', instanceIds[0], ...machine, '--json'),
      quiesce('plan', '--instances', instanceIds[0], ...machine),
      quiesce('plan', '--instances', instanceIds[0], '--machine', told.machines.AfterDeploy ?? ''),
    ]);
    expect(reportOf(json)).toMatchObject({
      policy: { leadSeconds: 240, waitSeconds: 60, readySeconds: 900 },
      stack: { machineArn: machine[1], defaultPolicy: '{"leadSeconds":240,"waitSeconds":60}' },
    });
    expect(text.stdout).toMatch(
      /^Where the request says nothing: the stack's DefaultPolicy {"leadSeconds":240,"waitSeconds":60}\.$/m,
    );
    expect(other).toMatchObject({
      code: 2,
      stderr: `${told.machines.AfterDeploy} is AfterDeploy: the stack's output BeforeDeployArn is meant.\n`,
    });
  });

  test('works where Quiesce is not deployed: without a table it makes no call to DynamoDB, and says so', async () => {
    const { instanceIds, calls, quiesce } = shop();
    calls.length = 0;
    const { code, stdout } = await quiesce('plan', '--instances', instanceIds[0]);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^No stack was named \(--machine\): planned with Quiesce's own policy .*\.$/m);
    expect(stdout).toMatch(
      /^No ledger was named \(--table\): planned as if there were no other runs and no zone event\.$/m,
    );
    expect(calls.filter(({ service }) => service === 'dynamodb')).toEqual([]);
  });
});

describe('a plan that would be refused ends with 1, a named error and its sentence', () => {
  test.each([
    ['a whole fleet', ['--auto-scaling-group', 'web'], 'BelowFloor', /floor of 2/],
    ['another opt-in', ['--auto-scaling-group', 'web', '--opt-in-value', 'no'], 'NotOptedIn', /quiesce=no/],
  ])('%s', async (_, args, error, cause) => {
    const ran = await shop().quiesce('plan', ...args, '--json');
    expect(ran.code).toBe(1);
    expect(reportOf(ran)).toMatchObject({
      plan: null,
      refusals: [{ error, cause: expect.stringMatching(cause) }],
    });
  });
});

test('a ledger that does not exist is one sentence', async () => {
  const { code, stderr } = await shop().quiesce('plan', '--auto-scaling-group', 'web', '--table', 'nope');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'There is no table nope in this account and Region: check --table.\n',
  });
});

test('a request on standard input that cannot be used ends with 2 and names the field', async () => {
  const stdin = '{"runId":"r","fleet":{"autoScalingGroupName":"web"},"polcy":{}}';
  const { code, stdout, stderr } = await quiesceWith({ stdin }, 'plan', '--request', '-');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^Standard input:1: polcy: is no member here: use runId, .*\n$/);
});

test.each([
  ['no fleet', {}],
  ['two fleets', { instances: 'i-00000000', deployment: 'd-ABCDEFGHI' }],
])('%s is no request', (_, values) => {
  expect(() => readFleetRequest(values)).toThrow(/^Name the fleet by one of --request, --instances, /);
});

test('D43: a call that changes something is refused before it is sent', async () => {
  readOnly();
  const change = new EnableApplicationStatusCheckSuppressionCommand({ InstanceIds: ['i-00000000'] });
  await expect(ec2().send(change)).rejects.toThrow(
    /EnableApplicationStatusCheckSuppressionCommand is no read/,
  );
});
