import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const callSites = (...args: readonly string[]) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>(resolve => {
    const child = execFile(
      process.execPath,
      ['local/call-sites.ts', ...args],
      { cwd: ROOT },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });

test('a passage meets its faults in processes of their own, and a table says how it ended with them', async () => {
  const { code, stdout, stderr } = await callSites('swept', '--telling');
  expect(stderr).toMatch(/(\d+) of \1 faults, 0 broke something\n$/);
  expect(stdout).toMatch(
    /^passage {2}faults {2}broke {2}ended\nswept +(\d+) +0 {2}\1 refused Operator.Stopped\n\1 faults in \d+ s, 0 broke something.\n$/,
  );
  expect(code).toBe(0);
});

test('one fault is met again by the line that a failure prints', async () => {
  const { code, stdout } = await callSites('swept', '--fault', 'SweepFunction dynamodb:Scan 1 denied');
  expect(stdout).toMatch(/\nswept +1 +0 {2}1 refused Operator.Stopped\n1 fault in/);
  expect(code).toBe(0);
});

const USAGE = /^npm run call-sites \[-- /m;

test.each([
  [['sweept'], 'There is no passage sweept. Did you mean swept?\n', USAGE],
  [['--fault', 'SweepFunction dynamodb:Scan 1 late'], '--fault needs the one passage', USAGE],
  [['swept', '--fault', 'nonsense'], '"nonsense" is no fault: write CALLER', /WAY is one of/],
  [['--teling'], "Unknown option '--teling'.", USAGE],
  [
    ['swept', '--fault', 'SwepFunction dynamodb:Scan 1 late'],
    'The passage swept has no call ',
    /Did you mean S/,
  ],
  [
    ['swept', '--fault', 'SweepFunction dynamodb:Scan 999 late'],
    'SweepFunction dynamodb:Scan is ',
    /\d times? in/,
  ],
])(
  'what cannot be used is refused in a sentence, and nothing is simulated: %j',
  async (args, begins, has) => {
    const { code, stdout, stderr } = await callSites(...args);
    expect(stderr.startsWith(begins), stderr).toBe(true);
    expect(stderr).toMatch(has);
    expect(stderr).not.toContain('    at ');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  },
);

test('--help says what there is', async () => {
  const { code, stdout } = await callSites('--help');
  expect(stdout).toMatch(USAGE);
  expect(code).toBe(0);
});
