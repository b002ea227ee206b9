import type { z } from 'zod/mini';
import { putTo } from '../aws/response-url.ts';
import { answerText, type ResourceAnswer } from '../domain/resource-answer.ts';
import { type Failure, readable } from '../failure.ts';
import { decideAnswer, findAnswer, isSent, markSent } from '../ledger/resource-requests.ts';
import type { answerPayload } from './payloads.ts';
import { physicalIdOf } from './properties.ts';
import type { ResourceRequest } from './request.ts';

/** What an answering step tells the machine. Every member is always there (D15). */
export interface Answered extends Failure {
  readonly status: ResourceAnswer['status'];
  /** Has what was done still to be undone, or is there nothing to do but to send the answer? */
  readonly next: 'undo' | 'send' | 'end';
}

/**
 * Decides what CloudFormation is told, once, or tells it. It hears of one request the same thing however often a step is
 * repeated, and the first answer counts there.
 */
export async function answerRequest(answering: z.output<typeof answerPayload>): Promise<Answered> {
  const { request } = answering;
  switch (answering.step) {
    case 'succeed': {
      const { physicalId } = answering;
      const answer = await decideAnswer(request.RequestId, { status: 'SUCCESS', physicalId, reason: '' });
      return told(request, answer);
    }
    case 'fence': {
      const { error, cause } = readable(answering);
      const reason = `${error}: ${cause}`;
      // Another id than before would make a replacement of what has failed.
      const physicalId = request.PhysicalResourceId ?? physicalIdOf(request);
      const answer = await decideAnswer(request.RequestId, { status: 'FAILED', physicalId, reason });
      // Wrong properties are refused before anything is done.
      const next = answer.status === 'SUCCESS' || error === 'InvalidRequest' ? 'send' : 'undo';
      return { status: answer.status, error, cause, next };
    }
    case 'send': {
      const answer = await findAnswer(request.RequestId);
      if (!answer) throw new Error(`The answer to ${request.RequestId} was never decided.`);
      return told(request, answer);
    }
  }
}

async function told(request: ResourceRequest, answer: ResourceAnswer): Promise<Answered> {
  const { status, reason } = answer;
  if (!(await isSent(request.RequestId))) {
    await putTo(request.ResponseURL, answerText(request, answer));
    await markSent(request.RequestId);
  }
  return { status, error: '', cause: reason, next: 'end' };
}
