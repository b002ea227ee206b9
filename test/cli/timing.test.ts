import { expect, test } from 'vitest';
import { ec2Api } from '../../local/account/ec2-service.ts';
import type { PlanReport } from '../../local/cli/plan-report.ts';
import type { TimingReport } from '../../local/cli/timing-report.ts';
import { quiesce } from './helpers/quiesce.ts';
import { serveShop } from './helpers/served.ts';

const shop = serveShop();
const missing = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/none/0123456789abcdef';

test('reads a target group and a check of an account; a flag says what would be otherwise', async () => {
  const { told, quiesce } = shop();
  const named = ['--target-group', told.targetGroups[0]?.arn ?? '', '--check', told.checkIds[0] ?? ''];
  const [read, otherwise, contradicting] = await Promise.all([
    quiesce('timing', ...named, '--json'),
    quiesce('timing', ...named, '--interval', '20', '--grace', '120', '--json'),
    quiesce('timing', ...named, '--longest-request', '31'),
  ]);
  expect(read.code, read.stderr).toBe(0);
  const report: TimingReport = JSON.parse(read.stdout);
  expect(report).toMatchObject({
    format: 'quiesce.timing/1',
    targetGroup: {
      type: 'application',
      intervalSeconds: 10,
      timeoutSeconds: 5,
      healthyThreshold: 3,
      nodes: 3,
    },
    check: { timeoutSeconds: 6, failureThreshold: 2, graceSeconds: 90 },
    contradictions: [],
  });
  expect(report.targetGroup.times.failed).toEqual({ best: 10, expected: 17.5, worst: 20 });
  expect(JSON.parse(otherwise.stdout)).toMatchObject({
    targetGroup: { intervalSeconds: 20, healthyThreshold: 3 },
    check: { graceSeconds: 120 },
  });
  expect(contradicting.code).toBe(1);
  expect(contradicting.stdout).toMatch(/^! web: the deregistration delay \(30 s\) is shorter/m);
});

test.each([
  [
    'a flag',
    ['--interval', '4', '--type', 'gateway'],
    2,
    /^--interval: must be at least 5, not 4\n--type: must be one of /,
  ],
  ['a check', ['--check', 'asc-00000000000000000'], 2, /^There is no application status check asc-0+\.\n$/],
  ['a target group', ['--target-group', missing], 1, /^TargetGroupUnknown: There is no target group /],
])('%s that cannot be used is one sentence', async (_, flags, code, sentence) => {
  const ran = await shop().quiesce('timing', ...flags);
  expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(sentence) });
});

test('needs no account without one', async () => {
  expect(await quiesce('timing')).toMatchObject({ code: 0, stderr: '' });
});

test('quiesce plan tells what contradicts in the fleet that it looks at', async () => {
  const { instanceIds, account, told, quiesce } = shop();
  const [id = ''] = told.checkIds;
  const contradictions = async () => {
    const { stdout } = await quiesce('plan', '--instances', instanceIds[0], '--json');
    const { plan }: PlanReport = JSON.parse(stdout);
    return plan?.contradictions;
  };
  expect(await contradictions()).toEqual([]);
  const ec2 = ec2Api(account.standing.account.checks);
  ec2.ModifyApplicationStatusCheck({ ApplicationStatusCheckId: id, Path: '/ready' });
  expect(await contradictions()).toEqual([
    expect.stringMatching(`^web and ${id} ask the same path /ready: `),
  ]);
  const { stdout } = await quiesce('plan', '--instances', instanceIds[0]);
  expect(stdout).toMatch(new RegExp(`^! web and ${id} ask the same path /ready: `, 'm'));
});
