import '../clock/lambda-globals.ts';
import { fileURLToPath } from 'node:url';
import { type AttributeValue, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Account } from '../account/account.ts';
import { createAccount } from '../account/account.ts';
import type { CheckQuotas } from '../account/check-registry.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { Entry } from '../account/journal.ts';
import type { Physics } from '../account/physics.ts';
import { createWorld } from '../account/world.ts';
import type { VirtualClock } from '../clock/virtual-clock.ts';
import { deployStack, type Stack, type StackSettings } from '../stack/deploy.ts';
import type { Code } from '../stack/handlers.ts';
import type { Gate } from '../wire/contract.ts';
import { outsideInvocations } from '../wire/invocation.ts';
import { type BuiltFleet, buildFleet } from './build-fleet.ts';
import { type DeploymentResult, deploy, type Site } from './deployment.ts';
import { scheduleEvents } from './events.ts';
import type { Violation } from './evidence.ts';
import { refuseExecutionLoops } from './execution-loops.ts';
import { FaultSchedule } from './fault-schedule.ts';
import { giveBack, heldIn } from './held.ts';
import { Invariants } from './invariants.ts';
import { holdsNothing, type LedgerItem } from './judge-end.ts';
import { type Measures, measure } from './measures.ts';
import { lingeringIn, watchesInterfaces } from './retirements.ts';
import { rivalName } from './runs.ts';
import type { Scenario } from './scenario.ts';
import { type Warnings, warningsBetween } from './warnings.ts';

export interface SimulationSettings {
  readonly scenario: Scenario;
  readonly seed?: number;
  /** When the account begins, in milliseconds since the epoch; always at the same instant unless given. */
  readonly startsAt?: number;
  /** Deploy with nothing that protects the fleet. */
  readonly without?: boolean;
  readonly code?: Code;
  /** Another template to deploy than the product's own, with the functions and machines beside it. */
  readonly templatePath?: string;
  /** Hears everything that happens, as it happens. */
  readonly hear?: (entry: Entry) => void;
  /** The account's quotas of application status checks, where they are not AWS's defaults. */
  readonly quotas?: Partial<CheckQuotas>;
  /** Further gates before every call to the account: what measures, throttles or fails. Asked for when the fleet stands. */
  readonly gates?: (account: Account) => readonly Gate[];
  /** May an invocation of a function die between two of its calls? */
  readonly dies?: StackSettings['dies'];
  /** Parameters of the template, where they do not have their defaults. */
  readonly parameters?: StackSettings['parameters'];
  /** When events reach a rule: none for a lost one, two for a duplicate. */
  readonly deliveries?: StackSettings['deliveries'];
  /** Is shown the account when the deployment is about to begin. */
  readonly begun?: (scene: Scene) => void;
}

