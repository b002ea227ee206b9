import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { isDeepStrictEqual } from 'node:util';
import { describeExecution, executionArn, startExecution } from '../../functions/core/aws/step-functions.ts';
import { type Refusal, RunEnded, RunInProgress } from '../../functions/core/errors.ts';
import { plannedBudgets } from './budgets.ts';
import { exitCode } from './command.ts';
import type { Followed, Following } from './follow.ts';
import { follow } from './follow.ts';
import { document, wrap } from './format.ts';
import { type PhaseReport, phaseTable, reportPhases } from './phase-report.ts';
import type { Screen } from './progress.ts';

/** An execution that is followed. */
export interface Attended {
  /** Whose it is: of an adoption the Auto Scaling group's name. */
  readonly runId: string;
  /** What it is called. */
  readonly name: string;
  /** The command line that follows it again. */
  readonly again: string;
  readonly json: boolean;
  /** Lines to print besides the phases, where an event says something of its own. */
  readonly tell?: Following['tell'];
}

/** One execution of before-deploy or after-deploy, to be started or joined by its name, and followed. */
export interface MachineRun extends Attended {
  readonly machineArn: string;
  readonly input: object;
  /** What is said at its beginning, such as `Run release-42 is brought to its go-ahead`. */
  readonly begins: string;
  /** What is said at the end of one that succeeded. */
  readonly succeeded: string;
  /**
   * For before-deploy: a name under which the machine is asked whether a go-ahead that was given earlier still holds. The
   * run's record decides, not the execution (D12).
   */
  readonly confirm?: string;
}

/** What `quiesce before --json` and `quiesce after --json` print. */
export interface RunReport {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.run/1';
  readonly runId: string;
  readonly executionArn: string;
  /** Had it been started before? */
  readonly joined: boolean;
  readonly status: Followed['ended']['status'];
  /** The named error and its sentence; empty when it succeeded. */
  readonly error: string;
  readonly cause: string;
  readonly phases: readonly PhaseReport[];
}

/** Starts the execution, or joins it, and follows it to its end. @returns the exit code */
export async function runMachine(run: MachineRun): Promise<number> {
  const arn = executionArn(run.machineArn, run.name);
  const joined = await startOrJoin(run, arn);
  sayBeginning(run, joined, arn);
  const over = joined && run.confirm !== undefined && (await hasSucceeded(arn));
  if (over) await refuseUnlessLive(run, run.confirm, arn);
  const report = reportOn(run.runId, arn, joined, await attend(run, arn));
  process.stdout.write(run.json ? document(report) : describe(report, run.succeeded));
  return report.status === 'SUCCEEDED' ? exitCode.ok : exitCode.failed;
}

/** At once: the first phase may take long. */
export function sayBeginning(
  { name, begins, json }: Pick<MachineRun, 'name' | 'begins' | 'json'>,
  joined: boolean,
  executionArn: string,
): void {
  if (json) return;
  const said = joined ? `${name} had been started before, and is joined.` : `${begins}: ${executionArn}`;
  process.stdout.write(`${said}\n`);
}

/** Follows an execution to its end; an interrupt leaves it running. */
export async function attend(run: Attended, executionArn: string): Promise<Followed> {
  const { runId, json, tell } = run;
  const stopListening = onInterrupt(() => sayHowToGoOn(run, executionArn));
  const followed = await follow({
    executionArn,
    runId,
    screen: screenFor(json),
    pause: sleep,
    ...(tell && { tell }),
  });
  stopListening();
  return followed;
}

/**
 * @returns whether it had been started before, which is no error when it was with the same input (D12)
 * @throws RunInProgress, RunEnded when the name was used for another input
 */
export async function startOrJoin(
  { machineArn, name, input }: Pick<MachineRun, 'machineArn' | 'name' | 'input'>,
  arn: string,
): Promise<boolean> {
  if ((await startExecution(machineArn, name, input)) === 'started') return false;
  const known = await describeExecution(arn);
  if (known && isDeepStrictEqual(JSON.parse(known.input), input)) return true;
  throw startedOtherwise(name, known?.status);
}

const hasSucceeded = async (arn: string): Promise<boolean> =>
  (await describeExecution(arn))?.status === 'SUCCEEDED';

/**
 * Asks the machine about a run whose before-deploy has succeeded some time ago. It answers that the run is live in that
 * execution as long as the go-ahead holds.
 *
 * @throws RunEnded, RunInProgress as the machine says it
 */
async function refuseUnlessLive(
  { machineArn, input, runId }: MachineRun,
  name: string,
  arn: string,
): Promise<void> {
  await startExecution(machineArn, name, input);
  const quiet = { terminal: undefined, print: () => undefined };
  const { ended } = await follow({
    executionArn: executionArn(machineArn, name),
    runId,
    screen: quiet,
    pause: sleep,
  });
  if (ended.error === 'RunInProgress' && ended.cause.includes(arn)) return;
  throw ended.error === 'RunInProgress' ? new RunInProgress(ended.cause) : new RunEnded(ended.cause);
}

function startedOtherwise(name: string, status: string | undefined): Refusal {
  return status === 'RUNNING'
    ? new RunInProgress(`${name} is running with another request. Wait for it, or use another runId.`)
    : new RunEnded(`${name} was started with another request and has ended. Use another runId.`);
}

/** Leaves the execution as it is. */
function sayHowToGoOn({ name, again }: Attended, arn: string): void {
  process.stderr.write(`\n${name} goes on without you. Follow it again:\n  ${again}\nIts ARN is ${arn}.\n`);
}

function onInterrupt(say: () => void): () => void {
  const interrupt = () => {
    // Behind what a terminal still shows, which is taken away when the process ends.
    process.once('exit', say);
    process.exit(exitCode.interrupted);
  };
  process.once('SIGINT', interrupt);
  return () => process.off('SIGINT', interrupt);
}

function screenFor(json: boolean): Screen {
  const terminal = isatty(2) && process.env.TERM !== 'dumb' ? process.stderr : undefined;
  if (!json) return { terminal, print: line => process.stdout.write(`${line}\n`) };
  return { terminal, print: terminal && (line => terminal.write(`${line}\n`)) };
}

export function reportOn(runId: string, arn: string, joined: boolean, followed: Followed): RunReport {
  const { ended, events, phases, startedAt, endedAt } = followed;
  return {
    format: 'quiesce.run/1',
    runId,
    executionArn: arn,
    joined,
    ...ended,
    phases: reportPhases(phases, plannedBudgets(events), { startedAt, now: endedAt }),
  };
}

function describe({ status, error, cause, phases }: RunReport, succeeded: string): string {
  const paragraphs = [
    phaseTable(phases),
    status === 'SUCCEEDED' ? [succeeded] : [`${error}:`, ...wrap(cause, 98).map(line => `  ${line}`)],
  ];
  return paragraphs
    .filter(lines => lines.length > 0)
    .map(lines => `\n${lines.join('\n')}\n`)
    .join('');
}
