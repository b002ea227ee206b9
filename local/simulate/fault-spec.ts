import { z } from 'zod';

/**
 * What may go wrong between the product and AWS, each with its rate: of the calls of functions and machines, or as said.
 * `throttle` is of spans of 20 seconds in which a service throttles most calls.
 */
export const FAULT_KINDS = [
  'throttle',
  'fail',
  'loseRequest',
  'loseAnswer',
  'slowCall',
  /** Of the calls that take a batch: all but its last member is done. */
  'partial',
  /** A function dies right before the call, or right after it took effect. */
  'die',
  /** Of the events on their way to a rule, as the two after it. */
  'loseEvent',
  'repeatEvent',
  'delayEvent',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const rate = z.number().min(0).max(1);

/** A schedule of faults, drawn from the scenario's seed. */
export const faultSpec = z.strictObject({
  fromSeconds: z.number().min(0).default(0).describe('from the start of the deployment'),
  untilSeconds: z.number().min(0).describe('from the start of the deployment'),
  rates: z
    .partialRecord(z.enum(FAULT_KINDS), rate)
    .describe('how often each kind strikes, from 0 to 1 (local/simulate/fault-spec.ts)'),
});
export type FaultSpec = z.output<typeof faultSpec>;

export type FaultRates = FaultSpec['rates'];

/** Kinds of bad days. `hostile` has all of them at once. */
export const FAULT_PROFILES = {
  none: {},
  throttled: { throttle: 0.25 },
  flaky: { fail: 0.03, loseRequest: 0.01, loseAnswer: 0.02 },
  partial: { partial: 0.1 },
  amnesiac: { die: 0.015 },
  events: { loseEvent: 0.3, repeatEvent: 0.2, delayEvent: 0.3 },
  slow: { slowCall: 0.15 },
  hostile: {
    throttle: 0.1,
    fail: 0.015,
    loseRequest: 0.005,
    loseAnswer: 0.01,
    slowCall: 0.05,
    partial: 0.03,
    die: 0.008,
    loseEvent: 0.1,
    repeatEvent: 0.1,
    delayEvent: 0.1,
  },
} as const satisfies Readonly<Record<string, FaultRates>>;
export type FaultProfile = keyof typeof FAULT_PROFILES;
