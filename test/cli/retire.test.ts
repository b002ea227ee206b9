import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { InterfaceUse } from '../../functions/core/domain/check-interfaces.ts';
import { describeInterfaces, reportInterfaces } from '../../local/cli/interfaces-report.ts';
import { retireCommand } from '../../local/cli/retire.ts';
import { describeRetirement, type RetirementTold } from '../../local/cli/retirement-report.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { serveShop } from './helpers/served.ts';

const guarded = parseScenario(
  `
name: guarded
fleet:
  instances: 1
  zones: [eu-west-1a]
  autoScaling: { healthChecks: [EC2] }
  checks: [{ port: 8080, ownGroup: deleted-when-free }]
physics: { interfaceLingerMinutes: [25, 25] }
`,
  'guarded.yaml',
);

const arnIn = (text: string) => /arn:\S+/.exec(text)?.[0] ?? '';

describe('from the command line', () => {
  const shop = serveShop('max', { InterfaceWatch: 'Enabled' }, guarded);
  const checkId = () => shop().account.standing.fleet.checkIds[0] ?? '';

  test('the interfaces are listed with their checks, in columns, and nothing but reads is sent', async () => {
    const { calls, quiesce } = shop();
    calls.length = 0;
    const { code, stdout, stderr } = await quiesce('interfaces');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head = '', row = '', , sum] = stdout.split('\n');
    expect(row).toMatch(
      new RegExp(`^eni-\\w+ +subnet-\\w+ +sg-\\w+ +in use +${checkId()} +\\d+:\\d\\d:\\d\\d +0\\.01$`),
    );
    expect(row.indexOf('in use')).toBe(head.indexOf('use'));
    expect(sum).toBe('1 interface, 0 of them lingering: 0.01 US dollars an hour.');
    for (const { action } of calls) expect(action).toMatch(/^Describe/);
  });

  test('a check is retired and followed to its end; a second time there is nothing left', async () => {
    const { quiesce, table, told } = shop();
    const machine = ['--machine', told.machines.RetireCheck ?? ''];
    const { code, stdout, stderr } = await quiesce('retire', checkId(), ...machine);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^left behind +\+00:\d\d:\d\d +00:\d\d:\d\d +03:00:00 +\d+ %$/m);
    expect(stdout).toMatch(new RegExp(`^${checkId()}: retired$`, 'm'));
    expect(stdout.match(/^left behind/gm)).toHaveLength(1);
    const [began = '', ...followed] = stdout.split('\n');
    expect(began).toBe(`The retirement of ${checkId()} begins: ${arnIn(stdout)}`);
    const said = (what: RegExp) => followed.findIndex(line => what.test(line));
    expect(
      said(/^\+00:00:\d\d {2}asc-\w+ {2}1 interface to wait for, 0\.01 US dollars an hour: eni-\w+$/),
    ).toBe(0);
    expect(said(/^\+00:\d\d:\d\d {2}asc-\w+ {2}waits: sg-\w+ is held by interface eni-/)).toBeGreaterThan(0);
    expect(stdout).toMatch(
      /^1 interface gone, 0\.01 US dollars an hour: eni-\w+\n1 security group deleted: sg-\w+$/m,
    );
    const { stdout: status } = await quiesce('status', '--table', table);
    expect(status).toMatch(new RegExp(`^${checkId()} +succeeded +\\d.* eni-\\w+ +sg-\\w+ +retire-asc-`, 'm'));
    const { stdout: reported } = await quiesce('report', arnIn(stdout));
    expect(stdout.endsWith(reported)).toBe(true);
    expect((await quiesce('interfaces', '--table', table)).stdout).toBe(
      'No application status check has an interface here.\n',
    );
    const again = await quiesce('retire', checkId(), ...machine, '--json');
    const report: RetirementTold = JSON.parse(again.stdout);
    expect(report).toMatchObject({
      subject: checkId(),
      status: 'SUCCEEDED',
      plan: { verdict: 'nothing' },
      phases: [],
    });
    expect(describeRetirement(report)).toBe(
      `\n${checkId()}: nothing to retire, there is no such check: deleted before, or mistyped?\n`,
    );
    const kept = { ...report, keepsCheck: true };
    expect(describeRetirement(kept)).toBe(`\n${checkId()}: nothing was left to retire\n`);
  });

  test('D40: status shows what the loop breaker has demoted, and why', async () => {
    const { told, quiesce, table } = shop();
    const { AWS_ENDPOINT_URL: endpoint = '', AWS_REGION: region = '' } = told.environment;
    const credentials = { accessKeyId: 'simulated', secretAccessKey: 'simulated' };
    const demotion = {
      pk: 'demotion#asc-1',
      status: 'demoted',
      groups: '["web"]',
      inVain: '[]',
      cause: 'No instance can be connected to.',
    };
    const texts = Object.entries(demotion).map(([name, S]) => [name, { S }] as const);
    const Item = { ...Object.fromEntries(texts), at: { N: '1796029200' } };
    await new DynamoDBClient({ endpoint, region, credentials }).send(
      new PutItemCommand({ TableName: table, Item }),
    );
    const { stdout } = await quiesce('status', '--table', table);
    expect(stdout).toMatch(
      /^asc-1 +demoted it +2026-11-30 09:00:00 UTC +web +-\n! asc-1: No instance can be connected to\.$/m,
    );
  });
});

