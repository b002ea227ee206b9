import type { Gate } from '../wire/contract.ts';
import { actionName, type CallSite, type Fault, type FaultWay } from './faults.ts';
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
}

const READS = /:(Describe|Get|List|BatchGet)/;

/** Ways that are one story to a function that only reads. */
const TO_A_READ: readonly (readonly FaultWay[])[] = [
  ['throttled', 'unavailable', 'lost-request', 'dies-before'],
  ['denied', 'denied-for-a-while', 'late'],
  ['partial'],
];
const TO_AN_ACT: readonly (readonly FaultWay[])[] = [
  ['throttled', 'unavailable', 'lost-request'],
  ['lost-answer', 'lost-answers'],
  ['dies-after', 'dies-before'],
  ['denied', 'denied-for-a-while'],
  ['late'],
  ['partial'],
];

/** The ways in which a call there can go wrong, those that are alike to its caller together. */
function waysAt({ caller, action }: CallSite): readonly (readonly FaultWay[])[] {
  const isPossible = (way: FaultWay): boolean => {
    if (way === 'partial') return isBatch(action);
    // Only functions die, whose logical ids say so; a machine hears of that as it hears of a lost answer.
    if (way.startsWith('dies')) return caller.endsWith('Function');
    // A machine alone repeats an invocation.
    return !action.startsWith('lambda:') || way !== 'lost-answer';
  };
  const ways = READS.test(action) ? TO_A_READ : TO_AN_ACT;
  return ways.map(alike => alike.filter(isPossible)).filter(alike => alike.length > 0);
}

/** Every fault that any of these calls can meet. */
export const everyFault = (sites: readonly CallSite[]): readonly Fault[] =>
  sites.flatMap(site => waysAt(site).flatMap(alike => alike.map(way => ({ ...site, way }))));

/**
 * Of each caller's each action every story once: by turns another of the ways that are alike, at the first, the second and
 * the last call.
 */
export function tellingFaults(sites: readonly CallSite[]): readonly Fault[] {
  const byAction = Map.groupBy(sites, ({ caller, action }) => `${caller} ${action}`);
  return [...byAction.values()].flatMap((calls, turn) => {
    const telling = calls.length <= 3 ? calls : [...calls.slice(0, 2), ...calls.slice(-1)];
    return telling
      .slice(0, 1)
      .flatMap(waysAt)
      .flatMap((alike, story) => {
        const site = telling[(turn + story) % telling.length];
        const way = alike[turn % alike.length];
        return site && way ? [{ ...site, way }] : [];
      });
  });
}
