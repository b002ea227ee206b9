import type { Json } from '../states/json.ts';
import type { Call, Gate } from '../wire/contract.ts';

/** One invocation of a function by a machine. Instants are milliseconds since the epoch. */
export interface Invocation {
  readonly functionArn: string;
  readonly payload: Json;
  readonly from: number;
  /** Undefined when it failed. */
  to: number | undefined;
}

/** Keeps every call that the product makes, and how long each invocation lasted. */
export class CallLog implements Gate {
  readonly calls: Call[] = [];
  readonly invocations: Invocation[] = [];
  readonly #now: () => number;
  readonly #open = new Map<Call, Invocation>();

  constructor(now: () => number) {
    this.#now = now;
  }

  before(call: Call, input: Readonly<Record<string, unknown>>): void {
    if (call.caller.kind === 'operator') return;
    this.calls.push(call);
    if (call.service !== 'lambda') return;
    const invocation: Invocation = {
      functionArn: String(input.FunctionName),
      payload: input.Payload as Json,
      from: this.#now(),
      to: undefined,
    };
    this.#open.set(call, invocation);
    this.invocations.push(invocation);
  }

  after(call: Call): void {
    const invocation = this.#open.get(call);
    if (!invocation) return;
    invocation.to = this.#now();
    this.#open.delete(call);
  }
}
