import type { RequestSigner } from '@smithy/types';
import { currentInvocation, type Transport } from './invocation.ts';

/** Where the product's client factory looks for what stands in place of the network. */
const seam = Symbol.for('quiesce.connection');

export interface Connection {
  readonly requestHandler: Transport;
  readonly signer: RequestSigner;
}

const createProcessConnection = (): Connection => ({
  requestHandler: {
    async handle(request, options) {
      const invocation = currentInvocation();
      if (!invocation) {
        throw new Error(
          `an AWS call to ${request.hostname} was made outside an invocation: the simulated account does not know its caller`,
        );
      }
      return invocation.transport.handle(request, options);
    },
  },
  // The invocation says who calls. Signatures cost a tenth of a simulation, and nobody would read them.
  signer: { sign: async request => request },
});

/**
 * Makes the product's clients in this process speak to the simulated account of the invocation that they run in.
 *
 * Each call installs a new object, so that the product makes new clients: what a client remembers (its budget of
 * retries, for one) would carry over from one simulation to the next and change it.
 */
export function installProcessConnection(): void {
  Reflect.set(globalThis, seam, createProcessConnection());
}
