import * as z from 'zod/mini';
import { logEvents } from '../core/log-events.ts';
import { answerCutOff, receive } from '../core/resources/receive.ts';
import { type ResourceRequest, resourceRequest } from '../core/resources/request.ts';
import { say, step } from '../core/step.ts';

/** A request of CloudFormation; or the end of an execution that has perhaps not answered one. */
const trigger = z.union([
  z.object({ source: z.literal('aws.states'), detail: z.object({ executionArn: z.string() }) }),
  resourceRequest,
]);

/** Takes what CloudFormation asks of custom resources. */
export const handler = step(trigger, async event => {
  if (!('detail' in event)) {
    const started = await receive(event);
    say(logEvents.resourceRequested, { ...idsOf(event), started });
    return { requests: [event.RequestId] };
  }
  const request = await answerCutOff(event.detail.executionArn);
  if (request) say(logEvents.resourceRequested, { ...idsOf(request), started: 'cut-off' });
  return { requests: request ? [request.RequestId] : [] };
});

/** Never the URL. */
const idsOf = ({ RequestId, RequestType, ResourceType, StackId, LogicalResourceId }: ResourceRequest) => ({
  RequestId,
  RequestType,
  ResourceType,
  StackId,
  LogicalResourceId,
});
