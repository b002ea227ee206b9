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

test('a fault that nothing met is told as it comes, with the line that replays it', async () => {
  const fault = 'SweepFunction dynamodb:Scan 999 late';
  const { code, stdout, stderr } = await callSites('swept', '--fault', fault);
  expect(stderr).toContain(
    `swept --fault "${fault}" (refused Operator.Stopped)\n  the call was never made\n`,
  );
  expect(stdout).toMatch(/\nswept +1 +1 {2}1 refused Operator.Stopped\n1 fault in/);
  expect(code).toBe(1);
});

test.each([
  [['swept', 'hoks'], 'There is no passage hoks.'],
  [['--fault', 'SweepFunction dynamodb:Scan 1 late'], '--fault needs the one passage that it belongs to.'],
  [['swept', '--fault', 'nonsense'], '"nonsense" is no fault: write CALLER'],
  [['--teling'], "Unknown option '--teling'"],
])('what cannot be read is refused in a sentence, and nothing is simulated: %j', async (args, sentence) => {
  const { code, stdout, stderr } = await callSites(...args);
  expect(stderr.startsWith(sentence)).toBe(true);
  expect(stderr).not.toContain('    at ');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});
