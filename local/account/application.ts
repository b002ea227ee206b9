import type { VirtualClock } from '../clock/virtual-clock.ts';

/** What a request to an instance's port meets. `afterMs` is how long the answer takes. */
export type Answer =
  | { readonly kind: 'responds'; readonly status: number; readonly afterMs: number }
  | { readonly kind: 'refuses' }
  | { readonly kind: 'resets' }
  | { readonly kind: 'silent' };

export interface Request {
  readonly port: number;
  readonly path: string;
}

/** A cause of other answers than the usual one, for example a failed dependency. Undefined leaves the usual answer. */
export type Fault = (request: Request, now: number) => Answer | undefined;

const REFUSES: Answer = { kind: 'refuses' };
const ANSWER_MS = 20;

/** The application on one simulated instance: what its health checks and its users meet. */
export class Application {
  readonly #clock: VirtualClock;
  readonly #listensOn: ReadonlySet<number> | undefined;
  #upAt = Number.POSITIVE_INFINITY;
  #fault: Fault | undefined;
  readonly #stopListeners: (() => void)[] = [];

  /** @param listensOn every port unless given */
  constructor(clock: VirtualClock, listensOn?: ReadonlySet<number>) {
    this.#clock = clock;
    this.#listensOn = listensOn;
  }

  /** Starts the process; it listens after `startUpSeconds`. */
  start(startUpSeconds: number): void {
    this.#upAt = this.#clock.now() + startUpSeconds * 1000;
  }

  stop(): void {
    const wasUp = this.isUp;
    this.#upAt = Number.POSITIVE_INFINITY;
    if (wasUp) for (const hear of this.#stopListeners) hear();
  }

  /** Calls `hear` whenever a process that was up stops: its open connections end. */
  onStop(hear: () => void): void {
    this.#stopListeners.push(hear);
  }

  get isUp(): boolean {
    return this.#clock.now() >= this.#upAt;
  }

  /** Replaces what a running application answers; `undefined` heals it. */
  suffer(fault: Fault | undefined): void {
    this.#fault = fault;
  }

  answer(request: Request): Answer {
    if (!this.isUp || this.#listensOn?.has(request.port) === false) return REFUSES;
    return this.#fault?.(request, this.#clock.now()) ?? { kind: 'responds', status: 200, afterMs: ANSWER_MS };
  }
}
