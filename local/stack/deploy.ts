// First: SDK modules that are loaded from here on keep the timers and file reads of virtual time.
import '../clock/lambda-globals.ts';
import { readCompositeAlarm, readMetricAlarm } from '../account/alarm-settings.ts';
import type { Alarms } from '../account/alarms.ts';
import { StepFunctions } from '../account/step-functions.ts';
import { Topics } from '../account/topics.ts';
import type { World } from '../account/world.ts';
import type { Execution } from '../states/execution.ts';
import { Executions } from '../states/executions.ts';
import type { Json } from '../states/json.ts';
import type { Caller, Gate, Service } from '../wire/contract.ts';
import { createWire, type Wire } from '../wire/wire.ts';
import type { TagLookup } from './actions/resources.ts';
import { performAlarmActions } from './alarm-actions.ts';
import { notifyBy } from './alarm-notifications.ts';
import { AsynchronousInvocations, type LostEvent } from './asynchronous-invocations.ts';
import { Authorization, type UnusedPermission } from './authorization.ts';
import { CallCounter, createLatency } from './calls.ts';
import type { DeployedTemplate } from './deployed-template.ts';
import { DynamoDb } from './dynamo-db.ts';
import { publishEmbedded } from './embedded-metrics.ts';
import { Events, type EventsSettings } from './events.ts';
import { announceExecutions } from './execution-events.ts';
import type { Code } from './handlers.ts';
import type { JsonObject } from './json.ts';
import { Lambda, type LambdaSettings } from './lambda.ts';
import { MachineTasks } from './machine-tasks.ts';
import { OptimizedIntegrations } from './optimized-integrations.ts';
import { Queues } from './queues.ts';
import { SdkIntegration } from './sdk-integration.ts';
import { ServiceMetrics } from './service-metrics.ts';
import { readTemplate } from './template.ts';

export interface StackSettings {
  readonly world: World;
  readonly templatePath: string;
  /** `quiesce` unless given. */
  readonly stackName?: string;
  readonly parameters?: Readonly<Record<string, string>>;
  /** The account's services, besides DynamoDB and Step Functions, which come with the stack. */
  readonly services: readonly Service[];
  readonly tags: TagLookup;
  /** The account's alarms, with the metrics that they read. */
  readonly alarms: Alarms;
  readonly code: Code;
  /** Faults and the like: passed last, by calls that are counted and permitted. */
  readonly gates?: readonly Gate[];
  readonly dies?: LambdaSettings['dies'];
  readonly deliveries?: EventsSettings['deliveries'];
}

/** A template as it runs in the simulated account. */
export interface Stack {
  /** Functions, machines, tables, rules, queues and outputs by logical id, with their names and ARNs. */
  readonly template: DeployedTemplate;
  readonly lambda: Lambda;
  readonly executions: Executions;
  readonly events: Events;
  readonly queues: Queues;
  /** What was published to SNS. */
  readonly topics: Topics;
  /** Events that a function failed on and that no destination has kept. */
  readonly lostEvents: readonly LostEvent[];
  readonly wire: Wire;
  readonly calls: CallCounter;
  /** An `Event` invocation, as a service makes it: retried, and in the end sent to the on-failure destination. */
  invokeLater(functionName: string, event: JsonObject): void;
  /** @throws ServiceError as StartExecution; @throws Error when the template has no such machine */
  startExecution(machine: string, start: { readonly name?: string; readonly input: Json }): Execution;
  unusedPermissions(): readonly UnusedPermission[];
}

/**
 * Creates the template's resources in the account, with everything that CloudFormation would connect.
 *
 * A custom resource's function is not called: what it does on create is left to whoever deploys.
 *
 * @throws Error on anything in the template, its machines or its functions that the account does not implement
 */
export async function deployStack(settings: StackSettings): Promise<Stack> {
  const { world, alarms, code, parameters = {}, stackName = 'quiesce', dies, deliveries } = settings;
  const template = readTemplate({ world, path: settings.templatePath, stackName, parameters });

  const authorization = new Authorization(world, template, settings.tags);
  const calls = new CallCounter();
  const gates = [createLatency(world), calls, authorization, ...(settings.gates ?? [])];
  const transport = (caller: Caller) => wire.transport(caller);

  const metrics = new ServiceMetrics(world, alarms.metrics);
  const lambda = new Lambda({
    world,
    functions: template.functions,
    directory: template.directory,
    code,
    transport,
    onEnd: (fn, invokedArn, failed) => metrics.invoked(fn, invokedArn, failed),
    onLine: line => publishEmbedded(line, alarms.metrics),
    ...(dies && { dies }),
  });
  const database = new DynamoDb(world.clock);
  for (const table of template.tables.values()) await database.createTable(table.create);

  const sdk = new SdkIntegration(name => services.find(service => service.name === name), world.region);
  const topics = new Topics(world);
  const optimized = new OptimizedIntegrations({
    gates,
    now: () => world.clock.now(),
    topics,
    put(entry) {
      const { 'detail-type': detailType, detail } = entry;
      const about = [detail.checkId, detail.runId, detail.alarm].find(id => typeof id === 'string');
      world.journal.record({ type: 'announced', detailType, about });
      return events.put(entry);
    },
    start: (stateMachineArn, name, input) =>
      stepFunctions.startExecution({ stateMachineArn, name, input }).executionArn ?? '',
  });
  const tasks = new MachineTasks({ world, template, lambda, sdk, optimized, transport, gates });
  const executions = new Executions(world, { tasks });
  const stepFunctions = new StepFunctions(world, executions);
  for (const { name, arn, role, definition } of template.machines.values()) {
    stepFunctions.deploy({ name, arn, roleArn: role.arn, definition });
  }
  const services = [...settings.services, database.service, stepFunctions.service];
  const wire = createWire({ services, gates, clock: world.clock });

  const queues = new Queues(world, template, metrics);
  const asynchronous = new AsynchronousInvocations({
    world,
    template,
    lambda,
    queues,
    authorization,
    metrics,
  });
  const events = new Events({
    world,
    template,
    authorization,
    queues,
    metrics,
    targets: {
      invoke: async (fn, functionArn, event) => asynchronous.accept(fn, functionArn, event),
      start: async (machine, input) => {
        stepFunctions.startExecution({ stateMachineArn: machine.arn, input: JSON.stringify(input) });
      },
    },
    ...(deliveries && { deliveries }),
  });
  announceExecutions(world, executions, events);
  metrics.followExecutions(arn => executions.find(arn)?.machine.arn);
  alarms.onAction(performAlarmActions(template, asynchronous, notifyBy(world, topics, template)));
  for (const { kind, input } of template.alarms)
    alarms.put(kind === 'metric' ? readMetricAlarm(input) : readCompositeAlarm(input), {
      actionsEnabled: input.ActionsEnabled,
    });

  return {
    template,
    lambda,
    executions,
    events,
    queues,
    topics,
    lostEvents: asynchronous.lost,
    wire,
    calls,
    invokeLater(functionName, event) {
      const fn = lambda.find(functionName);
      asynchronous.accept(fn, fn.arn, event);
    },
    startExecution(machine, { name, input }) {
      const arn = template.machines.get(machine)?.arn;
      if (!arn) throw new Error(`the template has no machine ${machine}`);
      const started = stepFunctions.startExecution({
        stateMachineArn: arn,
        name,
        input: JSON.stringify(input),
      });
      const execution = executions.find(started.executionArn ?? '');
      if (!execution) throw new Error(`${started.executionArn} was started and is not there`);
      return execution;
    },
    unusedPermissions: () => authorization.unusedPermissions(),
  };
}
