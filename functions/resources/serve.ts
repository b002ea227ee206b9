import { logEvents } from '../core/log-events.ts';
import { servePayload } from '../core/resources/payloads.ts';
import { serveRequest } from '../core/resources/serve.ts';
import { say, step } from '../core/step.ts';

/** One turn at what a stack asks for. */
export const handler = step(servePayload, async payload => {
  const served = await serveRequest(payload);
  const { RequestId, RequestType, ResourceType } = payload.request;
  say(logEvents.resourceServed, { RequestId, RequestType, ResourceType, turn: payload.step, ...served });
  return served;
});
