import { readRequest, runRequest, withDefaultPolicy } from '../../functions/core/request.ts';
import { optInTag } from '../../functions/core/settings.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { fleetOptions, readFleetRequest } from './fleet-request.ts';
import { document } from './format.ts';
import { tableNamed, tableOption, useEmptyLedger, useLedger } from './ledger-table.ts';
import { reportOnPlan } from './plan-report.ts';
import { describePlan } from './plan-text.ts';
import { readOnly } from './reading-only.ts';
import { beforeDeployOption, stackDefaults } from './stack-defaults.ts';

const options = {
  ...fleetOptions,
  'opt-in-value': {
    type: 'string',
    value: 'V',
    about:
      'The value of the tag quiesce by which resources opt in; that of the stack (--machine), or enabled, unless given.',
  },
  machine: beforeDeployOption,
  table: {
    ...tableOption,
    about: `${tableOption.about} Without one the plan is made as if there were no other runs and no zone event, which is so where Quiesce is not deployed yet.`,
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (PlanReport in local/cli/plan-report.ts) and nothing else.',
  },
} as const;

export const planCommand: Command = {
  name: 'plan',
  about:
    'Shows what a run would do to a fleet, within which budgets, and why it would be refused. It reads with Describe, List and Get calls only, and can make no other.',
  options,
  examples: [
    'quiesce plan --auto-scaling-group web',
    'quiesce plan --request request.json --table quiesce-Ledger-1ABC --json',
    'quiesce plan --deployment d-A1B2C3D4E --machine arn:aws:states:eu-west-1:111122223333:stateMachine:BeforeDeploy-1ABC',
  ],
  endsWith: {
    ok: 'The run would begin.',
    failed: 'It would be refused: the error and its sentence are shown.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readOptions('plan', options, args);
  if (positionals.length > 0) throw new UsageError('plan takes options only: see quiesce plan --help.');
  const given = readFleetRequest(values);
  const table = tableNamed(values.table);
  readOnly();
  if (table === undefined) useEmptyLedger();
  else useLedger(table);
  const stack = await stackDefaults(values.machine);
  const request = readRequest(runRequest, withDefaultPolicy(given, stack?.defaultPolicy ?? '{}'));
  const optIn = optInTag(values['opt-in-value'] ?? stack?.optInTagValue ?? 'enabled');
  const report = await reportOnPlan(request, optIn, { table, stack });
  process.stdout.write(values.json ? document(report) : describePlan(report));
  return report.refusals.length === 0 ? exitCode.ok : exitCode.failed;
}
