import { rangeOf } from './alarm-evaluation.ts';
import type { MetricAlarmSettings } from './alarm-settings.ts';
import type { CloudWatch } from './cloud-watch.ts';

const MINUTE = 60_000;

/**
 * When which alarms are evaluated: once a minute, whatever their period (as CloudWatch does), as long as a point of their
 * metrics lies within their evaluation range. Nothing about the others can change, so they cost nothing.
 */
export class AlarmSchedule {
  readonly #store: CloudWatch;
  readonly #evaluate: (alarm: string, end: number) => void;
  /** The alarms that read the metrics of a key. */
  readonly #watching = new Map<string, Set<string>>();
  readonly #settings = new Map<string, MetricAlarmSettings>();
  /** When each alarm that has to be evaluated last had a reason to be. */
  readonly #due = new Map<string, number>();
  #armed = false;

  /** @param evaluate of an alarm's name and the full minute, in milliseconds, at which its evaluation range ends */
  constructor(store: CloudWatch, evaluate: (alarm: string, end: number) => void) {
    this.#store = store;
    this.#evaluate = evaluate;
    store.onPut((key, nameKey) => {
      for (const name of this.#watching.get(key) ?? []) this.wake(name);
      for (const name of this.#watching.get(nameKey) ?? []) this.wake(name);
    });
  }

  add(settings: MetricAlarmSettings): void {
    const { name, query } = settings;
    this.remove(name);
    this.#settings.set(name, settings);
    this.#store.keepFor(rangeOf(settings, this.#store) * query.periodMs + MINUTE);
    for (const key of query.watches)
      this.#watching.set(key, (this.#watching.get(key) ?? new Set()).add(name));
    this.wake(name);
  }

  remove(name: string): void {
    const known = this.#settings.get(name);
    for (const key of known?.query.watches ?? []) this.#watching.get(key)?.delete(name);
    this.#settings.delete(name);
    this.#due.delete(name);
  }

  /** Has the alarm evaluated from the next minute on. */
  wake(name: string): void {
    const { clock, physics } = this.#store.world;
    const now = clock.now();
    this.#due.set(name, now);
    if (this.#armed) return;
    this.#armed = true;
    const delay = physics.alarmDelaySeconds * 1000;
    clock.after((Math.floor((now - delay) / MINUTE) + 1) * MINUTE + delay - now, () => this.#tick());
  }

  #tick(): void {
    const { clock } = this.#store.world;
    const end = Math.floor(clock.now() / MINUTE) * MINUTE;
    for (const [name, since] of [...this.#due]) {
      const settings = this.#settings.get(name);
      if (!settings) continue;
      this.#evaluate(name, end);
      if (end - rangeOf(settings, this.#store) * settings.query.periodMs > since) this.#due.delete(name);
    }
    this.#armed = this.#due.size > 0;
    if (this.#armed) clock.after(MINUTE, () => this.#tick());
  }
}
