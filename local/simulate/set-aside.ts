import type { Account } from '../account/account.ts';
import { deploymentsOf, policyOf } from './runs.ts';
import type { Scenario } from './scenario.ts';

const SET_ASIDE = /^(Entering)?Standby$|^Terminating|^Warmed:/;

/**
 * From the read that says which members are in service to the last call for them: a chunk that waits for its turn, and the
 * attempts of the SDK.
 */
const DECIDING_MS = 120_000;

/** Members of Auto Scaling groups that are not to serve any more: in Standby, in the warm pool, retained, or on their way out. */
export class SetAside {
  readonly #account: Account;
  readonly #since = new Map<string, number>();
  /** A run with this policy puts members there itself, and brings them back. */
  readonly #ours: boolean;

  constructor(account: Account, scenario: Scenario) {
    this.#account = account;
    this.#ours = deploymentsOf(scenario).some(spec => policyOf(spec).autoScaling === 'standby');
    account.world.journal.listen(entry => {
      if (entry.type !== 'lifecycle') return;
      if (!SET_ASIDE.test(entry.state)) this.#since.delete(entry.instanceId);
      else if (!this.#since.has(entry.instanceId)) this.#since.set(entry.instanceId, entry.at);
    });
  }

  /** The lifecycle state in which an instance is set aside; undefined unless it is. */
  stateOf(instanceId: string): string | undefined {
    const state = this.#account.autoScaling.memberOf(instanceId)?.member.lifecycle;
    if (state === undefined || !SET_ASIDE.test(state)) return undefined;
    return this.#ours && state.endsWith('Standby') ? undefined : state;
  }

  /** The same, if it has been for longer than any read is old that a call rests on. */
  shownStateOf(instanceId: string): string | undefined {
    const since = this.#since.get(instanceId) ?? Number.POSITIVE_INFINITY;
    return this.#account.world.clock.now() - since > DECIDING_MS ? this.stateOf(instanceId) : undefined;
  }
}