test('an interface that lingers is shown with the checks that last needed it, and since when', () => {
  const place = { subnetId: 'subnet-1', securityGroupIds: ['sg-1'] };
  const found = { ...place, id: 'eni-1', description: '', known: undefined };
  const known = { ...place, id: 'eni-2', checkIds: ['asc-1', 'asc-2'], lingersSince: 1000 };
  const remembered = { ...found, id: 'eni-2', attachedAt: new Date(400_000), known };
  const report = reportInterfaces([found, remembered], new InterfaceUse([]), 4_600_000);
  expect(report).toMatchObject({ lingering: 2, usDollarsPerHour: 0.02 });
  expect(
    describeInterfaces(report),
  ).toBe(`interface  subnet    security group  use                     checks       age       $ an hour
eni-1      subnet-1  sg-1            lingering               -            -         0.01
eni-2      subnet-1  sg-1            lingering for 01:00:00  asc-1,asc-2  01:10:00  0.01

2 interfaces, 2 of them lingering: 0.02 US dollars an hour.
Of some that linger it is not known since when, nor for which checks they were: the ledger
(--table) has it where the parameter InterfaceWatch of the stack is Enabled.
`);
});

test('D45: what stays is told with the checks that need it, and a refusal without a plan', () => {
  const told: RetirementTold = {
    format: 'quiesce.retirement/1',
    subject: 'asc-1',
    executionArn: 'arn',
    keepsCheck: false,
    joined: false,
    status: 'SUCCEEDED',
    error: '',
    cause: '',
    phases: [],
    plan: {
      verdict: 'planned',
      deletesCheck: true,
      interfaceIds: [],
      groupIds: [],
      shared: [{ interfaceId: 'eni-1', checkIds: ['asc-2', 'asc-3'] }],
      usDollarsPerHour: 0,
    },
  };
  expect(describeRetirement(told)).toBe('\nasc-1: retired\n\neni-1 stays: asc-2, asc-3 need it\n');
  const refused = { status: 'FAILED', error: 'NotOptedIn', cause: 'No tag.', plan: null } as const;
  expect(describeRetirement({ ...told, ...refused })).toBe('\nNotOptedIn:\n  No tag.\n');
});

describe('a request', () => {
  test.each<[readonly string[], string]>([
    [[], 'quiesce retire: must name a check to retire, or security groups'],
    [['asc-1', 'asc-2'], 'Name one check, or none'],
    [['web'], 'CHECK: must be the id of a check'],
    [
      ['--security-groups', 'sg-0123456789abcdef0,web'],
      '--security-groups.1: must be the id of a security group',
    ],
    [
      ['--security-groups', 'sg-0123456789abcdef0', '--limit-seconds', 'long'],
      '--limit-seconds: must be a number',
    ],
    [['--security-groups', 'sg-0123456789abcdef0'], 'Name the state machine retire-check'],
  ])('%j is refused', async (args, sentence) => {
    await expect(retireCommand.run(args)).rejects.toThrow(sentence);
  });
});
