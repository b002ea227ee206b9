import { concludeAdoption, fenceAdoption, undoAdoption } from '../core/adopt/end.ts';
import { endPayload } from '../core/adopt/payloads.ts';
import { logEvents } from '../core/log-events.ts';
import { say, step } from '../core/step.ts';

/** Ends an adoption: as succeeded, or by fence and undo. */
export const handler = step(endPayload, async payload => {
  const { step: ending, group, execution } = payload;
  switch (payload.step) {
    case 'fence': {
      const fenced = await fenceAdoption(group, execution, payload);
      say(logEvents.adoptionEnded, { ending, ...fenced });
      return fenced;
    }
    case 'undo': {
      const undone = await undoAdoption(group, execution, payload.deadline);
      say(logEvents.adoptionEnded, { ending, group, ...undone });
      return undone;
    }
    default: {
      const concluded = await concludeAdoption(group, execution, payload.step);
      say(logEvents.adoptionEnded, { ending, ...concluded });
      return concluded;
    }
  }
});
