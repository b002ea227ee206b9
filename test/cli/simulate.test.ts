import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { wrap } from '../../local/cli/format.ts';
import { Timeline } from '../../local/cli/phases.ts';
import { reportOn, type SimulationReport } from '../../local/cli/simulation-report.ts';
import { describeSimulation } from '../../local/cli/simulation-text.ts';
import { readScenario } from '../../local/simulate/scenario.ts';
import { simulate } from '../../local/simulate/simulation.ts';
import { quiesce, type Ran, scenarioFile } from './helpers/quiesce.ts';

const reportOf = ({ stdout }: Ran): SimulationReport => JSON.parse(stdout);

describe('npm start', () => {
  let ran: Ran;
  beforeAll(async () => {
    ran = await quiesce('simulate', 'scenarios/rolling.yaml');
  }, 60_000);

  test('ends with 0: deployed, and every invariant held', () => {
    expect(ran.code, ran.stdout).toBe(0);
    expect(ran.stdout).toMatch(/^Invariants: all 7 held, checked at [\d,]+ instants$/m);
  });

  test('each half goes through the whole bracket, a plain line a phase in the order in which they end', () => {
    const lines = [
      ...ran.stdout.matchAll(/^\+(\d\d:\d\d:\d\d) {2}rolling-([12]) +(begins|[a-z -]+?)(?: {2}.*)?$/gm),
    ];
    const phases = ['draining', 'suppressing', 'go-ahead', 'deploying', 'ready', 'register', 'in service'];
    const half = ['begins', ...phases, 'evidence', 'release', 'released'];
    expect(lines.map(line => `${line[2]} ${line[3]}`)).toEqual([
      ...half.map(phase => `1 ${phase}`),
      ...half.map(phase => `2 ${phase}`),
    ]);
    const stamps = lines.map(line => line[1]);
    expect(stamps).toEqual(stamps.toSorted());
  });

  test('the table gives each phase its budget and the share of it that was used', () => {
    expect(ran.stdout).toMatch(/^suppressing +\+00:00:0\d +00:03:\d\d +00:10:00 +3\d %$/m);
    expect(ran.stdout).toMatch(/^go-ahead +\+00:03:\d\d +00:00:00 +- +-$/m);
  });

  test('the end compares three numbers side by side, and D41: names the blind instance-minutes', () => {
    expect(ran.stdout).toMatch(
      /with Quiesce +without\noutcome .*\nreplaced instances +0 +[1-9]\d*\nfailed requests +0 +[1-9][\d,]*\nminutes +[\d.]+ +[\d.]+\n/,
    );
    expect(ran.stdout).toMatch(/^Blind instance-minutes with Quiesce: [1-9][\d.]* /m);
    expect(ran.stdout).toMatch(/^Seed: 1$/m);
  });

  test('without a terminal nothing is coloured or redrawn', () => {
    expect(ran.stdout + ran.stderr).not.toContain('\x1b');
  });
});

test('the same seed prints the same, another seed does not', async () => {
  const run = (seed: string) => quiesce('simulate', scenarioFile('protected'), '--seed', seed);
  const [once, again, other] = await Promise.all([run('7'), run('7'), run('8')]);
  expect(once.code, once.stdout).toBe(0);
  expect(again.stdout).toBe(once.stdout);
  expect(other.stdout.replace('Seed: 8', 'Seed: 7')).not.toBe(once.stdout);
});

describe('--json', () => {
  let ran: Ran;
  let withoutIt: Ran;
  beforeAll(async () => {
    [ran, withoutIt] = await Promise.all([
      quiesce('simulate', scenarioFile('protected'), '--json'),
      quiesce('simulate', scenarioFile('protected'), '--json', '--without'),
    ]);
  }, 60_000);

  test('prints one document with the numbers of both deployments, and nothing else', () => {
    const report = reportOf(ran);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(report).toMatchObject({
      format: 'quiesce.simulation/1',
      scenario: 'small',
      seed: 1,
      passed: true,
      withQuiesce: { outcome: 'succeeded', replacedInstances: 0, requestsFailed: 0 },
      invariants: { violations: [] },
    });
    expect(report.without.replacedInstances).toBeGreaterThan(0);
    expect(report.without.requestsFailed).toBeGreaterThan(0);
    const deploying = report.withQuiesce.batches[0]?.phases.find(({ phase }) => phase === 'deploying');
    // 120 s of installing and 30 s of starting up.
    expect(deploying).toMatchObject({ tookSeconds: 150, budgetSeconds: 3600 });
  });

  test('--without asks for the other deployment of the same pair, and is judged by it', () => {
    const { withQuiesce, without, invariants } = reportOf(ran);
    expect(reportOf(withoutIt)).toMatchObject({ asked: 'without', withQuiesce, without, invariants });
    expect(withoutIt.code).toBe(1);
  });
});

