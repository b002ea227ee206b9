import { uuid } from '../account/uuid.ts';
import type { Random } from '../clock/random.ts';
import { ServiceError } from '../wire/contract.ts';
import type { Json } from './json.ts';

/** A task that waits for somebody with its token. */
export interface TokenHolder {
  succeed(output: Json): void;
  fail(error: string, cause: string): void;
  heartbeat(): void;
}

/** The tokens of tasks with `.waitForTaskToken`. */
export class TaskTokens {
  readonly #holders = new Map<string, TokenHolder | 'closed'>();
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A new token; calls for it fail until somebody holds it. */
  issue(): string {
    const token = uuid(this.#random);
    this.#holders.set(token, 'closed');
    return token;
  }

  /** Returns how to close the token. */
  hold(token: string, holder: TokenHolder): () => void {
    this.#holders.set(token, holder);
    return () => this.#holders.set(token, 'closed');
  }

  /** @throws ServiceError InvalidToken for a token that was never issued, TaskTimedOut for one that is closed */
  holder(token: string): TokenHolder {
    const holder = this.#holders.get(token);
    if (!holder) throw new ServiceError('InvalidToken', 'Invalid token.');
    if (holder === 'closed') {
      throw new ServiceError(
        'TaskTimedOut',
        'Task Timed Out: the task token has either expired or the task associated with the token has already been closed.',
      );
    }
    return holder;
  }
}
