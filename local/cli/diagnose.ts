import { type Diagnosis, diagnose } from '../../functions/core/domain/diagnosis.ts';
import type { ObservedFleet } from '../../functions/core/domain/observed-fleet.ts';
import { type Command, exitCode, jsonOption, readOptions, UsageError } from './command.ts';
import { describeDiagnosis } from './diagnose-text.ts';
import { fleetOptions } from './fleet-request.ts';
import { document } from './format.ts';
import { tableNamed, tableOption, useLedger } from './ledger-table.ts';
import { type FleetName, observeFleet } from './observed-fleet.ts';
import { readOnly } from './reading-only.ts';

const options = {
  instances: { ...fleetOptions.instances, about: 'The instances with these ids.' },
  'auto-scaling-group': {
    ...fleetOptions['auto-scaling-group'],
    about: 'The instances of this Auto Scaling group, with the target groups attached to it.',
  },
  'target-group': {
    type: 'string',
    value: 'ARN',
    about: 'The instances behind this target group.',
  },
  table: {
    ...tableOption,
    about:
      "The ledger's table, which has what the load balancers' nodes saw, by their health check logs (docs/logs.md). The environment variable QUIESCE_LEDGER_TABLE unless given; without it the logs are left out.",
  },
  metrics: {
    type: 'boolean',
    default: false,
    about: "Also what CloudWatch has counted of the target groups' requests and of their failures.",
  },
  json: {
    ...jsonOption,
    about: 'Print one JSON document (DiagnosisReport in local/cli/diagnose.ts) and nothing else.',
  },
} as const;

/** What `quiesce diagnose --json` prints. */
export interface DiagnosisReport extends Diagnosis {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.diagnosis/1';
  /** What was seen, by which the rest is said. Times are milliseconds since the epoch. */
  readonly seen: ObservedFleet;
}

export const diagnoseCommand: Command = {
  name: 'diagnose',
  about:
    'Says what is wrong with a fleet, how far it reaches and where to look, from what its checks and its load balancers say. It reads only, and can make no other call.',
  options,
  examples: [
    'quiesce diagnose --auto-scaling-group web',
    'quiesce diagnose --instances i-0123456789abcdef0,i-0123456789abcdef1 --json',
  ],
  endsWith: {
    ok: 'Nothing is wrong.',
    failed: 'Something is wrong, or could not be read.',
  },
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values } = readOptions('diagnose', options, args);
  const name = fleetNameOf(values);
  readOnly();
  const table = tableNamed(values.table);
  if (table !== undefined) useLedger(table);
  const seen = await observeFleet(name, { logs: table !== undefined, metrics: values.metrics });
  const diagnosis = diagnose(seen);
  const report: DiagnosisReport = { format: 'quiesce.diagnosis/1', ...diagnosis, seen };
  process.stdout.write(values.json ? document(report) : describeDiagnosis(seen, diagnosis));
  return diagnosis.well ? exitCode.ok : exitCode.failed;
}

interface Values {
  readonly instances?: string | undefined;
  readonly 'auto-scaling-group'?: string | undefined;
  readonly 'target-group'?: string | undefined;
}

/** @throws UsageError unless exactly one fleet is named, by ids and ARNs that are some */
function fleetNameOf(values: Values): FleetName {
  const { instances, 'auto-scaling-group': group, 'target-group': arn } = values;
  const [value, ...more] = [instances, group, arn].filter(given => given !== undefined);
  if (value === undefined || more.length > 0)
    throw new UsageError('Name the fleet by one of --instances, --auto-scaling-group, --target-group.');
  if (group !== undefined) return { kind: 'auto-scaling-group', name: group };
  if (arn !== undefined) {
    if (!/^arn:[^:]+:elasticloadbalancing:.*:targetgroup\//.test(arn))
      throw new UsageError(`--target-group: ${arn} is no ARN of a target group.`);
    return { kind: 'target-group', arn };
  }
  const instanceIds = [...new Set(value.split(',').map(id => id.trim()))];
  for (const id of instanceIds)
    if (!/^i-[0-9a-f]+$/.test(id)) throw new UsageError(`--instances: '${id}' is no id of an instance.`);
  return { kind: 'instances', instanceIds };
}
