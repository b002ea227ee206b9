import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpHandlerOptions, HttpRequest, HttpResponse } from '@smithy/types';
import type { World } from '../account/world.ts';
import type { Random } from '../clock/random.ts';
import type { Caller } from './contract.ts';

/** What an SDK client takes as its `requestHandler`. */
export type Transport = {
  handle(request: HttpRequest, options?: HttpHandlerOptions): Promise<{ response: HttpResponse }>;
};

/** One run of a function's handler in this process: in whose name, in which world and over which wire it acts. */
export interface Invocation {
  readonly caller: Caller;
  readonly world: Pick<World, 'clock' | 'random'>;
  readonly transport: Transport;
  /** What `Math.random` and `crypto.randomUUID` draw from inside the invocation. */
  readonly random: Random;
}

const invocations = new AsyncLocalStorage<Invocation | undefined>();

/** Calls `work`; it, and everything asynchronous that it starts, runs inside `invocation`. */
export const runAs = <T>(invocation: Invocation, work: () => T): T => invocations.run(invocation, work);

/** Calls `work` outside every invocation: the account that a function calls is no part of the function. */
export const outsideInvocations = <T>(work: () => T): T => invocations.run(undefined, work);

export const currentInvocation = (): Invocation | undefined => invocations.getStore();
