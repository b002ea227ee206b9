import { optInTag } from '../../functions/core/settings.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { fleetOptions, readFleetRequest } from './fleet-request.ts';
import { document } from './format.ts';
import { tableNamed, tableOption, useEmptyLedger, useLedger } from './ledger-table.ts';
import { reportOnPlan } from './plan-report.ts';
import { describePlan } from './plan-text.ts';
import { readOnly } from './reading-only.ts';

const options = {
  ...fleetOptions,
  'opt-in-value': {
    type: 'string',
    value: 'V',
    default: 'enabled',
    about:
      'The value of the tag quiesce by which resources opt in: OptInTagValue of the stack; enabled unless given.',
  },
  table: {
    ...tableOption,
    about: `${tableOption.about} Without one the plan is made as if there were no other runs, which is so where Quiesce is not deployed yet.`,
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
  const request = readFleetRequest(values);
  const table = tableNamed(values.table);
  readOnly();
  if (table === undefined) useEmptyLedger();
  else useLedger(table);
  const report = await reportOnPlan(request, optInTag(values['opt-in-value']), table);
  process.stdout.write(values.json ? document(report) : describePlan(report));
  return report.refusals.length === 0 ? exitCode.ok : exitCode.failed;
}
