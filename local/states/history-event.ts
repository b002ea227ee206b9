import type { HistoryEvent, HistoryEventType } from '@aws-sdk/client-sfn';
import type { Json } from './json.ts';

/** What an event tells beside its type. Values stay values, and become text when somebody asks for them. */
export type EventDetails =
  | {
      readonly of: 'execution';
      readonly input?: Json;
      readonly output?: Json;
      readonly error?: string;
      readonly cause?: string;
    }
  | { readonly of: 'entered'; readonly name: string; readonly input: Json }
  | {
      readonly of: 'exited';
      readonly name: string;
      readonly output: Json;
      readonly assigned: Readonly<Record<string, Json>> | undefined;
    }
  | (Work & { readonly of: 'task'; readonly resourceType: string; readonly resource: string })
  | (Work & { readonly of: 'function'; readonly resource?: string })
  | { readonly of: 'map'; readonly length: number }
  | { readonly of: 'iteration'; readonly name: string; readonly index: number }
  | {
      readonly of: 'evaluation';
      readonly error: string;
      readonly cause: string;
      readonly location: string;
      readonly state: string;
    };

/** The life of one task: scheduled, then an output or an error. */
interface Work {
  readonly scheduled?: {
    readonly region: string;
    readonly parameters: Json;
    readonly timeoutInSeconds: number | undefined;
    readonly heartbeatInSeconds: number | undefined;
  };
  readonly output?: Json;
  readonly error?: string;
  readonly cause?: string;
}

const textOf = (value: Json): string => JSON.stringify(value);

/** The member of the SDK's HistoryEvent that goes with the event's type. */
export function membersOf(type: HistoryEventType, details: EventDetails): Partial<HistoryEvent> {
  switch (details.of) {
    case 'entered': {
      const { name, input } = details;
      return { stateEnteredEventDetails: { name, input: textOf(input) } };
    }
    case 'exited': {
      const { name, output, assigned } = details;
      const assignedVariables =
        assigned &&
        Object.fromEntries(Object.entries(assigned).map(([variable, value]) => [variable, textOf(value)]));
      return { stateExitedEventDetails: { name, output: textOf(output), assignedVariables } };
    }
    case 'map':
      return { mapStateStartedEventDetails: { length: details.length } };
    case 'iteration': {
      const { name, index } = details;
      return { [memberOf(type)]: { name, index } };
    }
    case 'evaluation': {
      const { error, cause, location, state } = details;
      return { evaluationFailedEventDetails: { error, cause, location, state } };
    }
    default:
      return { [memberOf(type)]: tell(details) };
  }
}

/** ExecutionFailed has executionFailedEventDetails, and so on. */
const memberOf = (type: HistoryEventType): string => `${type[0]?.toLowerCase()}${type.slice(1)}EventDetails`;

function tell(details: Extract<EventDetails, { of: 'execution' | 'task' | 'function' }>): object {
  const { of, ...told } = details;
  const { scheduled, ...rest } = 'scheduled' in told ? told : { ...told, scheduled: undefined };
  const values = Object.entries(rest).map(([name, value]) => [
    name,
    name === 'input' || name === 'output' ? textOf(value) : value,
  ]);
  if (!scheduled) return Object.fromEntries(values);
  const { parameters, region, timeoutInSeconds, heartbeatInSeconds } = scheduled;
  const times = { timeoutInSeconds, heartbeatInSeconds };
  return of === 'task'
    ? { ...Object.fromEntries(values), region, parameters: textOf(parameters), ...times }
    : { ...Object.fromEntries(values), input: textOf(parameters), timeoutInSeconds };
}
