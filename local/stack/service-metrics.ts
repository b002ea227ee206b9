import type { Metrics } from '../account/neighbours.ts';
import type { World } from '../account/world.ts';
import type { DeployedFunction, DeployedQueue, DeployedRule } from './deployed-template.ts';

/** CloudWatch's guide on SQS: a queue is active, and publishes, for up to six hours from its last activity. */
const QUEUE_ACTIVE_MS = 6 * 3_600_000;
const MINUTE = 60_000;

const EXECUTION_METRICS: Readonly<Record<string, string>> = {
  RUNNING: 'ExecutionsStarted',
  SUCCEEDED: 'ExecutionsSucceeded',
  FAILED: 'ExecutionsFailed',
  TIMED_OUT: 'ExecutionsTimedOut',
  ABORTED: 'ExecutionsAborted',
};

/** What became of an event for a rule's target. */
export type DeliveryOutcome = 'delivered' | 'kept' | 'not kept' | 'dropped';

/** Of a dead-letter queue that kept an event, or was to keep it and did not. */
const DEAD_LETTER_METRICS: Readonly<Partial<Record<DeliveryOutcome, string>>> = {
  kept: 'InvocationsSentToDlq',
  'not kept': 'InvocationsFailedToBeSentToDlq',
};

/** The metrics that AWS's services publish of the stack's resources, as far as alarms have a use for them. */
export class ServiceMetrics {
  readonly #world: World;
  readonly #metrics: Metrics;
  readonly #activeUntil = new Map<string, number>();

  constructor(world: World, metrics: Metrics) {
    this.#world = world;
    this.#metrics = metrics;
  }

  /** AWS/States, of every execution that starts or ends from now on. */
  followExecutions(machineArnOf: (executionArn: string) => string | undefined): void {
    this.#world.journal.listen(entry => {
      const name = entry.type === 'execution' && EXECUTION_METRICS[entry.status];
      if (entry.type !== 'execution' || !name) return;
      // The journal hears of a new execution just before the account can find it.
      queueMicrotask(() => {
        const StateMachineArn = machineArnOf(entry.executionArn);
        if (StateMachineArn !== undefined) this.#put('AWS/States', name, 1, { StateMachineArn });
      });
    });
  }

  /** AWS/Lambda, of an invocation that has ended; for the function, and for the version or alias that was invoked. */
  invoked({ name, arn }: DeployedFunction, invokedArn: string, failed: boolean): void {
    const qualifier = invokedArn.startsWith(`${arn}:`) ? invokedArn.slice(arn.length) : undefined;
    const resource = qualifier === undefined ? [] : [{ FunctionName: name, Resource: `${name}${qualifier}` }];
    for (const dimensions of [{ FunctionName: name }, ...resource]) {
      this.#put('AWS/Lambda', 'Invocations', 1, dimensions);
      this.#put('AWS/Lambda', 'Errors', Number(failed), dimensions);
    }
  }

  /** AWS/Lambda, of an event that a function failed on and no destination has kept. */
  lost({ name }: DeployedFunction): void {
    this.#put('AWS/Lambda', 'AsyncEventsDropped', 1, { FunctionName: name });
  }

  /** AWS/SQS: at once and every minute for as long as the queue counts as active. */
  sent(queue: DeployedQueue, depth: () => number): void {
    const { clock } = this.#world;
    const dimensions = { QueueName: queue.name };
    this.#put('AWS/SQS', 'NumberOfMessagesSent', 1, dimensions);
    const idle = !this.#activeUntil.has(queue.name);
    this.#activeUntil.set(queue.name, clock.now() + QUEUE_ACTIVE_MS);
    const publish = (): void => {
      if (clock.now() > (this.#activeUntil.get(queue.name) ?? 0)) {
        this.#activeUntil.delete(queue.name);
        return;
      }
      this.#put('AWS/SQS', 'ApproximateNumberOfMessagesVisible', depth(), dimensions);
      clock.after(MINUTE, publish);
    };
    // After the message has been put into the queue.
    if (idle) clock.after(0, publish);
  }

  /** AWS/Events, of a rule that matched or was due. */
  triggered({ name }: DeployedRule): void {
    this.#put('AWS/Events', 'TriggeredRules', 1, { RuleName: name });
  }

  /** AWS/Events, of one event for one target, when the last attempt is over. */
  delivered({ name }: DeployedRule, outcome: DeliveryOutcome): void {
    const dimensions = { RuleName: name };
    this.#put('AWS/Events', 'Invocations', 1, dimensions);
    this.#put('AWS/Events', 'FailedInvocations', Number(outcome !== 'delivered'), dimensions);
    const deadLetter = DEAD_LETTER_METRICS[outcome];
    if (deadLetter !== undefined) this.#put('AWS/Events', deadLetter, 1, dimensions);
  }

  #put(namespace: string, name: string, value: number, dimensions: Readonly<Record<string, string>>): void {
    this.#metrics.put({ namespace, name, value, dimensions });
  }
}
