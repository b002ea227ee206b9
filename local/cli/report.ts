import type { HistoryEvent } from '@aws-sdk/client-sfn';
import { findAdoption } from '../../functions/core/ledger/adoptions.ts';
import type { RunRecord } from '../../functions/core/ledger/items.ts';
import { findRun } from '../../functions/core/ledger/runs.ts';
import { describeAdoption, groupOf, tellAdoption } from './adoption-report.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { HistoryReader } from './execution-history.ts';
import { checkWritable, writeOut } from './files.ts';
import { document } from './format.ts';
import { tableNamed, tableOption, useLedger } from './ledger-table.ts';
import { describeRetirement, retiredBy, tellRetirement } from './retirement-report.ts';
import { type RunTold, reportOnRun, type ToldExecution, tellExecution } from './run-report.ts';
import { describeReport } from './run-text.ts';

const options = {
  timeline: {
    type: 'string',
    value: 'FILE',
    file: true,
    about: 'Write the run as an HTML page: a lane an instance, and the phases.',
  },
  table: {
    ...tableOption,
    about: `${tableOption.about} It tells the instances of a fleet that the request names otherwise, held groups, and which after-deploy belongs to a before-deploy.`,
  },
  json: {
    ...jsonOption,
    about:
      'Print one JSON document (RunTold in local/cli/run-report.ts, AdoptionTold in adoption-report.ts or RetirementTold in retirement-report.ts) and nothing else.',
  },
} as const;

export const reportCommand: Command = {
  name: 'report',
  about:
    "Tells what a run, an adoption or a retirement did: its phases with their budgets and how much of them it used, its state transitions and what they cost. Read from the executions' histories, which Step Functions keeps for 90 days.",
  operands: 'EXECUTION_ARN [EXECUTION_ARN]',
  operandsAbout:
    'The executions of one run: of before-deploy, of after-deploy, or of both. Or one of promote-check or of retire-check.',
  operandChoices: [],
  options,
  examples: [
    'quiesce report arn:aws:states:eu-west-1:111122223333:execution:quiesce-BeforeDeploy:before-release-42-8068f5e07db8dd98 --timeline run.html',
  ],
  endsWith: { ok: 'It is told, whatever became of it.', failed: 'The histories cannot be read.' },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('report', options, args, true);
  const arns = readArns(positionals);
  if (values.timeline !== undefined) checkWritable(values.timeline);
  const table = tableNamed(values.table);
  if (table !== undefined) useLedger(table);
  const histories = await Promise.all(
    arns.map(async arn => ({ arn, events: await new HistoryReader(arn).news() })),
  );
  const [only, ...others] = histories;
  const group = only && others.length === 0 ? groupOf(only.events) : undefined;
  if (only && group !== undefined) return tellOfAdoption(only, group, { ...values, table });
  const subject = only && others.length === 0 ? retiredBy(only.events) : undefined;
  if (only && subject !== undefined) return tellOfRetirement(only, subject, values);
  const given = histories.map(readExecution);
  const record = table === undefined ? undefined : await findRun(given[0]?.runId ?? '');
  const executions = inOrder([...given, ...(await otherHalf(given, record))]);
  const lastEvent = Math.max(...executions.map(({ events }) => events.at(-1)?.timestamp?.getTime() ?? 0));
  // An account whose clock is ahead of ours is believed.
  const now = Math.max(Date.now(), lastEvent);
  const report = reportOnRun(executions, record, now);
  if (values.timeline !== undefined) {
    const until = report.outcome.status === 'running' ? now : lastEvent;
    await writeTimeline(values.timeline, report, executions, until);
  }
  process.stdout.write(values.json ? document(report) : describeReport(report));
  return exitCode.ok;
}

interface History {
  readonly arn: string;
  readonly events: readonly HistoryEvent[];
}

const EXECUTION_ARN = /^arn:[^:]+:states:([^:]+):\d{12}:execution:[0-9A-Za-z_-]+:[^:]+$/;

/** The Region is the executions', whatever the environment says. @throws UsageError */
function readArns(given: readonly string[]): readonly string[] {
  if (given.length < 1 || given.length > 2)
    throw new UsageError('Name one or two executions of a run by their ARNs: see quiesce report --help.');
  const [region, ...others] = new Set(
    given.map(arn => {
      const region = EXECUTION_ARN.exec(arn)?.[1];
      if (region === undefined) throw new UsageError(`${arn} is not the ARN of an execution.`);
      return region;
    }),
  );
  if (others.length > 0)
    throw new UsageError('The two executions are in different Regions, so not of one run.');
  process.env.AWS_REGION = region;
  return given;
}

/** @throws UsageError when it is an execution of another machine */
function readExecution({ arn, events }: History): ToldExecution {
  const told = tellExecution(arn, events);
  if (told) return told;
  throw new UsageError(
    `${arn} is no execution of before-deploy, after-deploy, promote-check or retire-check.`,
  );
}

/** @throws UsageError when a timeline is asked for, which only a run has */
async function tellOfAdoption(
  { arn, events }: History,
  autoScalingGroupName: string,
  {
    timeline,
    table,
    json,
  }: { readonly timeline?: string; readonly table: string | undefined; readonly json: boolean },
): Promise<number> {
  if (timeline !== undefined) throw new UsageError('An adoption has no timeline: leave --timeline out.');
  const record = table === undefined ? undefined : await findAdoption(autoScalingGroupName);
  const told = tellAdoption({ executionArn: arn, autoScalingGroupName, events, record, now: Date.now() });
  process.stdout.write(json ? document(told) : describeAdoption(told));
  return exitCode.ok;
}

/** @throws UsageError when a timeline is asked for */
function tellOfRetirement(
  { arn, events }: History,
  subject: string,
  { timeline, json }: { readonly timeline?: string; readonly json: boolean },
): number {
  if (timeline !== undefined) throw new UsageError('A retirement has no timeline: leave --timeline out.');
  const told = tellRetirement({ subject, executionArn: arn, events, joined: true, now: Date.now() });
  process.stdout.write(json ? document(told) : describeRetirement(told));
  return exitCode.ok;
}

/**
 * The ledger names the execution that the run belongs to: after-deploy's, once that was started, and undo-run's
 * once that has taken the run over, which is not a half of it.
 */
async function otherHalf(
  given: readonly ToldExecution[],
  record: RunRecord | undefined,
): Promise<ToldExecution[]> {
  const known = given.some(({ executionArn, phase }) => executionArn === record?.owner || phase === 'after');
  if (record === undefined || known) return [];
  const told = tellExecution(record.owner, await new HistoryReader(record.owner).news());
  return told ? [told] : [];
}

/** @throws UsageError when they are not of one run */
function inOrder(executions: readonly ToldExecution[]): readonly [ToldExecution, ...ToldExecution[]] {
  const [first, ...others] = executions.toSorted((a, b) => a.startedAt - b.startedAt);
  if (!first || others.some(({ runId, phase }) => runId !== first.runId || phase === first.phase))
    throw new UsageError('The executions are not the two halves of one run.');
  return [first, ...others];
}

async function writeTimeline(
  path: string,
  { runId, outcome, instanceIds, held, cost }: RunTold,
  executions: readonly ToldExecution[],
  until: number,
): Promise<void> {
  const { renderTimeline, timelineOfRun } = await import('../timeline.ts');
  const data = timelineOfRun({
    runId,
    outcome,
    instanceIds,
    held,
    histories: executions.map(({ events }) => events),
    until,
    usDollars: cost.stateTransitionsUsDollars,
  });
  writeOut(path, renderTimeline(data));
}
