import type { World } from '../account/world.ts';
import { TaskFailure } from '../states/failure.ts';
import type { Authorization } from './authorization.ts';
import type { DeployedFunction, DeployedTemplate } from './deployed-template.ts';
import type { Json } from './json.ts';
import type { Lambda } from './lambda.ts';
import type { Queues } from './queues.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** Lambda's guide: one minute before the first retry of a function error, two before the second. */
const RETRY_DELAYS_MS: readonly number[] = [60_000, 120_000];

/** An event that a function never handled and that no destination has kept. */
export interface LostEvent {
  readonly function: string;
  readonly event: Json;
  readonly reason: string;
}

export interface AsynchronousSettings {
  readonly world: World;
  readonly template: DeployedTemplate;
  readonly lambda: Lambda;
  readonly queues: Queues;
  readonly authorization: Authorization;
  readonly metrics: ServiceMetrics;
}

/** Lambda's event invocations: accepted at once, run, retried, and in the end sent to the on-failure destination. */
export class AsynchronousInvocations {
  readonly lost: LostEvent[] = [];
  readonly #settings: AsynchronousSettings;

  /** @throws Error on an on-failure destination that is not a queue of the template */
  constructor(settings: AsynchronousSettings) {
    this.#settings = settings;
    const { functions, queues } = settings.template;
    const arns = new Set([...queues.values()].map(({ arn }) => arn));
    for (const { logicalId, asynchronous } of functions.values()) {
      if (asynchronous.onFailure && !arns.has(asynchronous.onFailure)) {
        throw new Error(
          `${logicalId}: the on-failure destination ${asynchronous.onFailure} is no queue of the template`,
        );
      }
    }
  }

  /** Takes the event over; what becomes of it shows in the logs, in the destination's queue or in `lost`. */
  accept(fn: DeployedFunction, functionArn: string, event: Json): void {
    this.#handle(fn, functionArn, event).catch(error => this.#settings.world.clock.fail(error));
  }

  async #handle(fn: DeployedFunction, functionArn: string, event: Json): Promise<void> {
    const { world, lambda } = this.#settings;
    const { maximumRetryAttempts, maximumEventAgeSeconds } = fn.asynchronous;
    const expiresAt = world.clock.now() + maximumEventAgeSeconds * 1000;
    let requestId: string | undefined;
    for (let attempts = 1; ; attempts++) {
      const attempt = lambda.attempt(requestId);
      requestId = attempt.requestId;
      const failure = await lambda.invoke(functionArn, event, attempt).then(succeeded, asTaskFailure);
      if (!failure) return;
      const delayMs = attempts > maximumRetryAttempts ? undefined : RETRY_DELAYS_MS[attempts - 1];
      if (delayMs === undefined)
        return this.#giveUp(fn, functionArn, event, failure, attempts, 'RetriesExhausted');
      if (world.clock.now() + delayMs > expiresAt) {
        return this.#giveUp(fn, functionArn, event, failure, attempts, 'EventAgeExceeded');
      }
      await world.clock.sleep(delayMs);
    }
  }

  #giveUp(
    fn: DeployedFunction,
    functionArn: string,
    event: Json,
    failure: TaskFailure,
    attempts: number,
    condition: 'RetriesExhausted' | 'EventAgeExceeded',
  ): void {
    const { world, queues, authorization, metrics } = this.#settings;
    const { onFailure } = fn.asynchronous;
    if (!onFailure) {
      metrics.lost(fn);
      this.lost.push({ function: fn.logicalId, event, reason: failure.message });
      return;
    }
    const caller = { kind: 'function', name: fn.logicalId } as const;
    const call = { service: 'sqs', action: 'SendMessage', caller, at: world.clock.now() };
    authorization.before(call, { QueueUrl: onFailure.replaceAll(':', '/') });
    const record = {
      version: '1.0',
      timestamp: world.clock.date().toISOString(),
      requestContext: { functionArn, condition, approximateInvokeCount: attempts },
      requestPayload: event,
      responseContext: { statusCode: 200, functionError: 'Unhandled' },
      responsePayload: JSON.parse(failure.cause),
    };
    queues.send(onFailure, { body: JSON.stringify(record), attributes: {} });
  }
}

const succeeded = (): undefined => undefined;

function asTaskFailure(error: unknown): TaskFailure {
  if (error instanceof TaskFailure) return error;
  throw error;
}
