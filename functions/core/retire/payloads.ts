import * as z from 'zod/mini';

const named = z.string().check(z.minLength(1));

/** Which retirement, and the execution that owns it. The machine puts both into every payload. */
const ownership = { subject: named, execution: named };

export const planPayload = z.object({
  execution: named,
  optInTagValue: named,
  /** A retirement, or one that has been abandoned. */
  request: z.unknown(),
});

export const actPayload = z.discriminatedUnion('act', [
  z.object({ ...ownership, act: z.literal('delete-check') }),
  z.object({ ...ownership, act: z.literal('delete-groups'), groupIds: z.array(named) }),
]);

export const observePayload = z.object(ownership);

export const endPayload = z.discriminatedUnion('step', [
  z.object({ ...ownership, step: z.literal('succeeded') }),
  z.object({
    step: z.literal('fence'),
    execution: named,
    /** As the machine was started with it, however broken. */
    request: z.unknown(),
    error: z.string(),
    cause: z.string(),
  }),
]);
