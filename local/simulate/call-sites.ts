import type { Gate } from '../wire/contract.ts';
import { actionName, type CallSite, type Fault, type FaultWay, faultWays } from './faults.ts';
import { isBatch } from './partial-batches.ts';

/** Writes down every call of a simulation that a fault can meet. */
export class CallSites {
  readonly #sites: CallSite[] = [];
  readonly #counts = new Map<string, number>();

  /** People are not ours, and AWS's own services do not err in a way that we could answer to. */
  readonly gate: Gate = {
    before: (call, input) => {
      const { kind, name: caller } = call.caller;
      if (kind !== 'function' && kind !== 'machine' && kind !== 'rule') return;
      const action = actionName(call, input);
      const ordinal = (this.#counts.get(`${caller} ${action}`) ?? 0) + 1;
      this.#counts.set(`${caller} ${action}`, ordinal);
      this.#sites.push({ caller, action, ordinal });
    },
  };

  /** In the order in which they were called. */
  get all(): readonly CallSite[] {
    return this.#sites;
  }

  /** Of calls that are alike but for their place in a loop: the first, the second and the last. */
  get telling(): readonly CallSite[] {
    const last = ({ caller, action }: CallSite) => this.#counts.get(`${caller} ${action}`);
    return this.#sites.filter(site => site.ordinal <= 2 || site.ordinal === last(site));
  }
}

const READS = /:(Describe|Get|List|BatchGet)/;

/** The ways in which a call there can go wrong, each of which is another story to whoever made it. */
export function waysAt({ action }: CallSite): readonly FaultWay[] {
  const isInvocation = action.startsWith('lambda:');
  return Object.keys(faultWays).filter((way): way is FaultWay => {
    switch (way) {
      // What the function loses to its own death, the machine is told as the failure of its invocation.
      case 'dies-before':
        return !isInvocation;
      // A read that took effect is like one that did not.
      case 'dies-after':
        return !isInvocation && !READS.test(action);
      case 'lost-answer':
        // Nothing repeats an invocation but the machine.
        return !isInvocation && !READS.test(action);
      case 'lost-answers':
        return !READS.test(action);
      case 'partial':
        return isBatch(action);
      default:
        return true;
    }
  });
}

export const faultsAt = (sites: readonly CallSite[]): readonly Fault[] =>
  sites.flatMap(site => waysAt(site).map(way => ({ ...site, way })));
