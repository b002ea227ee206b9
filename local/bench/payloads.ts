import type { HistoryEvent } from '@aws-sdk/client-sfn';
import type { Execution } from '../states/execution.ts';
import { isObject } from '../states/json.ts';

export interface Payload {
  readonly bytes: number;
  /** What it belongs to, for example `input of Plan`. */
  readonly of: string;
}

/** The largest input, output or variable of any state, task or execution, as the history of the executions has them. */
export function largestPayload(executions: readonly Execution[]): Payload {
  let largest: Payload = { bytes: 0, of: '' };
  for (const execution of executions)
    for (const event of execution.history.events())
      for (const [name, text] of textsOf(event)) {
        const bytes = Buffer.byteLength(text);
        if (bytes > largest.bytes) largest = { bytes, of: `${name} of ${nameOf(event)}` };
      }
  return largest;
}

/** Every text that an event carries, with its member's name. */
function* textsOf(event: HistoryEvent): Generator<readonly [string, string]> {
  const details: readonly unknown[] = Object.values(event);
  for (const detail of details.filter(isObject))
    for (const [name, value] of Object.entries(detail)) {
      if (typeof value === 'string') yield [name, value];
      if (name !== 'assignedVariables' || !isObject(value)) continue;
      for (const [variable, text] of Object.entries(value)) yield [`variable ${variable}`, String(text)];
    }
}

const nameOf = (event: HistoryEvent): string =>
  event.stateEnteredEventDetails?.name ?? event.stateExitedEventDetails?.name ?? event.type ?? '';
