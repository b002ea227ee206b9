import { StateFailure } from './failure.ts';
import type { Json } from './json.ts';

/** A service quota: "Maximum input or output size for a task, state, or execution", 256 KiB as UTF-8. */
const MAX_BYTES = 262_144;

export const isTooLong = (text: string): boolean =>
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  text.length * 3 > MAX_BYTES && Buffer.byteLength(text) > MAX_BYTES;

/** @throws StateFailure States.DataLimitExceeded; `what` begins its Cause, "The state 'X' has an output" */
export function checkLength(value: Json, what: string): void {
  if (isTooLong(JSON.stringify(value))) {
    throw new StateFailure(
      'States.DataLimitExceeded',
      `${what} with a size exceeding the maximum number of bytes service limit.`,
    );
  }
}
