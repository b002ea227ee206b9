import type { Account } from '../account/account.ts';
import type { JudgedFleet } from './judged-fleet.ts';
import type { OthersSuppressions } from './others-suppressions.ts';
import type { People } from './people.ts';
import type { Scenario } from './scenario.ts';
import type { SetAside } from './set-aside.ts';
import type { Underway } from './underway.ts';

/** One of the things that must always hold did not. */
export interface Violation {
  readonly at: number;
  /** The number under which the design lists it. */
  readonly invariant: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  readonly what: string;
}

/** What the invariants are judged by: the account's true state, what is under way, and what people did beside it. */
export interface Evidence {
  readonly account: Account;
  readonly fleet: JudgedFleet;
  readonly scenario: Scenario;
  readonly others: OthersSuppressions;
  readonly people: People;
  readonly setAside: SetAside;
  readonly underway: Underway;
  readonly broken: (invariant: Violation['invariant'], what: string) => void;
}
