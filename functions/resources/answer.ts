import { logEvents } from '../core/log-events.ts';
import { answerRequest } from '../core/resources/answer.ts';
import { answerPayload } from '../core/resources/payloads.ts';
import { say, step } from '../core/step.ts';

/** Decides what CloudFormation is told, or tells it. */
export const handler = step(answerPayload, async payload => {
  const answered = await answerRequest(payload);
  const { RequestId, RequestType, ResourceType } = payload.request;
  say(logEvents.resourceAnswered, { RequestId, RequestType, ResourceType, turn: payload.step, ...answered });
  return answered;
});
