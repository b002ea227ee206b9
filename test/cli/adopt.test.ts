import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { AdoptionTold } from '../../local/cli/adoption-report.ts';
import { readAdoption } from '../../local/cli/adoption-request.ts';
import type { StatusReport } from '../../local/cli/status-report.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { serveShop } from './helpers/served.ts';

const directory = mkdtempSync(join(tmpdir(), 'quiesce-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

describe('an adoption from the command line', () => {
  const unchecked = parseScenario(
    'name: unchecked\nfleet: { instances: 4, startUpSeconds: 20, autoScaling: { healthChecks: [EC2] } }',
    'unchecked.yaml',
  );
  const shop = serveShop('max', {}, unchecked);
  const adopt = (...args: string[]) =>
    shop().quiesce('adopt', '--machine', shop().told.machines.PromoteCheck ?? '', ...args);
  let executionArn = '';

  test('starts promote-check, follows it with its budgets, and tells the evidence', async () => {
    const group = ['--auto-scaling-group', 'web'];
    const check = ['--protocol', 'http', '--port', '8080', '--grace-seconds', '60'];
    const { code, stdout, stderr } = await adopt(...group, ...check);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\+00:0\d:\d\d {2}web {2}sample {7}took 00:0\d:\d\d$/m);
    expect(stdout).toMatch(/^whole group +\+00:\d\d:\d\d +00:0\d:\d\d +00:15:00 +\d+ %$/m);
    expect(stdout).toMatch(/^watched .* 00:10:00 +\d+ %$/m);
    expect(stdout).toMatch(/^asc-\w+ and Auto Scaling group web: adopted, included and watched, begun /m);
    expect(stdout).toMatch(/^ {2}4 instances passed 2 evaluations in a row, the last at \d{4}-/m);
    expect(stdout).toMatch(/^ {2}at most \d+\.\d\d US dollars a month: 3 interfaces, 8 metrics$/m);
    expect(stdout).toMatch(/^! web: its instance maintenance policy lets Auto Scaling end an impaired/m);
    executionArn = /arn:\S+/.exec(stdout)?.[0] ?? '';
  });

  test('status shows its evidence', async () => {
    const { table, quiesce } = shop();
    const text = await quiesce('status', '--table', table);
    expect(text.stdout).toMatch(/^web +asc-\w+ +succeeded .* 4 instances passed 2 evaluations/m);
    const json = await quiesce('status', '--table', table, '--json');
    const report: StatusReport = JSON.parse(json.stdout);
    expect(report.adoptions).toMatchObject([{ group: 'web', evidence: { instances: 4, evaluations: 2 } }]);
  });

  test('report tells its execution; it has no timeline', async () => {
    const { table, quiesce } = shop();
    const report = await quiesce('report', executionArn, '--table', table);
    expect(report.stdout).toMatch(/^ {2}4 instances passed 2 evaluations/m);
    expect(report.stdout).toMatch(/state transitions: 0\.\d+ US dollars/);
    const page = join(directory, 'page.html');
    expect(await quiesce('report', executionArn, '--timeline', page)).toMatchObject({
      code: 2,
      stderr: 'An adoption has no timeline: leave --timeline out.\n',
    });
  });

  test('a refusal ends with 1, its name and its sentence; its name joins it, with the same request only', async () => {
    const request = file(
      'request.yaml',
      'autoScalingGroupName: none\ncheck: { protocol: http, port: 8080 }\n',
    );
    const first = await adopt('--request', request, '--name', 'once', '--json');
    const report: AdoptionTold = JSON.parse(first.stdout);
    expect({ code: first.code, report }).toMatchObject({
      code: 1,
      report: {
        format: 'quiesce.adoption/1',
        error: 'AutoScalingGroupUnknown',
        checkId: null,
        evidence: null,
      },
    });
    const second = await adopt('--request', request, '--name', 'once');
    expect(second.stdout).toMatch(/^once had been started before, and is joined\.$/m);
    expect(second.stdout).toMatch(/^AutoScalingGroupUnknown:\n {2}There is no Auto Scaling group none\.$/m);
    const other = await adopt('--request', request, '--name', 'once', '--port', '9090');
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^RunEnded: once was started with/),
    });
  });
});

describe('the request of an adoption', () => {
  const request =
    '# ours\nautoScalingGroupName: web\ncheck:\n  protocol: http\n  port: 8080\nwatchSeconds: 900\n';

  test('is read from flags, from a file, and from flags over a file', () => {
    expect(readAdoption({ 'auto-scaling-group': 'web', check: 'asc-0123456789', sample: '2' }).input).toEqual(
      {
        autoScalingGroupName: 'web',
        check: { id: 'asc-0123456789' },
        sample: 2,
      },
    );
    const over = readAdoption({ request: file('a.yaml', request), port: '9090', 'watch-seconds': '600' });
    expect(over.input).toEqual({
      autoScalingGroupName: 'web',
      check: { protocol: 'http', port: 9090 },
      watchSeconds: 600,
    });
    expect(over.request).toMatchObject({ evaluations: 2, check: { path: '/', graceSeconds: 300 } });
  });

  test.each<[Parameters<typeof readAdoption>[0], string]>([
    [
      { 'auto-scaling-group': 'web' },
      'Name the check: --check ID, or --protocol and --port of one to create.',
    ],
    [{ check: 'asc-0123456789' }, '--auto-scaling-group: is missing: it must be a text'],
    [{ 'auto-scaling-group': 'web', protocol: 'http', port: 'web' }, '--port: must be a number, not "web"'],
    [
      { 'auto-scaling-group': 'web', protocol: 'http', port: '80', evaluations: '1' },
      '--evaluations: must be at least 2: one evaluation is no evidence',
    ],
    [
      { 'auto-scaling-group': 'web', check: 'asc-0123456789', port: '80' },
      '--port belongs to a check to create, and one that exists is named',
    ],
  ])('%j is refused', (values, sentence) => {
    expect(() => readAdoption(values)).toThrow(sentence);
  });

  test('of a file is refused with its line, and what a flag gives with the flag', () => {
    const wrong = file('b.yaml', request.replace('8080', '80800').replace('http', 'ftp'));
    expect(() => readAdoption({ request: wrong, 'watch-seconds': '1' })).toThrow(
      /^--watch-seconds: must be at least 300, not 1\n.*b.yaml:4: check.protocol: must be one of http, https, not "ftp"\n.*b.yaml:5: check.port: must be at most 65535/,
    );
    expect(() => readAdoption({ request: file('c.yaml', '- web\n') })).toThrow(
      /c\.yaml:1: the request: must be/,
    );
    expect(() => readAdoption({ request: file('d.yaml', 'check: [\n') })).toThrow(
      /d\.yaml:\d+: this is not YAML/,
    );
    expect(() => readAdoption({ request: 'nowhere.yaml' })).toThrow('There is no file nowhere.yaml.');
  });
});
