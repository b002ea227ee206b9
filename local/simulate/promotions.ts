import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { Call } from '../wire/contract.ts';

/** Two evaluations at the least are evidence (R-AGREE). */
const EVIDENCE = 2;

/** An adoption demotes its check at the first replacement; a loop may go on for two more, which are under way by then. */
const REPLACEMENTS = 1 + 2;

/** From the read that a promotion rests on to the promotion itself: one invocation. */
const DECIDING_MS = 60_000;

/**
 * Invariant 5, judged by the account's true state: a function of ours includes a check only when every instance that it applies
 * to has passed it, and no loop of replacements goes on while the check's adoption lasts.
 */
export class Promotions {
  readonly #account: Account;
  readonly #broken: (what: string) => void;
  /** The checks that live adoptions have included, with the replacements since. */
  readonly #replacements = new Map<string, number>();

  constructor(account: Account, broken: (what: string) => void) {
    this.#account = account;
    this.#broken = broken;
    account.world.journal.listen(entry => this.#hear(entry));
  }

  /** A call that a function of ours makes, before it takes effect. */
  before(
    { action }: Call,
    { ApplicationStatusCheckId: id, Aggregation }: Readonly<Record<string, unknown>>,
  ): void {
    if (action !== 'ModifyApplicationStatusCheck') return;
    const checkId = String(id);
    if (Aggregation !== 'included') {
      this.#replacements.delete(checkId);
      return;
    }
    this.#replacements.set(checkId, this.#replacements.get(checkId) ?? 0);
    for (const instanceId of unprovenUnder(this.#account, checkId))
      this.#broken(`${checkId} is included although ${instanceId} has not passed it twice in a row`);
  }

  #hear(entry: Entry): void {
    // Whatever comes after its adoption is not its adoption's to stop.
    if (entry.type === 'execution' && entry.status !== 'RUNNING' && entry.machine.includes('PromoteCheck'))
      this.#replacements.clear();
    if (entry.type !== 'activity' || entry.kind !== 'terminate') return;
    if (!entry.cause.includes('Application Status check')) return;
    for (const [checkId, before] of this.#replacements) {
      this.#replacements.set(checkId, before + 1);
      if (before + 1 > REPLACEMENTS)
        this.#broken(`${before + 1} instances were replaced since ${checkId} was included, and it still is`);
    }
  }
}

/** The instances in service that have not passed a check which applies to them twice in a row, as far as anybody can see it. */
export function unprovenUnder({ world, checks, ec2, autoScaling }: Account, checkId: string): string[] {
  const now = world.clock.now();
  const unseenMs = world.physics.describeLagSeconds[1] * 1000 + DECIDING_MS;
  const everyMs = world.physics.probeIntervalSeconds * 1000;
  return [...ec2.live()]
    .filter(instance => checks.registry.applyingTo(instance).some(({ id }) => id === checkId))
    .map(({ id }) => id)
    .filter(id => (autoScaling.memberOf(id)?.member.lifecycle ?? 'InService') === 'InService')
    .filter(id => {
      const result = checks.results(id).find(one => one.checkId === checkId);
      if (result?.status !== 'passed') return true;
      const failingForMs = now - result.updatedAt + (-result.streak - 1) * everyMs;
      return result.streak < 0 ? failingForMs > unseenMs : result.streak < EVIDENCE;
    });
}
