import type { HistoryEvent, HistoryEventType } from '@aws-sdk/client-sfn';
import { StateFailure } from './failure.ts';
import { type EventDetails, membersOf } from './history-event.ts';

/** A service quota: "Maximum execution event history size". The last event is the end of the execution. */
export const MAX_EVENTS = 25_000;

interface Entry {
  readonly type: HistoryEventType;
  readonly at: number;
  readonly previous: number;
  readonly details: EventDetails | undefined;
}

/** The events of one execution. An event's id is its place, from 1. */
export class History {
  readonly #entries: Entry[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Is there room for no more than the end of the execution? */
  get isFull(): boolean {
    return this.#entries.length >= MAX_EVENTS - 1;
  }

  /**
   * Adds an event and returns its id.
   *
   * @throws StateFailure States.Runtime when the history is full, which nothing catches
   */
  add(type: HistoryEventType, previous: number, details?: EventDetails): number {
    if (this.isFull) {
      throw new StateFailure(
        'States.Runtime',
        `The execution reached the maximum number of history events (${MAX_EVENTS}).`,
      );
    }
    return this.close(type, previous, details);
  }

  /** Adds the event that ends the execution. */
  close(type: HistoryEventType, previous: number, details?: EventDetails): number {
    return this.#entries.push({ type, at: this.#now(), previous, details });
  }

  /** The events as the API gives them, oldest first. */
  events(): HistoryEvent[] {
    return this.#entries.map(({ type, at, previous, details }, index) => ({
      timestamp: new Date(at),
      type,
      id: index + 1,
      previousEventId: previous,
      ...(details && membersOf(type, details)),
    }));
  }
}
