import { compose, remember } from '../core/bracket/tell.ts';
import { logEvents } from '../core/log-events.ts';
import { tellPayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

/** Says what people are to be told of a failed run, and writes down that they were. */
export const handler = step(tellPayload, async payload => {
  if (payload.phase === 'compose') return compose(payload.runId, payload);
  const { runId, what } = payload;
  const remembered = await remember(runId, what);
  say(logEvents.runTold, { runId, what });
  return remembered;
});
