import { describeExecution, executionArn, startExecution } from '../../functions/core/aws/step-functions.ts';
import { RunEnded, RunUnknown } from '../../functions/core/errors.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import { findRefusal } from '../../functions/core/ledger/refusals.ts';
import { findRun } from '../../functions/core/ledger/runs.ts';
import { executionName } from '../../functions/core/naming.ts';
import { isRunId } from '../../functions/core/request.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { counted, document, wrap } from './format.ts';
import { readHandled, whatIsLeft } from './handled-run.ts';
import { requireLedger, tableOption } from './ledger-table.ts';
import { machineOption, readMachineArn } from './machine-option.ts';
import { phaseTable } from './phase-report.ts';
import { attend, type RunReport, reportOn } from './run-machine.ts';

const options = {
  machine: machineOption('UndoRun'),
  table: tableOption,
  json: {
    ...jsonOption,
    about: 'Print one JSON document (UndoReport in local/cli/undo.ts) at the end and nothing else.',
  },
} as const;

export const undoCommand: Command = {
  name: 'undo',
  about:
    'Ends a run and undoes what it has done: a live one at once, whatever it is doing, one that has failed and still claims something, and what a failed run keeps held. It asks nothing, and follows the undo to its end. Ctrl-C leaves the execution running and says how to follow it again.',
  operands: 'RUNID',
  operandsAbout: 'The run to undo.',
  operandChoices: [],
  options,
  examples: [
    'quiesce undo release-42 --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-UndoRun --table quiesce-Ledger-1ABC',
  ],
  endsWith: {
    ok: 'Everything that the run has done is undone.',
    failed: 'There was nothing to undo, or something is left: it is shown.',
  },
  run,
};

/** What `quiesce undo --json` prints. */
export interface UndoReport extends Omit<RunReport, 'format'> {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.undo/1';
  /** What the run still has, thing by thing. */
  readonly left: readonly string[];
}

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('undo', options, args, true);
  const [runId = '', ...more] = positionals;
  if (more.length > 0 || !isRunId(runId)) throw new UsageError('Name the run: quiesce undo RUNID.');
  const machineArn = readMachineArn('UndoRun', values.machine);
  const table = requireLedger(values.table);
  const record = await undoable(runId);
  const { arn, joined } = await startOrJoin(record, machineArn);
  if (!values.json) process.stdout.write(`${sayWhat(record, joined)}\n`);
  const again = `quiesce undo ${runId} --machine ${machineArn} --table ${table}`;
  const followed = await attend({ runId, name: `The undo of ${runId}`, again, json: values.json }, arn);
  const left = whatIsLeft(await readHandled(record));
  const report: UndoReport = { ...reportOn(runId, arn, joined, followed), format: 'quiesce.undo/1', left };
  process.stdout.write(values.json ? document(report) : describe(report));
  return left.length === 0 ? exitCode.ok : exitCode.failed;
}

/** @throws RunUnknown; RunEnded when there is nothing to undo */
async function undoable(runId: string): Promise<RunRecord> {
  const record = await findRun(runId);
  if (!record) {
    const refusal = await findRefusal(runId);
    if (refusal) throw new RunEnded(`Run ${runId} was refused (${refusal.error}) before it did anything.`);
    throw new RunUnknown(`The ledger does not know the run ${runId}.`);
  }
  if (record.status === 'live' || whatIsLeft(await readHandled(record)).length > 0) return record;
  throw new RunEnded(
    `Run ${runId} has ended (${record.outcome ?? 'failed'}), and nothing of it is left to undo.`,
  );
}

/** An undo that runs already is joined, unless it keeps something held that a person now wants back. */
async function startOrJoin(
  { runId, status, owner, error, heldUntil }: RunRecord,
  machineArn: string,
): Promise<{ readonly arn: string; readonly joined: boolean }> {
  const running = owner.startsWith('arn:') && (await describeExecution(owner))?.status === 'RUNNING';
  if (status === 'ended' && running && heldUntil === undefined) return { arn: owner, joined: true };
  const input = {
    runId,
    error: error ?? 'UndoneByHand',
    cause: 'A person has ended the run with quiesce undo.',
    from: owner,
    giveBack: true,
  };
  const start = async (attempt: string) => {
    const name = executionName('undo', runId, attempt);
    const arn = executionArn(machineArn, name);
    return { arn, started: (await startExecution(machineArn, name, input)) === 'started' };
  };
  const first = await start(`by hand ${owner}`);
  if (first.started) return { arn: first.arn, joined: false };
  if ((await describeExecution(first.arn))?.status === 'RUNNING') return { arn: first.arn, joined: true };
  // That one came to nothing, and the run is still where it was.
  return { arn: (await start(`by hand ${owner} ${Date.now()}`)).arn, joined: false };
}

function sayWhat({ runId, status, phase, plan }: RunRecord, joined: boolean): string {
  if (joined) return `Run ${runId} is just being undone: that is followed.`;
  const does = [
    ...(plan.draining > 0 ? [`the targets of ${counted(plan.draining, 'instance')} are put back`] : []),
    ...plan.holdings.map(({ group }) => `Auto Scaling group ${group} is resumed`),
    ...(plan.suppressing > 0 ? [`${counted(plan.suppressing, 'suppression')} released`] : []),
  ];
  const was = status === 'live' ? `live (${phase}), and ends as failed now` : 'ended, and has something left';
  return `Run ${runId} is ${was}: ${does.join(', ') || 'its claims are ended'}.`;
}

function describe({ runId, phases, left }: UndoReport): string {
  const what =
    left.length === 0
      ? [`Run ${runId} is undone: nothing of it is left.`]
      : [
          ...wrap(
            `Run ${runId} still has ${left.slice(0, 10).join(', ')}${left.length > 10 ? ' and more' : ''}.`,
            98,
          ),
          `The sweep tries again. By hand: quiesce status ${runId} --by-hand`,
        ];
  return [phaseTable(phases), what]
    .filter(lines => lines.length > 0)
    .map(lines => `\n${lines.join('\n')}\n`)
    .join('');
}
