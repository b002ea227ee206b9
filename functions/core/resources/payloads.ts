import * as z from 'zod/mini';
import { resourceRequest } from './request.ts';

const named = z.string().check(z.minLength(1));

/** The execution that serves the request, and the request as CloudFormation has sent it. */
const serving = { execution: named, request: resourceRequest };

export const servePayload = z.discriminatedUnion('step', [
  z.object({
    ...serving,
    step: z.literal('serve'),
    optInTagValue: named,
    /** When the execution began: CloudFormation's own time has run since then. */
    startedAt: z.iso.datetime(),
  }),
  z.object({ ...serving, step: z.literal('undo') }),
]);

export const cleanUpPayload = z.object({ ...serving, startedAt: z.iso.datetime() });

export const answerPayload = z.discriminatedUnion('step', [
  z.object({ ...serving, step: z.literal('succeed'), physicalId: named }),
  /** Decides the answer, so that no act starts any more (D5). It is sent when what is in flight has ended. */
  z.object({ ...serving, step: z.literal('fence'), error: named, cause: z.string() }),
  z.object({ ...serving, step: z.literal('send') }),
]);
