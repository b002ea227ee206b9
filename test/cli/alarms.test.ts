import { describe, expect, test } from 'vitest';
import type { AlarmsReport } from '../../local/cli/alarms-report.ts';
import { describeAlarms } from '../../local/cli/alarms-text.ts';
import { parseScenario } from '../../local/simulate/scenario.ts';
import { serveShop } from './helpers/served.ts';

const pair = parseScenario(
  `
name: pair
fleet: { instances: 2, zones: [eu-west-1a], alsoListensOn: [8080], autoScaling: { healthChecks: [EC2] }, checks: [{ port: 8080 }] }
`,
  'pair.yaml',
);

describe('the alarms of a stack from the command line', () => {
  const shop = serveShop('max', { Alarms: 'Enabled' }, pair);
  const alarms = (...args: string[]) =>
    shop().quiesce('alarms', ...args, '--machine', shop().told.machines.ReconcileAlarms ?? '');

  test('plan shows what is to be made, and changes nothing', async () => {
    const { code, stdout, stderr } = await alarms('--quotas', '{"targets":9000}');
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^quiesce\/\*: 8 alarms there should be, about 2\.40 US dollars a month; 8 to make, in 00:00:04 at the\nleast\.$/m,
    );
    expect(stdout).toMatch(/^group {2}instances {2}checks {2}watched by\nweb +2 +1 +instance$/m);
    expect(stdout).toMatch(/^make {2}quiesce\/instance\/i-\w+\/impaired +not there yet$/m);
    expect(stdout).toMatch(/^targets +2 {2}9,000$/m);
    expect(stdout).toMatch(/^Nothing rings\.$/m);
    expect(stdout).not.toContain('! 2 of');
    const changing = shop().calls.filter(({ action }) => !/^(Describe|List|Get|BatchGet)/.test(action));
    expect(changing).toEqual([]);
  });

  test('apply makes them, and shows that nothing is left to do', async () => {
    const { code, stdout, stderr } = await alarms('apply', '--json');
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
    const report: AlarmsReport = JSON.parse(stdout);
    expect(report).toMatchObject({ format: 'quiesce.alarms/1', kept: 'Enabled', unmonitored: [] });
    expect(new Set(report.alarms.map(({ change }) => change))).toEqual(new Set(['keep']));
  });

  test('another act, or another machine, is refused in a sentence', async () => {
    expect(await alarms('make')).toMatchObject({
      code: 2,
      stderr: 'Say one of plan, apply: quiesce alarms plan.\n',
    });
    expect(await alarms('--quotas', '{"targets":0}')).toMatchObject({
      code: 2,
      stderr: '--quotas: targets: must be at least 1, not 0.\n',
    });
    const { machines } = shop().told;
    const other = await shop().quiesce('alarms', '--machine', machines.TellPeople ?? '');
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('not reconcile-alarms') });
  });
});

test('what is not monitored, and what others have made, is named', () => {
  const targets = Array.from({ length: 11 }, (_, index) => ({ instanceId: `i-${index}`, checkId: 'asc-1' }));
  const text = describeAlarms({
    format: 'quiesce.alarms/1',
    prefix: 'q/',
    kept: 'Disabled',
    groups: [],
    alarms: [
      ...Array.from({ length: 41 }, (_, index) => ({
        name: `q/instance/i-${index}/impaired`,
        change: 'remove' as const,
        state: 'ALARM' as const,
      })),
    ],
    foreign: ['q/account/impaired'],
    changeSeconds: 1,
    costPerMonth: 0,
    quotas: [
      { quota: 'targets', used: 2, of: 1 },
      { quota: 'checks', used: 40, of: 50 },
      { quota: 'associations', used: 39, of: 50 },
    ],
    unmonitored: targets,
  });
  expect(text).toContain('! 2 of 1 targets are more than the quota: what is beyond is not monitored');
  expect(text).toContain('! 40 of 50 checks are used.');
  expect(text).not.toContain('! 39 of');
  expect(text).toContain('41 to remove');
  expect(text).toContain('its parameter Alarms is Disabled');
  expect(text).toContain('and 1 more: --json has them');
  expect(text).toContain("! q/account/impaired is somebody else's");
  expect(text).toMatch(/nothing on 11 targets: i-0 under asc-1, [\s\S]* and 1 more/);
  expect(text).toContain('No check with the tag reports');
});
