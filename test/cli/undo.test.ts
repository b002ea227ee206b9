import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { UndoReport } from '../../local/cli/undo.ts';
import { serveShop } from './helpers/served.ts';

const directory = mkdtempSync(join(tmpdir(), 'quiesce-'));
afterAll(() => rmSync(directory, { recursive: true }));
const shop = serveShop();

/** Brings two instances to their go-ahead, where the run then waits for its after-deploy. */
async function before(runId: string): Promise<void> {
  const request = join(directory, `${runId}.json`);
  writeFileSync(request, JSON.stringify({ runId, fleet: { instanceIds: shop().instanceIds.slice(0, 2) } }));
  const machine = shop().told.machines.BeforeDeploy ?? '';
  const { code, stdout } = await shop().quiesce('before', '--machine', machine, '--request', request);
  expect(code, stdout).toBe(0);
}

/** The machine is the one that the environment names. */
const undo = (runId: string, ...more: string[]) =>
  shop().quiesce('undo', runId, '--table', shop().table, ...more);

test('undo ends a live run, says what it does, and follows it until nothing of it is left', async () => {
  await before('unwanted');
  const byHand = await shop().quiesce('status', 'unwanted', '--by-hand', '--table', shop().table);
  expect(byHand.stdout).toMatch(/^# For when Quiesce itself does not work\. .*: quiesce undo unwanted\n\n# /);
  expect(byHand.stdout).toMatch(/^# End the run: .*\naws dynamodb update-item --table-name /m);
  expect(byHand.stdout).toContain('# Then ask again: quiesce status unwanted --by-hand');
  const { code, stdout, stderr } = await undo('unwanted');
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Run unwanted is live \(go-ahead\), and ends as failed now: the targets of 2 instances are put back, Auto Scaling group web is resumed, 2 suppressions released\.$/m,
  );
  expect(stdout).toMatch(/^undoing +/m);
  expect(stdout).toMatch(/^Run unwanted is undone: nothing of it is left\.$/m);
  const { stdout: left } = await shop().quiesce('status', '--table', shop().table);
  expect(left).toBe('The ledger holds nothing: no run is live.\n');
  const { stdout: told } = await shop().quiesce('status', 'unwanted', '--table', shop().table);
  expect(told).toContain('UndoneByHand');
  // Its policy holds nothing.
  expect(told).not.toContain('held until');
  const [first] = [...shop().account.stack.executions.all()];
  const { stdout: report } = await shop().quiesce('report', first?.arn ?? '', '--table', shop().table);
  expect(report).toMatch(/^Run unwanted: failed/);
  expect(report).toContain('UndoneByHand');
  const closed = await shop().quiesce('status', 'unwanted', '--by-hand', '--table', shop().table);
  expect(closed.stdout).toBe('# Nothing of run unwanted is left.\n');
});

test('undo --json prints one document', async () => {
  await before('told');
  const { code, stdout } = await undo('told', '--json');
  const report: UndoReport = JSON.parse(stdout);
  expect({ code, report }).toMatchObject({
    code: 0,
    report: { format: 'quiesce.undo/1', runId: 'told', error: 'UndoneByHand', left: [], joined: false },
  });
});

test.for([
  ['told', 'RunEnded: Run told has ended (failed), and nothing of it is left to undo.\n'],
  ['never', 'RunUnknown: The ledger does not know the run never.\n'],
])('undo of %s is refused by name', async ([runId = '', sentence]) => {
  const { code, stderr } = await undo(runId);
  expect({ code, stderr }).toEqual({ code: 1, stderr: sentence });
});

test('a command line without a run, or by hand for none, is not understood', async () => {
  expect(await undo('')).toMatchObject({ code: 2, stderr: 'Name the run: quiesce undo RUNID.\n' });
  expect((await shop().quiesce('status', '--by-hand', '--table', shop().table)).code).toBe(2);
});
