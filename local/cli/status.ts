import { RunUnknown } from '../../functions/core/errors.ts';
import { findRun } from '../../functions/core/ledger/runs.ts';
import { nowSeconds } from '../../functions/core/time.ts';
import { byHand, describeByHand } from './by-hand-text.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { document } from './format.ts';
import { readHandled } from './handled-run.ts';
import { readLedger, readRun } from './ledger-scan.ts';
import { requireLedger, tableOption } from './ledger-table.ts';
import { statusOf } from './status-report.ts';
import { describeRun, describeStatus } from './status-text.ts';

const options = {
  table: tableOption,
  'by-hand': {
    type: 'boolean',
    default: false,
    about:
      'With a RUNID: print the calls of the AWS CLI that close its bracket from where it is, with nothing of Quiesce running. It changes nothing itself.',
  },
  json: {
    ...jsonOption,
    about:
      'Print one JSON document (StatusReport in local/cli/status-report.ts, or the run) and nothing else.',
  },
} as const;

export const statusCommand: Command = {
  name: 'status',
  about:
    'Shows what the ledger holds now: live runs, the instances that they claim, held Auto Scaling groups, targets that are out of traffic, hooks that wait for an answer, the latest adoption of a check by each Auto Scaling group with its evidence, checks that the loop breaker has demoted, and retirements. It reads the whole table.',
  operands: '[RUNID]',
  operandsAbout: 'With a RUNID it shows that run, live or ended.',
  operandChoices: [],
  options,
  examples: [
    'quiesce status --table quiesce-Ledger-1ABC',
    'quiesce status release-42',
    'quiesce status release-42 --by-hand',
  ],
  endsWith: { ok: 'It is shown.', failed: 'The ledger cannot be read, or does not know the run.' },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('status', options, args, true);
  const [runId, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Name one run, or none: see quiesce status --help.');
  if (values['by-hand'] && (runId === undefined || values.json))
    throw new UsageError(
      '--by-hand is for one run, and prints lines for a shell: name the run, without --json.',
    );
  const table = requireLedger(values.table);
  process.stdout.write(await tell(runId, { table, json: values.json, byHand: values['by-hand'] }));
  return exitCode.ok;
}

interface Telling {
  readonly table: string;
  readonly json: boolean;
  readonly byHand: boolean;
}

const tell = (runId: string | undefined, { table, json, byHand }: Telling): Promise<string> => {
  if (runId === undefined) return tellAll(json);
  return byHand ? tellByHand(runId, table) : tellRun(runId, json);
};

/** @throws RunUnknown */
async function tellByHand(runId: string, table: string): Promise<string> {
  const run = await findRun(runId);
  if (!run)
    throw new RunUnknown(
      `The ledger does not know the run ${runId}, or it was refused before it did anything.`,
    );
  return describeByHand(runId, byHand(await readHandled(run), table, nowSeconds()));
}

async function tellAll(json: boolean): Promise<string> {
  const report = statusOf(await readLedger());
  return json ? document(report) : describeStatus(report);
}

/** @throws RunUnknown */
async function tellRun(runId: string, json: boolean): Promise<string> {
  const known = await readRun(runId);
  if (!known) throw new RunUnknown(`The ledger does not know the run ${runId}.`);
  return json
    ? document({ format: 'quiesce.run-record/1', ...known })
    : describeRun(runId, known, Date.now() / 1000);
}
