import { answerHook } from '../core/hooks/answer-hook.ts';
import { functionUrl } from '../core/hooks/function-url.ts';
import { logEvents } from '../core/log-events.ts';
import { say } from '../core/step.ts';

/** The function URL that the hook script on an instance asks: before, gate, after. */
export const handler = functionUrl(async call => {
  const answer = await answerHook(call);
  say(logEvents.hookAnswered, { ...call, ...answer });
  return answer;
});
