import * as z from 'zod/mini';

const named = z.string().check(z.minLength(1));
const instant = z.number();

/** Which adoption, and the execution that owns it. The machine puts both into every payload. */
const ownership = { group: named, execution: named };

export const planPayload = z.object({
  execution: named,
  optInTagValue: named,
  /** An adoption, or one that has been abandoned. */
  request: z.unknown(),
});

const streak = z.object({ evaluations: z.int(), newerThan: instant, members: z.string() });

export const actPayload = z.discriminatedUnion('act', [
  z.object({ ...ownership, act: z.literal('sample') }),
  z.object({ ...ownership, act: z.literal('widen') }),
  z.object({ ...ownership, act: z.literal('promote'), streak, since: instant }),
]);

export const observePayload = z.discriminatedUnion('of', [
  z.object({
    ...ownership,
    of: z.enum(['sample', 'group']),
    streak,
    /** When the check was associated, in milliseconds since the epoch. */
    since: instant,
    deadline: instant,
  }),
  z.object({
    ...ownership,
    of: z.literal('harm'),
    /** When the check was included, in milliseconds since the epoch. */
    since: instant,
    deadline: instant,
  }),
]);

export const endPayload = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('fence'),
    execution: named,
    /** Empty when the machine's input was too broken to carry one. */
    group: z.string(),
    error: z.string(),
    cause: z.string(),
  }),
  z.object({ ...ownership, step: z.literal('undo'), deadline: instant }),
  z.object({ ...ownership, step: z.enum(['succeeded', 'undone']) }),
]);
