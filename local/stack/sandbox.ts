import type { HttpRequest } from '@smithy/types';
import type { Transport } from '../wire/invocation.ts';

/** Says whether a function dies right `before` or right `after` its call number `callIndex`, counted from 0. */
export type Dies = (callIndex: number, request: HttpRequest) => 'before' | 'after' | undefined;

export interface Sandbox {
  /** The road to AWS, as long as the sandbox lives. A call made after its death is neither sent nor answered. */
  readonly transport: Transport;
  readonly alive: boolean;
  /** A call in flight still takes effect, but its answer is never heard. */
  kill(): void;
}

/** The process that one invocation runs in. `died` is called when it dies by the schedule of `dies`. */
export function createSandbox(road: Transport, dies: Dies, died: () => void): Sandbox {
  let alive = true;
  let calls = 0;
  const silence = new Promise<never>(() => {});
  const kill = () => {
    alive = false;
  };
  const crash = () => {
    if (!alive) return;
    kill();
    died();
  };
  return {
    get alive() {
      return alive;
    },
    kill,
    transport: {
      async handle(request, options) {
        const death = dies(calls++, request);
        if (death === 'before') crash();
        if (!alive) return silence;
        const answer = await road.handle(request, options).finally(() => {
          if (death === 'after') crash();
        });
        return alive ? answer : silence;
      },
    },
  };
}
