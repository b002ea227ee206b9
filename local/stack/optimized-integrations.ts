import { z } from 'zod';
import type { Topics } from '../account/topics.ts';
import { TaskFailure } from '../states/failure.ts';
import type { Json } from '../states/json.ts';
import type { OptimizedService } from '../states/resource.ts';
import { type Caller, type Gate, NoAnswer, ServiceError } from '../wire/contract.ts';
import type { EventEntry } from './events.ts';

export interface OptimizedSettings {
  /** What each call passes, as calls over the wire do. */
  readonly gates: readonly Gate[];
  readonly now: () => number;
  readonly topics: Topics;
  /** Puts an event on the bus; returns its id. */
  readonly put: (entry: EventEntry) => string;
  /** StartExecution; returns the new execution's ARN. @throws ServiceError */
  readonly start: (stateMachineArn: string, name: string | undefined, input: string) => string;
}

const PutEvents = z.strictObject({
  Entries: z
    .array(
      z.strictObject({
        Source: z.string(),
        DetailType: z.string(),
        Detail: z.record(z.string(), z.json()),
      }),
    )
    .min(1)
    .max(10),
});
const Publish = z.strictObject({ TopicArn: z.string(), Subject: z.string(), Message: z.string() });
const StartExecution = z.strictObject({
  StateMachineArn: z.string(),
  Name: z.string().optional(),
  Input: z.record(z.string(), z.json()),
});

/** Step Functions' own integrations with EventBridge, SNS and itself. A member that is not implemented is refused. */
export class OptimizedIntegrations {
  readonly #settings: OptimizedSettings;

  constructor(settings: OptimizedSettings) {
    this.#settings = settings;
  }

  /** @throws TaskFailure named as Step Functions names the service's error */
  async call(caller: Caller, service: OptimizedService, args: Json): Promise<Json> {
    switch (service) {
      case 'events':
        return this.#putEvents(caller, PutEvents.parse(args));
      case 'sns':
        return this.#publish(caller, Publish.parse(args));
      case 'states':
        return this.#start(caller, StartExecution.parse(args));
    }
  }

  #putEvents(caller: Caller, input: z.output<typeof PutEvents>): Promise<Json> {
    return this.#through(caller, ['events', 'PutEvents', 'EventBridge'], input, () => {
      const ids = input.Entries.map(({ Source, DetailType, Detail }) =>
        this.#settings.put({ source: Source, 'detail-type': DetailType, detail: Detail }),
      );
      return { Entries: ids.map(EventId => ({ EventId })), FailedEntryCount: 0 };
    });
  }

  #publish(caller: Caller, input: z.output<typeof Publish>): Promise<Json> {
    return this.#through(caller, ['sns', 'Publish', 'SNS'], input, () =>
      this.#settings.topics.publish(input),
    );
  }

  #start(caller: Caller, input: z.output<typeof StartExecution>): Promise<Json> {
    const { StateMachineArn, Name, Input } = input;
    return this.#through(
      caller,
      ['states', 'StartExecution', 'StepFunctions'],
      { stateMachineArn: StateMachineArn },
      () => ({
        ExecutionArn: this.#settings.start(StateMachineArn, Name, JSON.stringify(Input)),
        StartDate: new Date(this.#settings.now()).toISOString(),
      }),
    );
  }

  async #through(
    caller: Caller,
    [service, action, errors]: readonly [string, string, string],
    input: Readonly<Record<string, unknown>>,
    act: () => Json,
  ): Promise<Json> {
    const { gates, now } = this.#settings;
    const call = { service, action, caller, at: now() };
    try {
      for (const gate of gates) await gate.before?.(call, input);
      const answer = act();
      for (const gate of gates.toReversed()) await gate.after?.(call, input, Object(answer));
      return answer;
    } catch (error) {
      if (error instanceof NoAnswer) throw new TaskFailure(`${errors}.SdkClientException`, error.message);
      if (!(error instanceof ServiceError)) throw error;
      throw new TaskFailure(`${errors}.${error.code}`, error.message);
    }
  }
}
