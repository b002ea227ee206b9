import type { AlarmHistoryItem } from '@aws-sdk/client-cloudwatch';
import type { StateChange } from './alarm-messages.ts';
import type { Alarm } from './alarms.ts';
import type { World } from './world.ts';

/** What DescribeAlarmHistory shows, the oldest first. It outlives the alarms. */
export class AlarmHistory {
  readonly items: AlarmHistoryItem[] = [];
  readonly #clock: World['clock'];

  constructor(clock: World['clock']) {
    this.#clock = clock;
  }

  configured(alarm: Alarm, what: 'created' | 'updated' | 'deleted'): void {
    this.#add(alarm, {
      HistoryItemType: 'ConfigurationUpdate',
      HistorySummary: `Alarm "${alarm.name}" ${what}`,
    });
  }

  changed(alarm: Alarm, { previous, state, contributor }: Omit<StateChange, 'arn' | 'settings'>): void {
    this.#add(alarm, {
      HistoryItemType: contributor ? 'AlarmContributorStateUpdate' : 'StateUpdate',
      HistorySummary: `Alarm updated from ${previous.value} to ${state.value}`,
      HistoryData: JSON.stringify({
        version: '1.0',
        oldState: { stateValue: previous.value, stateReason: previous.reason },
        newState: { stateValue: state.value, stateReason: state.reason },
      }),
      ...(contributor && {
        AlarmContributorId: contributor.id,
        AlarmContributorAttributes: { ...contributor.attributes },
      }),
    });
  }

  /** @param failure why the action was not carried out */
  acted(alarm: Alarm, target: string, failure: string | undefined): void {
    this.#add(alarm, {
      HistoryItemType: 'Action',
      HistorySummary:
        failure === undefined
          ? `Successfully executed action ${target}`
          : `Failed to execute action ${target}. Received error: "${failure}"`,
    });
  }

  #add({ name, settings }: Alarm, item: AlarmHistoryItem): void {
    const AlarmType = settings.kind === 'metric' ? 'MetricAlarm' : 'CompositeAlarm';
    this.items.push({ AlarmName: name, AlarmType, Timestamp: this.#clock.date(), ...item });
  }
}
