import type { Scenario } from '../simulate/scenario.ts';
import { table } from './format.ts';
import { machineVariables } from './machine-option.ts';
import type { Pace } from './pace.ts';
import type { ServedAccount } from './served-account.ts';

/** What `quiesce serve --json` prints first. */
export interface Served {
  /** Changes when a member changes its meaning or goes away. */
  readonly format: 'quiesce.served/1';
  readonly scenario: string;
  readonly speed: Pace;
  /** What to export. */
  readonly environment: Readonly<Record<string, string>>;
  readonly instances: readonly { readonly instanceId: string; readonly zone: string }[];
  readonly autoScalingGroupName: string | null;
  readonly targetGroups: readonly { readonly name: string; readonly arn: string }[];
  readonly checkIds: readonly string[];
  /** ARNs by the machine's name in the template. */
  readonly machines: Readonly<Record<string, string>>;
}

export function servedOf({ url, standing, stack }: ServedAccount, scenario: Scenario, speed: Pace): Served {
  const { fleet, account } = standing;
  const { machines, tables } = stack.template;
  return {
    format: 'quiesce.served/1',
    scenario: scenario.name,
    speed,
    environment: {
      AWS_ENDPOINT_URL: url,
      // Nobody checks them, and no real account knows them.
      AWS_ACCESS_KEY_ID: 'simulated',
      AWS_SECRET_ACCESS_KEY: 'simulated',
      AWS_REGION: account.world.region,
      AWS_DEFAULT_REGION: account.world.region,
      QUIESCE_LEDGER_TABLE: tables.get('Ledger')?.name ?? '',
      ...machineVariables(machine => machines.get(machine)?.arn ?? ''),
    },
    instances: fleet.instances.map(({ id, zone }) => ({ instanceId: id, zone })),
    autoScalingGroupName: fleet.groupName ?? null,
    targetGroups: fleet.targetGroups.map(({ name, arn }) => ({ name, arn })),
    checkIds: fleet.checkIds,
    machines: Object.fromEntries([...machines].map(([name, { arn }]) => [name, arn])),
  };
}

const SPEED_WORDS: ReadonlyMap<Pace, string> = new Map<Pace, string>([
  [1, 'in real time'],
  ['max', 'as fast as possible while an execution runs'],
]);

export function describeServed(served: Served): string {
  const { environment, instances, autoScalingGroupName, targetGroups, checkIds, machines } = served;
  const speed = SPEED_WORDS.get(served.speed) ?? `${served.speed} times as fast as real time`;
  const half = instances.slice(0, Math.ceil(instances.length / 2)).map(({ instanceId }) => instanceId);
  return [
    `Quiesce is deployed in a simulated account with the fleet of ${served.scenario}, ${speed}.`,
    '',
    'In another shell:',
    '  unset AWS_PROFILE AWS_SESSION_TOKEN',
    ...Object.entries(environment).map(([name, value]) => `  export ${name}=${value}`),
    '',
    ...indented([
      ...instances.map(({ instanceId, zone }) => ['instance', instanceId, zone]),
      ...(autoScalingGroupName ? [['Auto Scaling group', autoScalingGroupName]] : []),
      ...targetGroups.map(({ name, arn }) => ['target group', name, arn]),
      ...checkIds.map(id => ['check', id]),
      ...Object.entries(machines).map(([name, arn]) => ['state machine', name, arn]),
    ]),
    '',
    'For example:',
    `  quiesce plan --instances ${half.join(',')}`,
    `  aws ec2 describe-instances --instance-ids ${half.join(' ')}`,
    '',
    'Ctrl-C ends it. What happens:',
  ].join('\n');
}

const indented = (rows: readonly (readonly string[])[]): string[] =>
  table(rows, 'to the left').map(line => `  ${line}`);
