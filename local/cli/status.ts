import { RunUnknown } from '../../functions/core/errors.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { document } from './format.ts';
import { readLedger, readRun } from './ledger-scan.ts';
import { requireLedger, tableOption } from './ledger-table.ts';
import { statusOf } from './status-report.ts';
import { describeRun, describeStatus } from './status-text.ts';

const options = {
  table: tableOption,
  json: {
    ...jsonOption,
    about:
      'Print one JSON document (StatusReport in local/cli/status-report.ts, or the run) and nothing else.',
  },
} as const;

export const statusCommand: Command = {
  name: 'status',
  about:
    'Shows what the ledger holds now: live runs, the instances that they claim, held Auto Scaling groups, targets that are out of traffic, and hooks that wait for an answer. It reads the whole table.',
  operands: '[RUNID]',
  operandsAbout: 'With a RUNID it shows that run, live or ended.',
  operandChoices: [],
  options,
  examples: ['quiesce status --table quiesce-Ledger-1ABC', 'quiesce status release-42'],
  endsWith: { ok: 'It is shown.', failed: 'The ledger cannot be read, or does not know the run.' },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('status', options, args, true);
  const [runId, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Name one run, or none: see quiesce status --help.');
  requireLedger(values.table);
  process.stdout.write(await (runId === undefined ? tellAll(values.json) : tellRun(runId, values.json)));
  return exitCode.ok;
}

async function tellAll(json: boolean): Promise<string> {
  const report = statusOf(await readLedger());
  return json ? document(report) : describeStatus(report);
}

/** @throws RunUnknown */
async function tellRun(runId: string, json: boolean): Promise<string> {
  const known = await readRun(runId);
  if (!known) throw new RunUnknown(`The ledger does not know the run ${runId}.`);
  return json ? document({ format: 'quiesce.run-record/1', ...known }) : describeRun(runId, known);
}
