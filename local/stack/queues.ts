import type { World } from '../account/world.ts';
import { ServiceError } from '../wire/contract.ts';
import type { DeployedTemplate } from './deployed-template.ts';
import { type ActingService, letsIn } from './service-access.ts';
import type { ServiceMetrics } from './service-metrics.ts';

export interface Message {
  readonly at: number;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The template's SQS queues, of which the simulated account needs no more than what arrived. */
export class Queues {
  readonly #world: World;
  readonly #template: DeployedTemplate;
  readonly #metrics: ServiceMetrics;
  readonly #messages = new Map<string, Message[]>();

  constructor(world: World, template: DeployedTemplate, metrics: ServiceMetrics) {
    this.#world = world;
    this.#template = template;
    this.#metrics = metrics;
  }

  /**
   * Sends to a queue of the template. Without `sender` the caller's identity policy has been checked already.
   *
   * @throws ServiceError when the queue does not exist or its policy does not let `sender` in
   */
  send(queueArn: string, message: Omit<Message, 'at'>, sender?: ActingService): void {
    const queue = [...this.#template.queues.values()].find(({ arn }) => arn === queueArn);
    if (!queue) throw new ServiceError('QueueDoesNotExist', `The queue ${queueArn} does not exist.`);
    if (sender) {
      const request = { action: 'sqs:SendMessage', resource: queueArn };
      if (!letsIn(queue.policy, sender, request, this.#world))
        throw new ServiceError(
          'AccessDenied',
          `${sender.principal} for ${sender.sourceArn} is not authorized to perform: sqs:SendMessage on resource: ${queueArn}`,
          403,
        );
    }
    const messages = this.#messages.get(queueArn) ?? [];
    this.#messages.set(queueArn, messages);
    messages.push({ ...message, at: this.#world.clock.now() });
    this.#metrics.sent(queue, () => messages.length);
  }

  /** What has arrived, oldest first. Nothing receives or deletes. */
  messages(queueArn: string): readonly Message[] {
    return this.#messages.get(queueArn) ?? [];
  }
}
