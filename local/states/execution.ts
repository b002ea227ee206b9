import type { Journal } from '../account/journal.ts';
import type { CompiledMachine } from './definition.ts';
import { History } from './history.ts';
import type { EventDetails } from './history-event.ts';
import type { Json } from './json.ts';
import { Lifetime } from './lifetime.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

export interface Machine {
  readonly arn: string;
  readonly name: string;
  readonly definition: CompiledMachine;
}

export const executionArn = (machine: Machine, name: string): string =>
  `${machine.arn.replace(':stateMachine:', ':execution:')}:${name}`;

/** How an execution ended. Error and cause are absent where AWS gives none. */
export type Ending =
  | { readonly status: 'SUCCEEDED'; readonly output: Json }
  | { readonly status: 'FAILED' | 'TIMED_OUT' | 'ABORTED'; readonly error?: string; readonly cause?: string };

const lastEvent = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  TIMED_OUT: 'ExecutionTimedOut',
  ABORTED: 'ExecutionAborted',
} as const;

/** One passage through a machine. Times are milliseconds since the epoch. */
export class Execution {
  readonly arn: string;
  readonly name: string;
  readonly machine: Machine;
  readonly input: Json;
  readonly startedAt: number;
  readonly history: History;
  /** Resolves when the execution is no longer RUNNING, whatever its status then is. */
  readonly ended: Promise<void>;
  readonly lifetime = new Lifetime();
  /** The members of the Context Object that stay the same. */
  readonly context: object;
  readonly #clock: { now(): number };
  readonly #journal: Journal;
  readonly #settle: () => void;
  #transitions = 0;
  #ending: (Ending & { readonly at: number }) | undefined;

  constructor(
    machine: Machine,
    name: string,
    input: Json,
    world: { readonly clock: { now(): number }; readonly journal: Journal },
  ) {
    this.machine = machine;
    this.name = name;
    this.arn = executionArn(machine, name);
    this.input = input;
    this.#clock = world.clock;
    this.#journal = world.journal;
    this.startedAt = world.clock.now();
    this.history = new History(() => world.clock.now());
    this.context = {
      Execution: {
        Id: this.arn,
        Input: input,
        Name: name,
        StartTime: new Date(this.startedAt).toISOString(),
        RedriveCount: 0,
      },
      StateMachine: { Id: machine.arn, Name: machine.name },
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#settle = resolve;
    this.history.add('ExecutionStarted', 0, { of: 'execution', input });
    this.#record();
  }

  get status(): ExecutionStatus {
    return this.#ending?.status ?? 'RUNNING';
  }

  /** How many states have been entered. */
  get transitions(): number {
    return this.#transitions;
  }

  get output(): Json | undefined {
    return this.#ending?.status === 'SUCCEEDED' ? this.#ending.output : undefined;
  }

  get error(): string | undefined {
    return this.#ending?.status === 'SUCCEEDED' ? undefined : this.#ending?.error;
  }

  get cause(): string | undefined {
    return this.#ending?.status === 'SUCCEEDED' ? undefined : this.#ending?.cause;
  }

  get stoppedAt(): number | undefined {
    return this.#ending?.at;
  }

  enter(state: string): void {
    this.#transitions++;
    this.#journal.record({
      type: 'state-entered',
      executionArn: this.arn,
      machine: this.machine.name,
      state,
    });
  }

  /** Ends it, once; no state is entered afterwards. */
  end(ending: Ending): void {
    if (this.#ending) return;
    const { status, ...told } = ending;
    const details: EventDetails = { of: 'execution', ...told };
    this.history.close(lastEvent[status], this.history.length, details);
    this.#ending = { ...ending, at: this.#clock.now() };
    this.#record();
    this.lifetime.end();
    this.#settle();
  }

  #record(): void {
    this.#journal.record({
      type: 'execution',
      executionArn: this.arn,
      machine: this.machine.name,
      status: this.status,
      error: this.error,
    });
  }
}
