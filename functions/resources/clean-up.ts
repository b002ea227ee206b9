import { logEvents } from '../core/log-events.ts';
import { cleanUp } from '../core/resources/clean-up.ts';
import { cleanUpPayload } from '../core/resources/payloads.ts';
import { say, step } from '../core/step.ts';

/** One turn at leaving nothing behind, when the stack of Quiesce itself is deleted. */
export const handler = step(cleanUpPayload, async payload => {
  const cleaned = await cleanUp(payload);
  const { RequestId, RequestType, ResourceType } = payload.request;
  say(logEvents.resourceServed, { RequestId, RequestType, ResourceType, turn: 'clean-up', ...cleaned });
  return cleaned;
});
