import * as z from 'zod';
import { goals } from './domain/goals.ts';

/** Who asks: the run, and the execution that owns it. Machines put both into every payload. */
export const ownership = z.object({ runId: z.string().min(1), execution: z.string().min(1) });

const instant = z.number();

export const actPayload = ownership.extend({ deadline: instant });
export type ActPayload = z.output<typeof actPayload>;

export const suppressPayload = ownership.extend({ until: instant, round: z.int().min(0) });

export const observePayload = ownership.extend({
  goals: z.array(z.enum(goals)).min(1),
  deadline: instant,
  until: instant,
  newerThan: instant,
  enteredAt: z.iso.datetime({ offset: true }),
});

export const planPayload = z.discriminatedUnion('phase', [
  z.object({
    phase: z.literal('before'),
    execution: z.string().min(1),
    startedAt: z.iso.datetime({ offset: true }),
    enteredAt: z.iso.datetime({ offset: true }),
    optInTagValue: z.string().min(1),
    request: z.unknown(),
  }),
  z.object({ phase: z.literal('after'), execution: z.string().min(1), request: z.unknown() }),
]);

export const concludePayload = z.discriminatedUnion('outcome', [
  ownership.extend({ outcome: z.literal('go-ahead') }),
  ownership.extend({ outcome: z.literal('succeeded') }),
  ownership.extend({ outcome: z.literal('undone') }),
]);

export const fencePayload = z.object({
  /** Empty when the machine's input was too broken to carry one. */
  runId: z.string(),
  execution: z.string().min(1),
  error: z.string(),
  cause: z.string(),
});
