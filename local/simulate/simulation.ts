import '../clock/lambda-globals.ts';
import { fileURLToPath } from 'node:url';
import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Account } from '../account/account.ts';
import { createAccount } from '../account/account.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { Entry } from '../account/journal.ts';
import type { Physics } from '../account/physics.ts';
import { createWorld } from '../account/world.ts';
import { deployStack, type Stack } from '../stack/deploy.ts';
import type { Code } from '../stack/handlers.ts';
import { outsideInvocations } from '../wire/invocation.ts';
import { type BuiltFleet, buildFleet } from './build-fleet.ts';
import { type DeploymentResult, deploy } from './deployment.ts';
import { scheduleEvents } from './events.ts';
import { Invariants, type Violation } from './invariants.ts';
import { type Measures, measure } from './measures.ts';
import type { Scenario } from './scenario.ts';

export interface SimulationSettings {
  readonly scenario: Scenario;
  readonly seed?: number;
  /** Deploy with nothing that protects the fleet. */
  readonly without?: boolean;
  readonly code?: Code;
  /** Hears everything that happens, as it happens. */
  readonly hear?: (entry: Entry) => void;
}

export interface Simulated {
  readonly deployment: DeploymentResult;
  readonly violations: readonly Violation[];
  readonly measures: Measures;
  readonly account: Account;
  readonly fleet: BuiltFleet;
  /** Undefined without Quiesce. */
  readonly stack: Stack | undefined;
  /** Milliseconds since the epoch: when the deployment began. */
  readonly startedAt: number;
}

const TEMPLATE = fileURLToPath(new URL('../../template.yaml', import.meta.url));
const MINUTE = 60_000;

/** Runs a scenario from start to end in virtual time. @throws what the product or the account did not expect */
export async function simulate(settings: SimulationSettings): Promise<Simulated> {
  const { scenario, seed = scenario.seed, without = false, code = 'source' } = settings;
  const world = createWorld({ seed, physics: scenario.physics as Partial<Physics> });
  const account = createAccount(world);
  const { clock } = world;
  const fleet = buildFleet(account, scenario);
  await clock.runFor(settle(account, fleet), 60 * MINUTE);
  suppressAsOthers(account, fleet, scenario);

  const invariants = new Invariants(account, fleet, scenario);
  const stack = without
    ? undefined
    : await deployStack({
        world,
        templatePath: TEMPLATE,
        services: account.services,
        tags: account.tags,
        code,
        gates: [invariants.gate],
      });
  if (stack) account.onEvent(event => stack.events.put(event));
  const { hear } = settings;
  // What a listener prints is not a function's log line.
  if (hear) world.journal.listen(entry => outsideInvocations(() => hear(entry)));
  startTraffic(account, fleet, scenario);

  const startedAt = clock.now();
  scheduleEvents(account, fleet, scenario, stack);
  const deployment = await clock.runFor(deploy(account, fleet, scenario, stack), 48 * 60 * MINUTE);
  const endedAt = clock.now();
  account.traffic.stop();
  // Long enough for what was set in motion to show: marks, replacements, a release that is spreading.
  await clock.pass(15 * MINUTE);
  invariants.checkEnd(stack, stack ? await clock.runFor(ledgerItems(stack)) : []);
  return {
    deployment,
    violations: invariants.violations,
    measures: measure(account, fleet, startedAt, endedAt),
    account,
    fleet,
    stack,
    startedAt,
  };
}

/** Waits until every target is healthy and every check has an opinion, as in a fleet that has run for long. */
async function settle(account: Account, fleet: BuiltFleet): Promise<void> {
  const { clock } = account.world;
  const settled = () =>
    fleet.instances.every(instance => {
      const states = fleet.targetGroups.flatMap(group => account.loadBalancing.statesOf(group.arn, instance));
      return (
        account.checks.overall(instance.id).status !== 'initializing' &&
        states.every(({ state }) => state !== 'initial')
      );
    });
  while (!settled()) await clock.sleep(5_000);
  // The Describe calls lag by up to a minute.
  await clock.sleep(2 * MINUTE);
}

function suppressAsOthers(
  account: Account,
  fleet: BuiltFleet,
  { fleet: { suppressedByOthers } }: Scenario,
): void {
  if (!suppressedByOthers) return;
  ec2Api(account.checks).EnableApplicationStatusCheckSuppression({
    InstanceIds: fleet.instances.slice(0, suppressedByOthers.instances).map(instance => instance.id),
    ...(suppressedByOthers.seconds === undefined ? {} : { DurationSeconds: suppressedByOthers.seconds }),
  });
}

function startTraffic(account: Account, fleet: BuiltFleet, scenario: Scenario): void {
  scenario.fleet.targetGroups.forEach(({ traffic }, index) => {
    const group = fleet.targetGroups[index];
    if (!traffic || !group) return;
    account.traffic.generate(group.arn, {
      requestsPerSecond: traffic.requestsPerSecond,
      short: { ms: traffic.shortMs },
      long: { share: traffic.longShare, ms: traffic.longMs },
    });
  });
}

/** The keys of what is left in the ledger. */
async function ledgerItems({ template, wire }: Stack): Promise<{ readonly pk: string }[]> {
  const client = new DynamoDBClient({
    region: 'local',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'operator' },
    requestHandler: wire.transport(),
  });
  const TableName = template.tables.get('Ledger')?.name;
  const keys: { pk: string }[] = [];
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({ TableName, ProjectionExpression: 'pk', ExclusiveStartKey: from }),
    );
    keys.push(...(page.Items ?? []).map(item => ({ pk: item.pk?.S ?? '' })));
    from = page.LastEvaluatedKey;
  } while (from);
  return keys;
}