/** What a deployment is about to change. */
export interface Scene {
  readonly account: Account;
  readonly fleet: BuiltFleet;
  /** Undefined without Quiesce. */
  readonly stack: Stack | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface Simulated extends Scene {
  readonly deployment: DeploymentResult;
  /** In the order of the scenario's rivals. */
  readonly rivals: readonly DeploymentResult[];
  readonly violations: readonly Violation[];
  /** At how many instants something happened that the invariants were checked against. */
  readonly checkedInstants: number;
  /** Instances that were held, 15 minutes after the deployment had ended. */
  readonly held: readonly string[];
  readonly measures: Measures;
  readonly warnings: Warnings;
  /** Undefined when the scenario has none. */
  readonly faults: FaultSchedule | undefined;
  /** When the last deployment was over, in milliseconds since the epoch. */
  readonly endedAt: number;
  /** Until when what happens counts. What a deployment has set in motion may show when it is over. */
  readonly seenUntil: number;
  /** Which of the scenario's events had not happened by then although they must not be missed, counted from 0. */
  readonly missed: readonly number[];
}

const TEMPLATE = fileURLToPath(new URL('../../template.yaml', import.meta.url));
const MINUTE = 60_000;
/** The machines' own time-out, and some more. */
const LONGEST_RUN_MINUTES = 250;

/** A fleet that has run for long, with Quiesce deployed beside it unless it is left out. */
export interface Standing extends Site {
  readonly invariants: Invariants;
  readonly faults: FaultSchedule | undefined;
  /** Stops telling what happens. Undefined where nobody hears it. */
  readonly unheard: (() => void) | undefined;
}

/** Builds a scenario's account up to the moment before its deployment begins. */
export async function standUp(settings: SimulationSettings): Promise<Standing> {
  const { scenario, seed = scenario.seed, without = false, code = 'source' } = settings;
  const world = createWorld({
    seed,
    physics: scenario.physics as Partial<Physics>,
    ...(settings.startsAt !== undefined && { startsAt: settings.startsAt }),
  });
  const account = createAccount(world, settings.quotas ?? quotasOf(scenario));
  const { clock } = world;
  const fleet = buildFleet(account, scenario);
  await clock.runFor(settle(account, fleet), 60 * MINUTE);
  if (scenario.fleet.suppressedByOthers) await clock.runFor(suppressAsOthers(account, fleet, scenario));

  refuseExecutionLoops(world, scenario.fleet.instances);
  const invariants = new Invariants(account, fleet, scenario);
  const faults = scenario.faults && new FaultSchedule(world, scenario.faults);
  const { dies = faults?.dies, deliveries = faults?.deliveries } = settings;
  const stack = without
    ? undefined
    : await deployStack({
        world,
        templatePath: settings.templatePath ?? TEMPLATE,
        services: account.services,
        tags: account.tags,
        alarms: account.alarms,
        code,
        gates: [...(settings.gates?.(account) ?? []), ...(faults ? [faults.gate] : []), invariants.gate],
        ...(dies && { dies }),
        parameters: { ...scenario.parameters, ...settings.parameters },
        ...(deliveries && { deliveries }),
      });
  if (stack) account.onEvent(event => stack.events.put(event));
  const { hear } = settings;
  // What a listener prints is not a function's log line.
  const unheard = hear && world.journal.listen(entry => outsideInvocations(() => hear(entry)));
  return { account, fleet, scenario, stack, invariants, faults, unheard };
}

/** Runs a scenario from start to end in virtual time. @throws what the product or the account did not expect */
export async function simulate(settings: SimulationSettings): Promise<Simulated> {
  const standing = await standUp(settings);
  const { account, fleet, scenario, stack, invariants, faults } = standing;
  const { clock } = account.world;
  startTraffic(account, fleet, scenario);

  const startedAt = clock.now();
  settings.begun?.({ account, fleet, stack, startedAt });
  const ahead = scheduleEvents(account, fleet, scenario, stack);
  const all = Promise.all([
    deploy(standing, { name: scenario.name, spec: scenario.deployment }),
    ...scenario.rivals.map(async (spec, index) => {
      await clock.sleep(spec.atSeconds * 1000);
      return deploy(standing, { name: rivalName(scenario, index), spec });
    }),
  ]);
  const [deployment, ...rivals] = await clock.runFor(all, 48 * 60 * MINUTE);
  const endedAt = clock.now();
  const missed = [...(stack ? ahead : [])].filter(event => !event.mayMiss);
  account.traffic.stop();
  if (isOnlyWatched(scenario)) standing.unheard?.();
  const held = await settleEnd(standing);
  const seenUntil = isOnlyWatched(scenario) ? endedAt : clock.now();
  return {
    deployment,
    rivals,
    violations: invariants.violations,
    checkedInstants: invariants.checkedInstants,
    held,
    measures: measure(account, { startedAt, endedAt, seenUntil }),
    warnings: warningsBetween(account, stack, startedAt, endedAt),
    account,
    fleet,
    stack,
    faults,
    startedAt,
    endedAt,
    seenUntil,
    missed: missed.map(event => scenario.events.indexOf(event)),
  };
}

/** What goes on in a fleet that nothing is deployed to does so for as long as one looks. */
const isOnlyWatched = ({ deployment: { idleMinutes, adopt } }: Scenario): boolean =>
  idleMinutes !== undefined || adopt !== undefined;

/** Without those that the scenario leaves as they are. */
const quotasOf = ({ quotas }: Scenario): Partial<CheckQuotas> =>
  Object.fromEntries(Object.entries(quotas).filter(([, quota]) => quota !== undefined));

/** How long what an undo has left is looked for by the sweep, which pauses longer from one time to the next. */
const SWEPT_WITHIN = 45 * MINUTE;

/**
 * Lets what was set in motion end: faults, runs that are being undone, then what only shows late (marks, replacements, a
 * release that is spreading). Gives back what is held, and checks what is left.
 *
 * @returns the instances that were held
 */
export async function settleEnd({
  account,
  scenario,
  stack,
  invariants,
  faults,
}: Standing): Promise<readonly string[]> {
  const { clock } = account.world;
  // CodeDeploy brings up to date by itself what was launched during a deployment.
  const isDeploying = () =>
    [...account.codeDeploy.deployments()].some(({ isLive, facts }) => isLive && facts.revision !== undefined);
  const isRunning = () =>
    isDeploying() || [...(stack?.executions.all() ?? [])].some(({ status }) => status === 'RUNNING');
  await clock.pass(Math.max(0, (faults?.endsAt ?? 0) - clock.now()));
  const runsEnd = async () => {
    for (let waited = 0; waited < LONGEST_RUN_MINUTES && isRunning(); waited++) await clock.pass(MINUTE);
  };
  await runsEnd();
  await clock.pass(15 * MINUTE);
  const held = stack && (await clock.runFor(heldIn(stack)));
  if (stack && held && held.instanceIds.length > 0) {
    await clock.runFor(giveBack(stack, held));
    await clock.pass(15 * MINUTE);
  }
  if (stack) await sweptOrOverdue(stack, clock);
  await runsEnd();
  if (stack && watchesInterfaces(scenario)) {
    await watchedOut(account);
    await runsEnd();
  }
  invariants.checkEnd(stack, stack ? await clock.runFor(ledgerItems(stack)) : []);
  return held?.instanceIds ?? [];
}

/** A run that waits for an after-deploy is the sweep's only when its time is over; what an undo has left is so at once. */
async function sweptOrOverdue(stack: Stack, clock: VirtualClock): Promise<void> {
  const ended = clock.now();
  for (;;) {
    const items = await clock.runFor(ledgerItems(stack));
    const waits = items.some(({ status }) => status === 'live');
    const latest = ended + (waits ? LONGEST_RUN_MINUTES * MINUTE : SWEPT_WITHIN);
    if (clock.now() >= latest || !(waits || items.some(({ pk }) => !holdsNothing(pk)))) return;
    await clock.pass(5 * MINUTE);
  }
}

/** What checks have left is looked for every 15 minutes: once more when no interface lingers any more, if that can be waited for. */
async function watchedOut(account: Account): Promise<void> {
  const { clock, physics } = account.world;
  const latest = clock.now() + Math.min(physics.interfaceLingerMinutes[1], 120) * MINUTE;
  while (lingeringIn(account).size > 0 && clock.now() < latest) await clock.pass(5 * MINUTE);
  await clock.pass(20 * MINUTE);
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

/** Ten minutes before the deployment, so that it is described as suppressed when that begins. */
async function suppressAsOthers(
  account: Account,
  fleet: BuiltFleet,
  { fleet: { suppressedByOthers } }: Scenario,
): Promise<void> {
  if (!suppressedByOthers) return;
  const { instances, seconds } = suppressedByOthers;
  ec2Api(account.checks).EnableApplicationStatusCheckSuppression({
    InstanceIds: fleet.instances.slice(0, instances).map(instance => instance.id),
    ...(seconds === undefined ? {} : { DurationSeconds: seconds + 600 }),
  });
  await account.world.clock.sleep(10 * MINUTE);
}

/** Sends each target group the requests that the scenario describes. */
export function startTraffic(account: Account, fleet: BuiltFleet, scenario: Scenario): void {
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

/** What the ledger holds: the key of each item, and of a run how it stands. */
export async function ledgerItems({ template, wire }: Stack): Promise<LedgerItem[]> {
  const client = new DynamoDBClient({
    region: 'local',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'operator' },
    requestHandler: wire.transport(),
  });
  const TableName = template.tables.get('Ledger')?.name;
  const items: LedgerItem[] = [];
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName,
        ProjectionExpression: 'pk, #status, outcome, #error, deadline, goAheadAt, resumedAt, endedAt',
        ExpressionAttributeNames: { '#status': 'status', '#error': 'error' },
        ExclusiveStartKey: from,
      }),
    );
    items.push(...(page.Items ?? []).map(toLedgerItem));
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
}

function toLedgerItem(item: Record<string, AttributeValue>): LedgerItem {
  const at = (name: string) => (item[name]?.N === undefined ? undefined : Number(item[name].N));
  return {
    pk: item.pk?.S ?? '',
    status: item.status?.S,
    outcome: item.outcome?.S,
    error: item.error?.S,
    deadline: at('deadline'),
    goAheadAt: at('goAheadAt'),
    resumedAt: at('resumedAt'),
    endedAt: at('endedAt'),
  };
}
