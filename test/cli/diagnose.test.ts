import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../local/account/application.ts';
import { ec2Api } from '../../local/account/ec2-service.ts';
import type { DiagnosisReport } from '../../local/cli/diagnose.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import type { Ran } from './helpers/quiesce.ts';
import { serveShop } from './helpers/served.ts';

/** Nobody replaces what fails, so what is wrong stays. */
const STALL = parseScenario(
  `
name: stall
fleet:
  instances: 4
  autoScaling: null
  targetGroups: [{ name: web, port: 8080 }]
  checks: [{ port: 8080 }]
`,
  'stall.yaml',
);

const stall = serveShop(300, {}, STALL);
const reportOf = ({ stdout }: Ran): DiagnosisReport => JSON.parse(stdout);
const everything = () => stall().instanceIds.join(',');

/** The account's time passes by itself, three hundred times as fast as ours. */
async function minutes(count: number): Promise<void> {
  const { clock } = stall().account.standing.account.world;
  const end = clock.now() + count * 60_000;
  while (clock.now() < end) await sleep(50);
}

/** The instances with these numbers answer so from now on; the others as usual. Waits until that shows. */
async function answer(answers: Readonly<Record<number, Answer>>): Promise<void> {
  stall().account.standing.fleet.instances.forEach(({ application }, number) => {
    const given = answers[number];
    application.suffer(given && (() => given));
  });
  await minutes(6);
}

test('D43: a fleet that is well ends with 0 and its table, and is only read', async () => {
  const { calls, instanceIds, quiesce } = stall();
  calls.length = 0;
  const { code, stdout } = await quiesce('diagnose', '--instances', everything());
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/^instance +zone +checks +targets$/m);
  expect(stdout).toMatch(
    new RegExp(`^${instanceIds[0]}  eu-west-1a  asc-\\w+ passed  web:8080 healthy$`, 'm'),
  );
  expect(stdout).toMatch(/^Nothing is wrong with 4 instances\.$/m);
  for (const { action } of calls) expect(action).toMatch(/^Describe/);
});

test('targets are counted zone by zone; --metrics asks CloudWatch, --table the ledger', async () => {
  const { calls, quiesce, table } = stall();
  calls.length = 0;
  const { code, stdout } = await quiesce(
    'diagnose',
    '--instances',
    everything(),
    '--metrics',
    '--table',
    table,
  );
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/^target group +zone +registered +healthy +receiving$/m);
  expect(stdout).toMatch(/^web +eu-west-1a +2 +2 +2$/m);
  const asked = new Set(calls.map(({ action }) => action));
  expect([...asked].filter(action => !/^(Describe|Get|BatchGet)/.test(action))).toEqual([]);
  expect([asked.has('GetMetricData'), asked.has('GetItem')]).toEqual([true, true]);
});

test('one instance that answers wrongly is told apart from the others, code and all', async () => {
  await answer({ 1: { kind: 'responds', status: 503, afterMs: 20 } });
  const { instanceIds, told, quiesce } = stall();
  const arn = told.targetGroups[0]?.arn ?? '';
  const { code, stdout } = await quiesce('diagnose', '--target-group', arn);
  expect(code, stdout).toBe(1);
  expect(stdout).toMatch(/^Wrong: wrong-answer$/m);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    `says ResponseCodeMismatch 503 on ${instanceIds[1]}, since 20`,
  );
  expect(stdout).toMatch(/^1 thing is wrong\.$/m);
});

test('both instances of a zone that no longer listen since the same time are the zone', async () => {
  await answer({ 0: { kind: 'refuses' }, 3: { kind: 'refuses' } });
  const report = reportOf(await stall().quiesce('diagnose', '--instances', everything(), '--json'));
  expect(report).toMatchObject({
    format: 'quiesce.diagnosis/1',
    well: false,
    reach: { kind: 'zone', zone: 'eu-west-1a' },
    findings: [{ symptom: 'not-listening' }],
    seen: { groups: [{ name: 'web', serves: true, registered: 4, unhealthy: 2 }] },
  });
});

test('a zone whose instances fail in different ways is told as one, after what is wrong on each', async () => {
  await answer({ 0: { kind: 'refuses' }, 3: { kind: 'resets' } });
  const { stdout } = await stall().quiesce('diagnose', '--instances', everything());
  expect(stdout).toMatch(/Wrong: not-listening.*\nTogether it is every instance of eu-west-1a, since/s);
});

test('all that are slow share something, and the load balancer fails open', async () => {
  const slow: Answer = { kind: 'responds', status: 200, afterMs: 40_000 };
  await answer({ 0: slow, 1: slow, 2: slow, 3: slow });
  const report = reportOf(await stall().quiesce('diagnose', '--instances', everything(), '--json'));
  expect(report.findings.map(({ symptom, reach }) => [symptom, reach?.kind])).toEqual([
    ['failing-open', undefined],
    ['slow', 'fleet'],
  ]);
});

test('a check that was never let in is a security group, unlike one that worked before', async () => {
  await answer({});
  const { account, instanceIds, quiesce } = stall();
  const { ec2, checks } = account.standing.account;
  const [group = ''] = ec2.instance(instanceIds[0])?.securityGroupIds ?? [];
  ec2.network.setIngress(group, []);
  const api = ec2Api(checks);
  const { ApplicationStatusCheck } = api.CreateApplicationStatusCheck({
    Protocol: 'http',
    Port: 8080,
    Aggregation: 'excluded',
  });
  const ApplicationStatusCheckId = ApplicationStatusCheck?.ApplicationStatusCheckId ?? '';
  api.AssociateApplicationStatusCheck({ ApplicationStatusCheckId, InstanceIds: [...instanceIds] });
  await minutes(8);
  const { findings } = reportOf(await quiesce('diagnose', '--instances', everything(), '--json'));
  const evidence = (symptom: string) =>
    findings.find(finding => finding.symptom === symptom)?.evidence.join(' ');
  expect(evidence('blocked')).toContain(`${ApplicationStatusCheckId} (excluded`);
  expect(evidence('unreachable')).toContain('ConnectionTimeout');
  expect(evidence('unreachable')).not.toContain(ApplicationStatusCheckId);
});

describe('a fleet that cannot be read', () => {
  test.each([
    [2, [], /^Name the fleet by one of/],
    [2, ['--instances', 'i-1', '--auto-scaling-group', 'web'], /^Name the fleet by one of/],
    [2, ['--instances', 'web'], /'web' is no id/],
    [2, ['--target-group', 'web'], /web is no ARN/],
    [1, ['--instances', 'i-00000000000000000'], /^InstanceUnknown: There is no instance i-0/],
    [1, ['--auto-scaling-group', 'none'], /^AutoScalingGroupUnknown: .* none/],
    [
      1,
      ['--target-group', 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/no/1'],
      /^TargetGroupUnknown/,
    ],
  ])('ends with %i: %j', async (expected, args, said) => {
    const { code, stderr } = await stall().quiesce('diagnose', ...args);
    expect(stderr).toMatch(said);
    expect(code).toBe(expected);
  });
});
