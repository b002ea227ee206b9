import type { World } from '../account/world.ts';
import { Execution, executionArn, type Machine } from './execution.ts';
import { StateFailure } from './failure.ts';
import { worldFunctions } from './functions.ts';
import { Interpreter } from './interpreter.ts';
import type { Json } from './json.ts';
import { Stopped } from './lifetime.ts';
import { TaskTokens } from './task-tokens.ts';
import type { Tasks } from './tasks.ts';
import { Thread } from './visit.ts';

/** Every execution of every machine of an account. */
export class Executions {
  readonly tokens: TaskTokens;
  readonly #world: World;
  readonly #interpreter: Interpreter;
  readonly #functions: Readonly<Record<string, unknown>>;
  readonly #byArn = new Map<string, Execution>();
  readonly #listeners = new Set<(execution: Execution) => void>();

  constructor(world: World, { tasks }: { readonly tasks: Tasks }) {
    const random = world.random.fork('states');
    this.#world = world;
    this.tokens = new TaskTokens(random.fork('tokens'));
    this.#interpreter = new Interpreter({ world, tasks, tokens: this.tokens }, random.fork('jitter'));
    this.#functions = worldFunctions(world.clock, random.fork('jsonata'));
  }

  /** Starts an execution; its first state is entered once the caller has let go. The name must be new to the machine. */
  start(machine: Machine, { name, input }: { readonly name: string; readonly input: Json }): Execution {
    const arn = executionArn(machine, name);
    if (this.#byArn.has(arn)) throw new Error(`${arn} exists`);
    const execution = new Execution(machine, name, input, this.#world);
    this.#byArn.set(arn, execution);
    this.#drive(execution).catch(error => this.#world.clock.fail(error));
    return execution;
  }

  /** Ends a running execution as ABORTED. No Catch runs, and work that it began goes on. */
  stop(arn: string, error?: string, cause?: string): void {
    const execution = this.#byArn.get(arn);
    if (!execution) throw new Error(`there is no execution ${arn}`);
    execution.end({
      status: 'ABORTED',
      ...(error !== undefined && { error }),
      ...(cause !== undefined && { cause }),
    });
  }

  find(arn: string): Execution | undefined {
    return this.#byArn.get(arn);
  }

  /** Step Functions itself forgets an execution 90 days after its end. */
  forgetEndedBefore(at: number): void {
    for (const { arn, stoppedAt } of this.#byArn.values())
      if (stoppedAt !== undefined && stoppedAt < at) this.#byArn.delete(arn);
  }

  /** In the order in which they were started. */
  all(): Iterable<Execution> {
    return this.#byArn.values();
  }

  /** Calls `hear` whenever an execution ends, whatever its status then is. Returns how to stop. */
  onEnd(hear: (execution: Execution) => void): () => void {
    this.#listeners.add(hear);
    return () => this.#listeners.delete(hear);
  }

  async #drive(execution: Execution): Promise<void> {
    await Promise.resolve();
    const { flow, timeoutSeconds } = execution.machine.definition;
    const limit =
      timeoutSeconds === undefined
        ? undefined
        : this.#world.clock.after(timeoutSeconds * 1000, () =>
            execution.end({ status: 'TIMED_OUT', error: 'States.Timeout' }),
          );
    const thread = new Thread(
      execution,
      execution.lifetime,
      Object.create(this.#functions),
      execution.history.length,
    );
    try {
      const output = await this.#interpreter.run(flow, execution.input, thread);
      execution.end({ status: 'SUCCEEDED', output });
    } catch (failure) {
      if (failure instanceof StateFailure) {
        const { error, cause } = failure;
        execution.end({ status: 'FAILED', ...(error && { error }), ...(cause && { cause }) });
      } else if (!(failure instanceof Stopped)) throw failure;
    } finally {
      limit?.cancel();
    }
    for (const hear of this.#listeners) hear(execution);
  }
}
