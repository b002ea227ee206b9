import { executionArn } from '../../functions/core/aws/step-functions.ts';
import { checkQuotas } from '../../functions/core/check-quotas.ts';
import { shellLine } from '../../functions/core/domain/aws-cli.ts';
import type { CheckQuotas } from '../../functions/core/domain/monitoring.ts';
import { executionName } from '../../functions/core/naming.ts';
import { reportAlarms } from './alarms-report.ts';
import { describeAlarms } from './alarms-text.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { document, wrap } from './format.ts';
import { machineOption, readMachineArn } from './machine-option.ts';
import { readOnly } from './reading-only.ts';
import { attend, sayBeginning, startOrJoin } from './run-machine.ts';

const ACTS = ['plan', 'apply'] as const;

const options = {
  machine: machineOption('ReconcileAlarms'),
  quotas: {
    type: 'string',
    value: 'JSON',
    default: '{}',
    about: "The account's quotas of checks where AWS has raised them, as the stack's parameter CheckQuotas.",
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (AlarmsReport in local/cli/alarms-report.ts) and nothing else.',
  },
} as const;

export const alarmsCommand: Command = {
  name: 'alarms',
  about:
    'Shows the alarms on checks that ring, those that are to be made, changed or removed, what they cost, and the instances that a check should report on and does not. `plan` reads only; `apply` starts reconcile-alarms, follows it, and shows what is left. A stack whose parameter Alarms is Disabled has all of them removed.',
  operands: 'plan|apply',
  operandsAbout: 'plan unless given.',
  operandChoices: ACTS,
  options,
  examples: [
    'quiesce alarms --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-ReconcileAlarms',
    'quiesce alarms apply --machine arn:aws:states:eu-west-1:111122223333:stateMachine:quiesce-ReconcileAlarms --json',
  ],
  endsWith: {
    ok: 'The alarms are shown, or are as they should be, and every target is monitored.',
    failed: 'The reconciliation failed, something could not be read, or EC2 reports nothing on a target.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('alarms', options, args, true);
  const [act = 'plan', ...more] = positionals;
  if (!ACTS.some(one => one === act) || more.length > 0)
    throw new UsageError(`Say one of ${ACTS.join(', ')}: quiesce alarms plan.`);
  const quotas = quotasIn(values.quotas);
  const machineArn = readMachineArn('ReconcileAlarms', values.machine);
  const failure = act === 'apply' ? await reconcile(machineArn, args, values.json) : undefined;
  if (act === 'plan') readOnly();
  const report = await reportAlarms(machineArn, quotas);
  process.stdout.write(values.json ? document(report) : describeAlarms(report));
  if (failure !== undefined) process.stderr.write(`${wrap(failure, 98).join('\n')}\n`);
  return failure === undefined && report.unmonitored.length === 0 ? exitCode.ok : exitCode.failed;
}

/** @throws UsageError */
function quotasIn(text: string): CheckQuotas {
  try {
    return checkQuotas(text);
  } catch (error) {
    throw new UsageError(`--quotas: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** @returns why it failed */
async function reconcile(
  machineArn: string,
  args: readonly string[],
  json: boolean,
): Promise<string | undefined> {
  const name = executionName('alarms', String(Date.now()));
  const arn = executionArn(machineArn, name);
  const joined = await startOrJoin({ machineArn, name, input: {} }, arn);
  const again = shellLine(['npx', 'quiesce', 'alarms', ...args.filter(arg => arg !== 'apply')]);
  sayBeginning({ name, json, begins: 'The reconciliation of the alarms begins' }, joined, arn);
  const { ended } = await attend({ runId: 'alarms', name, again, json }, arn);
  return ended.status === 'SUCCEEDED' ? undefined : `${ended.error}: ${ended.cause}`;
}
