import type { Span, SpanState } from './data.ts';

interface Open {
  readonly state: SpanState;
  readonly from: number;
  readonly note: string | undefined;
}

/** Turns "it is now in this state" into spans, cut to the window that is shown. Times must not run backwards. */
export class SpanRecorder {
  readonly #spans: Span[] = [];
  readonly #windowFrom: number;
  #open: Open | undefined;

  constructor(windowFrom: number) {
    this.#windowFrom = windowFrom;
  }

  /** From now on it is in this state, or in none. */
  set(at: number, state: SpanState | undefined, note?: string): void {
    if (this.#open?.state === state && this.#open?.note === note) return;
    this.#close(at);
    this.#open = state && { state, from: at, note };
  }

  spansUntil(to: number): readonly Span[] {
    this.#close(to);
    return this.#spans;
  }

  #close(at: number): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open || at <= this.#windowFrom || at === open.from) return;
    const { state, note } = open;
    const from = Math.max(open.from, this.#windowFrom);
    this.#spans.push({ state, from, to: at, ...(note !== undefined && { note }) });
  }
}
