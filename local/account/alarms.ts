import { ServiceError } from '../wire/contract.ts';
import { type Contributor, evaluate } from './alarm-evaluation.ts';
import { AlarmHistory } from './alarm-history.ts';
import {
  type AlarmAction,
  actionOf,
  type EnteredState,
  type StateChange,
  stateChangeEvent,
} from './alarm-messages.ts';
import { alarmTime, type Reason } from './alarm-reasons.ts';
import { AlarmSchedule } from './alarm-schedule.ts';
import type { AlarmSettings, CompositeAlarmSettings, MetricAlarmSettings } from './alarm-settings.ts';
import type { AlarmState } from './alarm-verdict.ts';
import type { CloudWatch } from './cloud-watch.ts';
import type { ServiceEvent } from './neighbours.ts';

export interface Alarm<Settings extends AlarmSettings = AlarmSettings> {
  readonly name: string;
  readonly arn: string;
  readonly settings: Settings;
  readonly configuredAt: number;
  readonly actionsEnabled: boolean;
  readonly state: EnteredState;
  readonly tags: ReadonlyMap<string, string>;
  /** Of an alarm on several time series: those in ALARM, by id. */
  readonly contributors: ReadonlyMap<string, Contributor>;
}

type Change = Omit<StateChange, 'arn' | 'settings'>;

export const isMetricAlarm = (alarm: Alarm): alarm is Alarm<MetricAlarmSettings> =>
  alarm.settings.kind === 'metric';

export const isCompositeAlarm = (alarm: Alarm): alarm is Alarm<CompositeAlarmSettings> =>
  alarm.settings.kind === 'composite';

/** The alarms of the account: their settings, their states, and what follows from a change of state. */
export class Alarms {
  readonly history: AlarmHistory;
  readonly metrics: CloudWatch;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #schedule: AlarmSchedule;
  readonly #alarms = new Map<string, Alarm>();
  /** The composite alarms whose rules name an alarm. */
  readonly #parents = new Map<string, Set<string>>();
  #perform: ((action: AlarmAction) => void) | undefined;

  constructor(metrics: CloudWatch, onEvent: (event: ServiceEvent) => void) {
    this.metrics = metrics;
    this.#onEvent = onEvent;
    this.history = new AlarmHistory(metrics.world.clock);
    this.#schedule = new AlarmSchedule(metrics, (name, end) => this.#evaluate(name, end));
  }

  /** @param perform carries out the actions of alarms. A ServiceError that it throws fails the action. */
  onAction(perform: (action: AlarmAction) => void): void {
    this.#perform = perform;
  }

  /** Sorted by name. */
  all(): readonly Alarm[] {
    return [...this.#alarms.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  find(name: string): Alarm | undefined {
    return this.#alarms.get(name);
  }

  /** @throws ServiceError ResourceNotFound */
  get(name: string): Alarm {
    const alarm = this.#alarms.get(name);
    if (!alarm) throw new ServiceError('ResourceNotFound', `Unknown alarm '${name}'.`, 404);
    return alarm;
  }

  /**
   * Creates an alarm, or gives one other settings: its state and its tags stay then, as the API documents.
   *
   * @throws ServiceError ValidationError, UnsupportedOperation
   */
  put(
    settings: AlarmSettings,
    options: { readonly actionsEnabled?: boolean | undefined; readonly tags?: Alarm['tags'] } = {},
  ): void {
    const { clock, partition, region, accountId } = this.metrics.world;
    const now = clock.now();
    const { name } = settings;
    const known = this.#alarms.get(name);
    if (known && known.settings.kind !== settings.kind)
      throw new ServiceError('ValidationError', `The alarm '${name}' is of another type.`);
    if (settings.kind === 'composite') this.#refuseChildren(settings);
    if (known) this.#disconnect(known);
    const alarm: Alarm = {
      name,
      arn: `arn:${partition}:cloudwatch:${region}:${accountId}:alarm:${name}`,
      settings,
      configuredAt: now,
      actionsEnabled: options.actionsEnabled ?? true,
      state: known?.state ?? {
        value: 'INSUFFICIENT_DATA',
        reason: 'Unchecked: Initial alarm creation',
        data: undefined,
        at: now,
      },
      tags: known?.tags ?? options.tags ?? new Map(),
      contributors: known?.contributors ?? new Map(),
    };
    this.#alarms.set(name, alarm);
    this.history.configured(alarm, known ? 'updated' : 'created');
    if (settings.kind === 'metric') this.#schedule.add(settings);
    else {
      for (const child of settings.rule.children)
        this.#parents.set(child, (this.#parents.get(child) ?? new Set()).add(name));
      this.#compose(name, state => `${alarm.arn} was created and its alarm rule evaluates to ${state}`);
    }
  }

  /** @throws ServiceError when one does not exist or a composite alarm needs it; then none is deleted */
  delete(names: readonly string[]): void {
    const alarms = names.map(name => this.get(name));
    for (const { name } of alarms) {
      const [parent] = this.#parents.get(name) ?? [];
      if (parent !== undefined)
        throw new ServiceError(
          'ValidationError',
          `Cannot delete ${name} as there are composite alarm(s) depending on it: ${parent}.`,
        );
    }
    for (const alarm of alarms) {
      this.#disconnect(alarm);
      this.#alarms.delete(alarm.name);
      this.history.configured(alarm, 'deleted');
    }
  }

  /** Until the next evaluation, which finds a metric alarm's own state. @throws ServiceError ResourceNotFound */
  setState(name: string, value: AlarmState, reason: Reason): void {
    const alarm = this.get(name);
    this.#enter(alarm, value, reason);
    if (isMetricAlarm(alarm)) this.#schedule.wake(name);
  }

  /** @throws ServiceError ResourceNotFound */
  enableActions(name: string, actionsEnabled: boolean): void {
    this.#alarms.set(name, { ...this.get(name), actionsEnabled });
  }

  /** @throws ServiceError ResourceNotFound */
  retag(name: string, tags: Alarm['tags']): void {
    this.#alarms.set(name, { ...this.get(name), tags });
  }

  #refuseChildren({ name, rule }: CompositeAlarmSettings): void {
    const below = new Set<string>();
    const visit = (children: readonly string[]): void => {
      for (const child of children) {
        if (below.has(child)) continue;
        below.add(child);
        const alarm = this.#alarms.get(child);
        if (!alarm && child !== name)
          throw new ServiceError('ValidationError', `The AlarmRule names '${child}', which does not exist.`);
        if (alarm && isCompositeAlarm(alarm)) visit(alarm.settings.rule.children);
      }
    };
    visit(rule.children);
    if (below.has(name))
      throw new ServiceError(
        'UnsupportedOperation',
        `The simulated CloudWatch has no circles of alarms: ${name}.`,
      );
  }

