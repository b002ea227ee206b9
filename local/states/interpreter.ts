import type { Random } from '../clock/random.ts';
import type {
  ChoiceState,
  FailState,
  Flow,
  Leave,
  RecoverableState,
  State,
  WaitState,
} from './definition.ts';
import { matches, QueryEvaluationFailure, StateFailure } from './failure.ts';
import { type RunFlow, runMap, runParallel } from './fan-out.ts';
import type { Json } from './json.ts';
import { Stopped } from './lifetime.ts';
import { checkLength } from './limits.ts';
import { Retries } from './retries.ts';
import { runTask, type TaskRunner } from './run-task.ts';
import { Visit } from './visit.ts';

/** What a state leaves behind, evaluated. */
interface Left {
  readonly output: Json;
  readonly assigned: Readonly<Record<string, Json>> | undefined;
  readonly next: string | undefined;
}

/** Runs flows of states: what happens in each state, and which comes next. */
export class Interpreter {
  readonly #runner: TaskRunner;
  readonly #jitter: Random;

  constructor(runner: TaskRunner, jitter: Random) {
    this.#runner = runner;
    this.#jitter = jitter;
  }

  /** Resolves with the flow's output. Rejects with StateFailure, or with Stopped when the thread's lifetime ends. */
  readonly run: RunFlow = async (flow, input, thread) => {
    let current = input;
    for (let next: string | undefined = flow.startAt; next !== undefined; ) {
      const state: State = stateOf(flow, next);
      const entered = thread.emit(`${state.type}StateEntered`, {
        of: 'entered',
        name: state.name,
        input: current,
      });
      thread.execution.enter(state.name);
      const visit = new Visit(state.name, current, thread, entered, this.#runner.world.clock.now());
      const left: Left = await this.#visit(state, visit);
      Object.assign(thread.variables, left.assigned);
      current = left.output;
      next = left.next;
    }
    return current;
  };

  async #visit(state: State, visit: Visit): Promise<Left> {
    try {
      const left = await this.#perform(state, visit);
      if (state.type !== 'Fail') {
        const { output, assigned } = left;
        visit.thread.emit(`${state.type}StateExited`, { of: 'exited', name: state.name, output, assigned });
      }
      return left;
    } catch (failure) {
      if (failure instanceof Stopped) tellAborted(state, visit);
      throw told(failure, visit);
    }
  }

  #perform(state: State, visit: Visit): Promise<Left> {
    switch (state.type) {
      case 'Pass':
      case 'Succeed':
        return leave(state.leave, visit, visit.input);
      case 'Fail':
        return fail(state, visit);
      case 'Wait':
        return this.#wait(state, visit);
      case 'Choice':
        return choose(state, visit);
      default:
        return this.#recover(state, visit);
    }
  }

  async #wait(state: WaitState, visit: Visit): Promise<Left> {
    const { clock } = this.#runner.world;
    const bindings = visit.bindings();
    const timestamp = await state.timestamp?.(bindings);
    const seconds = (await state.seconds?.(bindings)) ?? 0;
    const ms = timestamp === undefined ? 1000 * seconds : Date.parse(timestamp) - clock.now();
    await visit.thread.lifetime.sleep(clock, ms);
    return leave(state.leave, visit, visit.input);
  }

  /** The first matching Retrier while it has attempts left, then the first matching Catcher. */
  async #recover(state: RecoverableState, visit: Visit): Promise<Left> {
    const retries = new Retries(state.retriers, this.#jitter);
    for (;;) {
      try {
        const result = await this.#attempt(state, visit);
        return await leave(state.leave, visit, result, { result });
      } catch (thrown) {
        const failure = told(thrown, visit);
        if (!(failure instanceof StateFailure)) throw failure;
        const { error, cause } = failure;
        const delay = retries.next(error);
        if (delay === undefined) {
          const catcher = state.catchers.find(({ errorEquals }) => matches(errorEquals, error));
          if (!catcher) throw failure;
          const errorOutput = { Error: error, Cause: cause };
          return await leave(catcher.leave, visit, errorOutput, { errorOutput });
        }
        await visit.thread.lifetime.sleep(this.#runner.world.clock, delay);
        visit.retryCount++;
      }
    }
  }

  #attempt(state: RecoverableState, visit: Visit): Promise<Json> {
    switch (state.type) {
      case 'Task':
        return runTask(this.#runner, state, visit);
      case 'Parallel':
        return runParallel(state, visit, this.run);
      case 'Map':
        return runMap(state, visit, this.run);
    }
  }
}

function stateOf(flow: Flow, name: string): State {
  const state = flow.states.get(name);
  if (!state) throw new Error(`the compiled machine has no state '${name}'`);
  return state;
}

async function fail(state: FailState, visit: Visit): Promise<never> {
  const bindings = visit.bindings();
  throw new StateFailure((await state.error?.(bindings)) ?? '', (await state.cause?.(bindings)) ?? '');
}

async function choose(state: ChoiceState, visit: Visit): Promise<Left> {
  const bindings = visit.bindings();
  for (const rule of state.rules) {
    if (await rule.condition(bindings)) return leave(rule.leave, visit, visit.input);
  }
  if (state.otherwise) return leave(state.otherwise, visit, visit.input);
  throw new StateFailure('States.NoChoiceMatched', `No Choice Rule of the state '${state.name}' matched.`);
}

/** Evaluates Output and Assign, both on what held when the state was entered. */
async function leave(
  { output, assign, next }: Leave,
  visit: Visit,
  defaultOutput: Json,
  more: { readonly result?: Json; readonly errorOutput?: Json } = {},
): Promise<Left> {
  const bindings = output || assign ? visit.bindings(more) : {};
  const value = output ? await output(bindings) : defaultOutput;
  if (value !== visit.input) checkLength(value, `The state '${visit.name}' has an output`);
  if (!assign) return { output: value, assigned: undefined, next };
  const assigned: Record<string, Json> = {};
  for (const [variable, template] of assign) assigned[variable] = await template(bindings);
  checkLength(assigned, `The state '${visit.name}' assigns variables`);
  return { output: value, assigned, next };
}

function tellAborted({ type }: State, { thread }: Visit): void {
  if (type === 'Task' || type === 'Wait' || type === 'Parallel' || type === 'Map') {
    thread.emitAborted(`${type}StateAborted`);
  }
}

/** Puts a failed evaluation into the history, and answers with the error that the state reports for it. */
function told(failure: unknown, { name, thread, enteredEvent }: Visit): unknown {
  if (!(failure instanceof QueryEvaluationFailure)) return failure;
  const { error, location } = failure;
  const cause = `An error occurred while executing the state '${name}' (entered at the event id #${enteredEvent}). ${failure.cause}`;
  thread.emit('EvaluationFailed', { of: 'evaluation', error, cause, location, state: name });
  return new StateFailure(error, cause);
}
