import { AsyncLocalStorage } from 'node:async_hooks';
import { currentInvocation } from '../wire/invocation.ts';

const taker = new AsyncLocalStorage<(text: string) => void>();
let diverted = false;

/**
 * Runs `work` and gives everything that an invocation in it writes to standard output and standard error to `take`,
 * also what it writes after `work` has returned. Output of everybody else, also of the account that it calls, is left
 * alone.
 */
export function captureOutput<T>(take: (text: string) => void, work: () => T): T {
  if (!diverted) {
    // Powertools keeps a console of its own, so the streams are the one place that sees every line.
    divert(process.stdout);
    divert(process.stderr);
    diverted = true;
  }
  return taker.run(take, work);
}

function divert(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    const take = currentInvocation() && taker.getStore();
    if (!take) return Reflect.apply(write, stream, [chunk, ...rest]);
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    for (const done of rest) if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
}
