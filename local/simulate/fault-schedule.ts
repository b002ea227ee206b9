import type { World } from '../account/world.ts';
import type { Random } from '../clock/random.ts';
import type { StackSettings } from '../stack/deploy.ts';
import { type Call, type Gate, NoAnswer } from '../wire/contract.ts';
import { FAULT_KINDS, type FaultKind, type FaultSpec } from './fault-spec.ts';
import { throttle, unavailable } from './faults.ts';
import { isBatch, partially } from './partial-batches.ts';

/** A span in which a service throttles, and the share of calls that it then refuses. */
const THROTTLED_SPAN_MS = 20_000;
const THROTTLED_SHARE = 0.7;
/** As functions/core/aws/clients.ts has it: so long a call waits for an answer that does not come. */
const UNANSWERED_MS = 10_000;
const SLOWEST_CALL_MS = 8_000;
/** EventBridge's typical latency, and how late an event may come. */
const TYPICAL_EVENT_MS = 500;
const LATEST_EVENT_MS = 600_000;

/**
 * Injects a scenario's faults, drawn from the world's seed: each kind has a stream of its own, so that leaving one kind out
 * does not change the draws of another.
 */
export class FaultSchedule {
  /** How often each kind struck. */
  readonly injected = new Map<FaultKind, number>();
  /** When the last fault may strike, in milliseconds since the epoch. */
  readonly endsAt: number;
  readonly #spec: FaultSpec;
  readonly #world: World;
  readonly #begunAt: number;
  readonly #draws: ReadonlyMap<FaultKind, Random>;

  /** Its span is counted from now. */
  constructor(world: World, spec: FaultSpec) {
    const random = world.random.fork('faults');
    this.#spec = spec;
    this.#world = world;
    this.#begunAt = world.clock.now();
    this.endsAt = this.#begunAt + spec.untilSeconds * 1000;
    this.#draws = new Map(FAULT_KINDS.map(kind => [kind, random.fork(kind)]));
  }

  readonly gate: Gate = {
    before: call => this.#before(call),
    around: (call, input, perform) => {
      const some = isBatch(`${call.service}:${call.action}`) && isOurs(call) && this.#strikes('partial');
      return some ? partially(call, input, perform) : perform(input);
    },
    after: async call => {
      if (isOurs(call) && this.#strikes('loseAnswer')) await this.#leaveUnanswered();
    },
  };

  readonly dies: NonNullable<StackSettings['dies']> = () => {
    if (!this.#strikes('die')) return undefined;
    return this.#draw('die').chance(0.5) ? 'before' : 'after';
  };

  readonly deliveries: NonNullable<StackSettings['deliveries']> = () => {
    if (this.#strikes('loseEvent')) return [];
    const late = this.#strikes('delayEvent');
    const after = late
      ? this.#draw('delayEvent').between(TYPICAL_EVENT_MS, LATEST_EVENT_MS)
      : TYPICAL_EVENT_MS;
    if (!this.#strikes('repeatEvent')) return [after];
    return [after, after + this.#draw('repeatEvent').between(0, LATEST_EVENT_MS)];
  };

  async #before(call: Call): Promise<void> {
    if (!isOurs(call)) return;
    const { clock } = this.#world;
    if (this.#strikes('slowCall')) await clock.sleep(this.#draw('slowCall').between(500, SLOWEST_CALL_MS));
    if (this.#isThrottled(call)) throw throttle(call);
    if (this.#strikes('fail')) throw unavailable(call);
    if (this.#strikes('loseRequest')) await this.#leaveUnanswered();
  }

  #isThrottled({ service }: Call): boolean {
    const { throttle: rate = 0 } = this.#spec.rates;
    if (rate === 0 || !this.#isOn()) return false;
    const span = Math.floor((this.#world.clock.now() - this.#begunAt) / THROTTLED_SPAN_MS);
    const isTight = this.#draw('throttle').fork(`${service} ${span}`).chance(rate);
    return isTight && this.#draw('throttle').chance(THROTTLED_SHARE) && this.#count('throttle');
  }

  async #leaveUnanswered(): Promise<never> {
    await this.#world.clock.sleep(UNANSWERED_MS);
    throw new NoAnswer(`no answer within ${UNANSWERED_MS} ms`);
  }

  #strikes(kind: FaultKind): boolean {
    const rate = this.#spec.rates[kind] ?? 0;
    return rate > 0 && this.#isOn() && this.#draw(kind).chance(rate) && this.#count(kind);
  }

  #count(kind: FaultKind): true {
    this.injected.set(kind, (this.injected.get(kind) ?? 0) + 1);
    return true;
  }

  #isOn(): boolean {
    const now = this.#world.clock.now();
    return now >= this.#begunAt + this.#spec.fromSeconds * 1000 && now < this.endsAt;
  }

  #draw(kind: FaultKind): Random {
    const draw = this.#draws.get(kind);
    if (!draw) throw new Error(`${kind} has no stream of its own`);
    return draw;
  }
}

/** Faults strike the product, not the person beside it. */
const isOurs = ({ caller }: Call): boolean => caller.kind === 'function' || caller.kind === 'machine';
