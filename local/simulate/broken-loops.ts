import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { Scenario } from './scenario.ts';

/** One replacement in vain shows a loop, and two more may be under way by then. */
const MOST_REPLACEMENTS = 1 + 2;

/** A look begins within a minute and its demotion acts at the next interval (D20). */
const LOOK_AND_ACT_SECONDS = 180;

/**
 * Invariant 5 of the loop breaker, judged by the account's true state: where nothing can connect to an instance under a check of
 * ours, Auto Scaling does not replace one after the other.
 */
export class BrokenLoops {
  readonly #account: Account;
  readonly #broken: (what: string) => void;
  readonly #isWatched: boolean;
  readonly #faultsOverAt: number;
  #replacements = 0;

  constructor(
    account: Account,
    { parameters, fleet, physics, faults }: Scenario,
    broken: (what: string) => void,
  ) {
    this.#account = account;
    this.#broken = broken;
    // With reasons that nobody knows yet only a replacement in vain shows a loop, and more may be ended until it does.
    this.#isWatched =
      parameters.LoopBreaker === 'demote' &&
      fleet.optedIn.includes('checks') &&
      physics.reasonCodes !== 'unknown';
    const seconds = faults ? faults.untilSeconds + LOOK_AND_ACT_SECONDS : 0;
    this.#faultsOverAt = account.world.clock.now() + seconds * 1000;
    account.world.journal.listen(entry => this.#hear(entry));
  }

  #hear(entry: Entry): void {
    // A person makes it another loop.
    if (entry.type === 'person' && /^(open|close)-security-group$|^include-check$/.test(entry.act))
      this.#replacements = 0;
    if (!this.#isWatched || entry.type !== 'activity' || entry.kind !== 'terminate') return;
    if (!entry.cause.includes('Application Status check') || !this.#isBlocked(entry.instanceId)) return;
    // Looks that fail, or come late, break nothing: it has to be broken when they work again.
    if (entry.at < this.#faultsOverAt) return;
    this.#replacements++;
    if (this.#replacements > MOST_REPLACEMENTS)
      this.#broken(
        `${this.#replacements} instances that nothing can connect to were replaced one after the other`,
      );
  }

  /** By a check that is included still: a demotion acts at the next interval, and whom it comes too late for is not of a loop (D20). */
  #isBlocked(instanceId: string): boolean {
    const { checks } = this.#account;
    const included = new Set(
      checks.registry.active().flatMap(({ id, settings }) => (settings.aggregation === 'included' ? id : [])),
    );
    return checks
      .results(instanceId)
      .some(({ checkId, outcome }) => included.has(checkId) && outcome?.code === 'ConnectionTimeout');
  }
}
