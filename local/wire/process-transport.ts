import { currentInvocation, type Transport } from './invocation.ts';

/** Where the product's client factory looks for a `requestHandler`. */
const seam = Symbol.for('quiesce.transport');

const createProcessTransport = (): Transport => ({
  async handle(request, options) {
    const invocation = currentInvocation();
    if (!invocation) {
      throw new Error(
        `an AWS call to ${request.hostname} was made outside an invocation: the simulated account does not know its caller`,
      );
    }
    return invocation.transport.handle(request, options);
  },
});

/**
 * Makes the product's clients in this process speak to the simulated account of the invocation that they run in.
 *
 * Each call installs a new object, so that the product makes new clients: what a client remembers (its budget of
 * retries, for one) would carry over from one simulation to the next and change it.
 */
export function installProcessTransport(): void {
  Reflect.set(globalThis, seam, createProcessTransport());
}
