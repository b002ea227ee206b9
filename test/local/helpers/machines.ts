import { createWorld, type World, type WorldSettings } from '../../../local/account/world.ts';
import { compileMachine } from '../../../local/states/compile.ts';
import type { Execution, Machine } from '../../../local/states/execution.ts';
import { Executions } from '../../../local/states/executions.ts';
import { TaskFailure } from '../../../local/states/failure.ts';
import type { Json } from '../../../local/states/json.ts';
import type { TaskRequest, Tasks } from '../../../local/states/tasks.ts';

export interface States {
  readonly [name: string]: object;
}

/** A machine whose first state is the first of `states`. */
export const machineOf = (states: States, more: object = {}): object => ({
  QueryLanguage: 'JSONata',
  StartAt: Object.keys(states)[0],
  States: states,
  ...more,
});

/** A branch of a Parallel state, or what a Map state does with an item: its first state is the first of `states`. */
export const flow = (states: States): object => ({ StartAt: Object.keys(states)[0], States: states });

/** The end of a branch, for a state of any kind. */
export const end = { End: true };

/** A Pass state with this output. */
export const pass = (output: Json, more: object = end): object => ({ Type: 'Pass', Output: output, ...more });

/** A Task state that calls the function `name` by its ARN. */
export const callOf = (name: string, more: object): object => ({
  Type: 'Task',
  Resource: `arn:aws:lambda:us-east-1:123456789012:function:${name}`,
  ...more,
});

/** How the functions answer, by name. */
export type Functions = Readonly<Record<string, (args: Json, request: TaskRequest) => unknown>>;

export const fails =
  (error: string, cause = 'because') =>
  (): never => {
    throw new TaskFailure(error, cause);
  };

/** Fails with each of the errors in turn, then succeeds. */
export const failsInTurn = (errors: readonly string[], result: Json = 'done') => {
  const left = [...errors];
  return () => {
    const error = left.shift();
    return error === undefined ? result : fails(error)();
  };
};

export const tasksOf = (functions: Functions): Tasks => ({
  async run(request) {
    const { resource } = request;
    const name = resource.kind === 'sdk' ? resource.action : (resource.arn.split(':').at(-1) ?? '');
    const answer = functions[name];
    if (!answer) throw new Error(`the test has no function ${name}`);
    return answer(request.args, request);
  },
});

export interface Bench {
  readonly world: World;
  readonly executions: Executions;
  start(definition: object, input?: Json): Execution;
  /** Starts it and lets time pass until it has ended. */
  run(definition: object, input?: Json): Promise<Execution>;
}

export function bench(functions: Functions = {}, settings: WorldSettings = {}): Bench {
  const world = createWorld(settings);
  const executions = new Executions(world, { tasks: tasksOf(functions) });
  let count = 0;
  const start = (definition: object, input: Json = {}) => {
    count++;
    const machine: Machine = {
      arn: `arn:aws:states:eu-west-1:111122223333:stateMachine:machine-${count}`,
      name: `machine-${count}`,
      definition: compileMachine(definition),
    };
    return executions.start(machine, { name: `execution-${count}`, input });
  };
  return {
    world,
    executions,
    start,
    async run(definition, input) {
      const execution = start(definition, input);
      await world.clock.runFor(execution.ended);
      return execution;
    },
  };
}

/** The types of the events of an execution, in order. */
export const typesOf = (execution: Execution) => execution.history.events().map(({ type }) => type);

/** The errors with which `compileMachine` refuses a definition; empty when it does not. */
export function problemsOf(definition: unknown): readonly string[] {
  try {
    compileMachine(definition);
    return [];
  } catch (error) {
    if (error instanceof Error && 'problems' in error && Array.isArray(error.problems)) return error.problems;
    throw error;
  }
}
