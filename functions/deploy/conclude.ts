import { closeUndone, giveGoAhead, succeed } from '../core/bracket/conclude.ts';
import { logEvents } from '../core/log-events.ts';
import { record } from '../core/metrics.ts';
import { concludePayload } from '../core/payloads.ts';
import { say, step } from '../core/step.ts';

const conclusions = {
  'go-ahead': { write: giveGoAhead, event: logEvents.goAheadGiven },
  succeeded: { write: succeed, event: logEvents.runSucceeded },
  undone: { write: closeUndone, event: logEvents.runUndone },
} as const;

/** Writes into the record how a phase ended. */
export const handler = step(concludePayload, async ({ runId, execution, outcome }) => {
  const { write, event } = conclusions[outcome];
  const { measures, ...concluded } = await write(runId, execution);
  record(measures);
  say(event, { ...concluded });
  return concluded;
});
