import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Gate } from '../wire/contract.ts';
import { BrokenLoops } from './broken-loops.ts';
import type { BuiltFleet } from './build-fleet.ts';
import type { Evidence, Violation } from './evidence.ts';
import { JudgedCalls } from './judge-calls.ts';
import { judgeEnd, type LedgerItem, type Start } from './judge-end.ts';
import { judgeGoAhead } from './judge-go-ahead.ts';
import { judgeRequests, judgeTermination } from './judge-harm.ts';
import { JudgedFleet } from './judged-fleet.ts';
import { OthersSuppressions } from './others-suppressions.ts';
import { People } from './people.ts';
import { Retirements } from './retirements.ts';
import type { Scenario } from './scenario.ts';
import { SetAside } from './set-aside.ts';
import { Underway } from './underway.ts';

/**
 * What must always hold, checked from outside the product: from the account's true state and its journal, never from what
 * the product says of itself. Checked at every quiet instant, so after each virtual second in which anything happened.
 */
export class Invariants {
  readonly violations: Violation[] = [];
  /** Stands behind the calls. */
  readonly gate: Gate;
  readonly #evidence: Evidence;
  readonly #start: Start;
  readonly #retirements: Retirements;
  #checkedAt = 0;
  #checkedInstants = 0;

  constructor(account: Account, built: BuiltFleet, scenario: Scenario) {
    const { clock, journal } = account.world;
    const fleet = new JudgedFleet(account, built);
    this.#evidence = {
      account,
      fleet,
      scenario,
      others: new OthersSuppressions(account, fleet),
      people: new People(account, scenario),
      setAside: new SetAside(account, scenario),
      underway: new Underway(account),
      broken: (invariant, what) => this.violations.push({ at: clock.now(), invariant, what }),
    };
    this.#retirements = new Retirements(account);
    this.#start = { memberships: fleet.memberships(), suspended: fleet.suspended() };
    new BrokenLoops(account, scenario, what => this.#evidence.broken(5, what));
    const calls = new JudgedCalls(this.#evidence, this.#retirements);
    this.gate = {
      before: (call, input) => {
        this.#count(call.at);
        calls.before(call, input);
      },
      after: (call, input) => calls.after(call, input),
    };
    journal.listen(entry => this.#hear(entry));
  }

  /** At how many instants so far something happened that was checked. */
  get checkedInstants(): number {
    return this.#checkedInstants;
  }

  /** What must hold when every run is over (4, 7). */
  checkEnd(stack: Stack | undefined, ledger: readonly LedgerItem[]): void {
    if (!stack) return;
    judgeEnd(this.#evidence, this.#start, stack, ledger);
    this.#retirements.judgeEnd(this.#evidence, stack, ledger);
  }

  #hear(entry: Entry): void {
    this.#count(entry.at);
    switch (entry.type) {
      case 'deployment':
        if (entry.state === 'go-ahead') judgeGoAhead(this.#evidence, entry.detail, entry.instanceIds);
        return;
      case 'activity':
        if (entry.kind === 'terminate') judgeTermination(this.#evidence, entry);
        return;
      case 'requests-failed':
        judgeRequests(this.#evidence, entry);
    }
  }

  #count(at: number): void {
    if (at === this.#checkedAt) return;
    this.#checkedAt = at;
    this.#checkedInstants++;
  }
}