test('ends with 1 and says what differs when the scenario expects something else', async () => {
  const { code, stdout } = await quiesce('simulate', scenarioFile('wrongly-expected'));
  expect(code).toBe(1);
  expect(stdout).toMatch(/\nNot as expected:\n {2}replaced instances: 0 instead of 3\.\n$/);
});

test('tells each violation with its virtual time and its number, and has not passed, expected ending or not', async () => {
  const scenario = readScenario(scenarioFile('protected'));
  const without = await simulate({ scenario, without: true });
  const at = without.startedAt + 83_000;
  const violation = { at, invariant: 2, what: 'Auto Scaling terminated i-1.' } as const;
  const broken = { ...without, violations: [violation] };
  const timeline = new Timeline();
  const report = reportOn({
    scenario,
    seed: 1,
    asked: 'withQuiesce',
    withQuiesce: { simulated: broken, timeline },
    without: { simulated: without, timeline },
    realSeconds: 0,
  });
  expect(report.passed).toBe(false);
  const text = describeSimulation(report, 80);
  expect(text).toMatch(
    /^Invariants: 1 violations, checked at [\d,]+ instants\n {2}\+00:01:23 {2}2\. Auto Scaling terminated i-1\.$/m,
  );
  expect(text).toMatch(/\nNot as expected:\n(?: {2}.*\n)* {2}Violated invariants: 1\.\n$/);
});

test('a refusal is shown as its name and its sentence, and ends with 0 when the scenario expects it', async () => {
  const { code, stdout } = await quiesce('simulate', scenarioFile('refused'));
  expect(code, stdout).toBe(0);
  expect(stdout).toMatch(/\nThe deployment was refused: BelowFloor\n {2}[A-Z][^{}]+\.\n/);
});

test('an event that cannot happen when it is to is a sentence with its line, and not an error of the program', async () => {
  expect(await quiesce('simulate', scenarioFile('impossible-event'))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^test\/cli\/scenarios\/impossible-event\.yaml:9: events\.1: it cannot happen then: The instance i-\w+ is not in Standby: it is in InService\. Let it happen at another time, or say mayMiss: true\n$/,
    ),
  });
});

test.each([
  [['--soak', '2', '--faults', 'hostile'], '--faults goes with --seeds, not with --soak.\n'],
  [['--soak', '2', '--seeds', '3'], 'Give --seeds or --soak, not both.\n'],
])('what goes with another way to simulate is refused, and not left out: %j', async (args, stderr) => {
  expect(await quiesce('simulate', ...args)).toEqual({ code: 2, stdout: '', stderr });
});

test('an event that the deployment was over before is a fault with its line, beside the deployment’s own end', async () => {
  const { code, stdout } = await quiesce('simulate', scenarioFile('missed-event'));
  expect(code).toBe(1);
  expect(stdout).toMatch(/\nThe deployment was refused: BelowFloor\n {2}[A-Z][^{}]+\.\n/);
  expect(stdout).toContain(
    '\nNot as expected:\n  test/cli/scenarios/missed-event.yaml:7: events.0: the deployment was over before it: let it happen earlier, or say mayMiss: true\n',
  );
});

test('a command that a person copies is in one piece, on a line of its own', () => {
  const command = `aws ec2 authorize-security-group-ingress --group-id sg-1 ${'x'.repeat(40)}`;
  expect(wrap(`It lacks a rule. Add:\n${command}\nand look again.`, 20)).toEqual([
    'It lacks a rule.',
    'Add:',
    command,
    'and look again.',
  ]);
});

test('--timeline writes the deployment that is shown as a page', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quiesce-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const page = join(directory, 'small.html');
  const { code, stdout } = await quiesce('simulate', scenarioFile('protected'), '--timeline', page);
  expect(code, stdout).toBe(0);
  expect(readFileSync(page, 'utf8')).toContain('<title>small: succeeded - Quiesce timeline</title>');
});
