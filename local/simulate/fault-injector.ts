import type { VirtualClock } from '../clock/virtual-clock.ts';
import type { Stack } from '../stack/deploy.ts';
import { type Call, type Gate, NoAnswer } from '../wire/contract.ts';
import { actionName, denied, type Fault, throttle, unavailable } from './faults.ts';
import { partially } from './partial-batches.ts';
import type { SimulationSettings } from './simulation.ts';

/** The SDK's attempts at one call (functions/core/aws/clients.ts): a fault that meets fewer is not seen by the function. */
const ATTEMPTS = 4;

/** Long after the execution is gone, and within the 60 s that a function may go on (D5). */
const LATE_MS = 45_000;

const WHILE_MS = 10 * 60_000;

/** Makes one fault happen in a simulation. */
export class FaultInjector {
  readonly #fault: Fault;
  #clock: VirtualClock | undefined;
  #stack: Stack | undefined;
  /** How many calls after the one that goes wrong. */
  readonly #nth = new WeakMap<Call, number>();
  #calls = 0;
  #callsInSandbox = 0;
  #struckAt: number | undefined;

  constructor(fault: Fault) {
    this.#fault = fault;
  }

  /** Has the call been made, and gone wrong? */
  get struck(): boolean {
    return this.#struckAt !== undefined;
  }

  /** What the simulation is run with. */
  get settings(): Pick<SimulationSettings, 'gates' | 'dies' | 'begun'> {
    return {
      begun: ({ stack }) => {
        this.#stack = stack;
      },
      gates: ({ world }) => {
        this.#clock = world.clock;
        return [this.#gate];
      },
      dies: (invocation, _index, action) => this.#dies(invocation.function, action),
    };
  }

  readonly #gate: Gate = {
    before: async (call, input) => {
      if (call.caller.name !== this.#fault.caller || actionName(call, input) !== this.#fault.action) return;
      this.#calls++;
      const nth = this.#calls - this.#fault.ordinal;
      this.#nth.set(call, nth);
      if (nth >= 0) await this.#before(call, nth);
    },
    around: async (call, input, perform) =>
      this.#fault.way === 'partial' && this.#nth.get(call) === 0
        ? partially(call, input, perform)
        : perform(input),
    after: call => {
      const nth = this.#nth.get(call) ?? -1;
      const lost = this.#fault.way === 'lost-answer' ? 1 : this.#fault.way === 'lost-answers' ? ATTEMPTS : 0;
      if (nth >= 0 && nth < lost) throw new NoAnswer('the answer was lost');
    },
  };

  async #before(call: Call, nth: number): Promise<void> {
    const { way } = this.#fault;
    if (nth === 0 && !way.startsWith('dies')) this.#struckAt = call.at;
    const every = nth < ATTEMPTS;
    switch (way) {
      case 'throttled':
        if (every) throw throttle(call);
        return;
      case 'unavailable':
        if (every) throw unavailable(call);
        return;
      case 'lost-request':
        if (every) throw new NoAnswer('the request was lost');
        return;
      case 'denied':
        throw denied(call);
      case 'denied-for-a-while':
        if (call.at < (this.#struckAt ?? 0) + WHILE_MS) throw denied(call);
        return;
      case 'late':
        if (nth === 0) await this.#stopAndWait(call);
        return;
    }
  }

  /** A function goes on although its execution was stopped. One that a machine has just invoked begins. */
  async #stopAndWait(call: Call): Promise<void> {
    for (const execution of this.#stack?.executions.all() ?? [])
      if (execution.status === 'RUNNING')
        this.#stack?.executions.stop(execution.arn, 'Operator.Stopped', 'by a person');
    if (call.caller.kind === 'function') await this.#clock?.sleep(LATE_MS);
  }

  #dies(caller: string, action: string): 'before' | 'after' | undefined {
    const { way } = this.#fault;
    if (way !== 'dies-before' && way !== 'dies-after') return undefined;
    if (caller !== this.#fault.caller || !this.#fault.action.endsWith(`:${action}`)) return undefined;
    this.#callsInSandbox++;
    if (this.#callsInSandbox !== this.#fault.ordinal) return undefined;
    this.#struckAt = this.#clock?.now() ?? 0;
    return way === 'dies-before' ? 'before' : 'after';
  }
}