  #disconnect({ name, settings }: Alarm): void {
    if (settings.kind === 'metric') this.#schedule.remove(name);
    else for (const child of settings.rule.children) this.#parents.get(child)?.delete(name);
  }

  #evaluate(name: string, end: number): void {
    const alarm = this.get(name);
    if (!isMetricAlarm(alarm)) return;
    const { entered, contributors, recovered = [] } = evaluate(alarm, this.metrics, end);
    const current = contributors ? { ...alarm, contributors } : alarm;
    this.#alarms.set(name, current);
    for (const { id, attributes, state } of contributors?.values() ?? []) {
      if (alarm.contributors.has(id)) continue;
      const previous = { ...state, value: 'OK' as const };
      this.#contribute(current, { previous, state, contributor: { id, attributes } });
    }
    for (const { contributor, reason } of recovered) {
      const state = { value: 'OK', reason, data: undefined, at: this.metrics.world.clock.now() } as const;
      this.#contribute(current, { previous: contributor.state, state, contributor });
    }
    if (entered) this.#enter(current, entered.value, entered.reason);
  }

  /** Of an alarm on several time series each one acts, not the alarm as a whole. */
  #contribute(alarm: Alarm, change: Change): void {
    this.#announce(alarm, change);
    this.#act(alarm, change);
  }

  /** A composite alarm is evaluated whenever an alarm that it names changes its state. */
  #compose(name: string, because: (state: AlarmState) => string): void {
    const alarm = this.get(name);
    if (!isCompositeAlarm(alarm)) return;
    const { rule } = alarm.settings;
    const value = rule.holds(child => this.get(child).state.value) ? 'ALARM' : 'OK';
    const triggeringAlarms = rule.children
      .map(child => this.get(child))
      .map(({ arn, state }) => ({ arn, state: { value: state.value, timestamp: alarmTime(state.at) } }));
    this.#enter(alarm, value, { reason: because(value), data: JSON.stringify({ triggeringAlarms }) });
  }

  #enter(alarm: Alarm, value: AlarmState, { reason, data }: Reason): void {
    const previous = alarm.state;
    if (previous.value === value) return;
    const state = { value, reason, data, at: this.metrics.world.clock.now() };
    const current = { ...alarm, state };
    this.#alarms.set(alarm.name, current);
    const change = { previous, state, contributor: undefined };
    this.#announce(current, change);
    if (!isMetricAlarm(current) || !current.settings.query.grouped) this.#act(current, change);
    const when = new Date(state.at).toUTCString();
    for (const parent of this.#parents.get(alarm.name) ?? [])
      this.#compose(parent, () => `${alarm.arn} transitioned to ${value} at ${when}`);
  }

  #announce(alarm: Alarm, change: Change): void {
    const { arn, settings, name } = alarm;
    const { contributor, state } = change;
    this.history.changed(alarm, change);
    this.metrics.world.journal.record({
      type: 'alarm',
      alarm: name,
      contributor: contributor && Object.values(contributor.attributes).join(' '),
      state: state.value,
      reason: state.reason,
    });
    this.#onEvent(stateChangeEvent({ arn, settings, ...change }));
  }

  #act(alarm: Alarm, change: Change): void {
    const { arn, settings, actionsEnabled } = alarm;
    if (!actionsEnabled) return;
    for (const target of settings.actions[change.state.value]) {
      const action = actionOf(target, { arn, settings, ...change }, this.metrics.world);
      try {
        if (!this.#perform)
          throw new ServiceError('NotFound', 'Nothing in the account takes actions of alarms.');
        this.#perform(action);
        this.history.acted(alarm, target, undefined);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        this.history.acted(alarm, target, error.message);
      }
    }
  }
}
