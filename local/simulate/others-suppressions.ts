import type { Account } from '../account/account.ts';
import type { Entry } from '../account/journal.ts';
import type { JudgedFleet } from './judged-fleet.ts';

/** What somebody else had suppressed before the first run, and has changed since: it is to be left so (D13, D39). */
export class OthersSuppressions {
  readonly #account: Account;
  /** When each ends by itself; infinite when it does not. */
  readonly #ends = new Map<string, number>();
  /** Where it does not show, for want of an included check: nobody can tell it from ours (D13). */
  readonly #unseen = new Set<string>();
  #person: Extract<Entry, { type: 'person' }> | undefined;

  constructor(account: Account, { built }: JudgedFleet) {
    this.#account = account;
    for (const { id } of built.instances) {
      const suppression = account.checks.suppression(id);
      if (!suppression) continue;
      if (account.checks.overall(id).status === 'suppressed') this.#ends.set(id, endOf(suppression));
      else this.#unseen.add(id);
    }
    account.world.journal.listen(entry => this.#hear(entry));
  }

  isUnseen(instanceId: string): boolean {
    this.#look(instanceId);
    return this.#unseen.has(instanceId);
  }

  wasFound(instanceId: string): boolean {
    return this.#ends.has(instanceId);
  }

  /** When it ends; undefined when there is none any more. */
  endsAt(instanceId: string): number | undefined {
    this.#look(instanceId);
    const end = this.#ends.get(instanceId);
    return end !== undefined && end > this.#account.world.clock.now() ? end : undefined;
  }

  /** Once the last included check is deleted it shows no more, and does not come to show again. */
  #look(instanceId: string): void {
    if (!this.#ends.has(instanceId) || this.#account.checks.hasIncludedCheck(instanceId)) return;
    this.#ends.delete(instanceId);
    this.#unseen.add(instanceId);
  }

  /** Only a person's own act ends it, or shortens it. */
  #hear(entry: Entry): void {
    if (entry.type === 'person') this.#person = entry;
    if (entry.type !== 'suppression' || !this.#ends.has(entry.instanceId)) return;
    if (this.#person?.instanceId !== entry.instanceId || this.#person.at !== entry.at) return;
    const end = entry.state === 'releasing' ? entry.at : endOf(entry);
    this.#ends.set(entry.instanceId, Math.min(end, this.#ends.get(entry.instanceId) ?? end));
  }
}

const endOf = ({ resumesAt }: { readonly resumesAt?: number | undefined }): number =>
  resumesAt ?? Number.POSITIVE_INFINITY;
