import type { HistoryEventType } from '@aws-sdk/client-sfn';
import type { Execution } from './execution.ts';
import type { Bindings } from './expression.ts';
import type { EventDetails } from './history-event.ts';
import type { Json } from './json.ts';
import type { Lifetime } from './lifetime.ts';

/** The item of a Map iteration, as its states see it in the Context Object. */
export interface MapItem {
  readonly Index: number;
  readonly Value: Json;
}

/** One sequence of states in an execution: the machine, a branch, or an iteration. */
export class Thread {
  readonly execution: Execution;
  readonly lifetime: Lifetime;
  readonly mapItem: MapItem | undefined;
  /** By name; an inner thread's inherit those of the outer. */
  readonly variables: Record<string, unknown>;
  /** The id of its latest event. */
  latestEvent: number;

  constructor(
    execution: Execution,
    lifetime: Lifetime,
    variables: Record<string, unknown>,
    latestEvent: number,
    mapItem?: MapItem,
  ) {
    this.execution = execution;
    this.lifetime = lifetime;
    this.variables = variables;
    this.latestEvent = latestEvent;
    this.mapItem = mapItem;
  }

  /** @throws Stopped when its lifetime is over, StateFailure when the history is full */
  emit(type: HistoryEventType, details?: EventDetails): number {
    this.lifetime.check();
    this.latestEvent = this.execution.history.add(type, this.latestEvent, details);
    return this.latestEvent;
  }

  /** Tells, if the execution itself goes on, that a sibling's failure has ended this thread. */
  emitAborted(type: HistoryEventType, details?: EventDetails): void {
    const { history, status } = this.execution;
    if (status !== 'RUNNING' || history.isFull) return;
    this.latestEvent = history.add(type, this.latestEvent, details);
  }

  /** A branch or an iteration of it, with variables of its own. */
  inner(lifetime: Lifetime, mapItem: MapItem | undefined = this.mapItem): Thread {
    return new Thread(this.execution, lifetime, Object.create(this.variables), this.latestEvent, mapItem);
  }
}

/** One visit of a thread to a state, retries included. */
export class Visit {
  /** The state's name. */
  readonly name: string;
  readonly input: Json;
  readonly thread: Thread;
  readonly enteredEvent: number;
  retryCount = 0;
  readonly #enteredTime: string;

  constructor(name: string, input: Json, thread: Thread, enteredEvent: number, enteredAt: number) {
    this.name = name;
    this.input = input;
    this.thread = thread;
    this.enteredEvent = enteredEvent;
    this.#enteredTime = new Date(enteredAt).toISOString();
  }

  /** What the state's JSONata sees. */
  bindings(
    more: { readonly result?: Json; readonly errorOutput?: Json } = {},
    context: object = {},
  ): Bindings {
    const bindings: Record<string, unknown> = Object.create(this.thread.variables);
    bindings.states = { input: this.input, context: { ...this.#context(), ...context }, ...more };
    return bindings;
  }

  /** The Context Object, with the members that AWS's guide lists; the role is not known here. */
  #context(): object {
    const { execution, mapItem } = this.thread;
    return {
      ...execution.context,
      State: {
        EnteredTime: this.#enteredTime,
        Name: this.name,
        RetryCount: this.retryCount,
      },
      ...(mapItem && { Map: { Item: mapItem } }),
    };
  }
}
