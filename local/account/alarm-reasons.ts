import type { MetricAlarmSettings } from './alarm-settings.ts';
import type { AlarmState } from './alarm-verdict.ts';
import type { Points } from './metric-math.ts';
import type { Window } from './metric-queries.ts';

/** Why an alarm is in its state: a sentence, and the figures behind it as JSON text. */
export interface Reason {
  readonly reason: string;
  readonly data: string | undefined;
}

/** An instant as alarms write it: `2026-11-30T09:00:00.000+0000`. */
export const alarmTime = (at: number): string => new Date(at).toISOString().replace('Z', '+0000');

export interface Evaluated {
  readonly from: AlarmState;
  readonly to: AlarmState;
  readonly points: Points;
  readonly windows: readonly Window[];
  readonly at: number;
}

/** How CloudWatch explains the state of an alarm on one time series. */
export function thresholdReason(settings: MetricAlarmSettings, evaluated: Evaluated): Reason {
  const { evaluationPeriods: periods, datapointsToAlarm, threshold, comparison, treatMissingData } = settings;
  const { from, to, points, windows, at } = evaluated;
  const real = points
    .map((value, index) => ({ value, start: windows[index]?.start ?? at }))
    .filter((point): point is { value: number; start: number } => point.value !== undefined)
    .slice(-periods);
  const data = JSON.stringify({
    version: '1.0',
    queryDate: alarmTime(at),
    ...(real[0] && { startDate: alarmTime(real[0].start) }),
    ...(settings.input.Statistic && { statistic: settings.input.Statistic }),
    period: settings.query.periodMs / 1000,
    recentDatapoints: real.map(({ value }) => value),
    threshold,
  });
  if (to === 'INSUFFICIENT_DATA')
    return {
      reason: `Insufficient Data: ${count(periods, 'datapoint was', 'datapoints were')} unknown.`,
      data,
    };
  const breaching = real.filter(({ value }) => comparison.breaches(value, threshold));
  const crossing = to === 'ALARM' ? breaching : real.filter(point => !breaching.includes(point));
  const missing = Math.max(0, periods - real.length);
  const was = to === 'ALARM' ? 'was' : 'was not';
  const seen =
    real.length === 0
      ? `no datapoints were received for ${count(periods, 'period', 'periods')}`
      : `${crossing.length} out of the last ${periods} datapoints [${crossing.map(written).join(', ')}] ` +
        `${was} ${comparison.words} the threshold (${decimal(threshold)})`;
  const filled =
    missing > 0 && (treatMissingData === 'breaching' || treatMissingData === 'notBreaching')
      ? ` and ${count(missing, 'missing datapoint was', 'missing datapoints were')} treated as [${
          treatMissingData === 'breaching' ? 'Breaching' : 'NonBreaching'
        }]`
      : '';
  const needed = to === 'ALARM' ? datapointsToAlarm : periods - datapointsToAlarm + 1;
  const minimum = ` (minimum ${count(needed, 'datapoint', 'datapoints')} for ${from} -> ${to} transition)`;
  return { reason: `Threshold Crossed: ${seen}${filled}${minimum}.`, data };
}

/** How CloudWatch explains that one of several time series went into ALARM. */
export function contributorReason(
  { comparison, threshold }: MetricAlarmSettings,
  points: Points,
  windows: readonly Window[],
): string {
  const breaching = points.flatMap((value, index) =>
    value !== undefined && comparison.breaches(value, threshold)
      ? [{ value, start: windows[index]?.start ?? 0 }]
      : [],
  );
  const latest = breaching.at(-1);
  return (
    `Threshold Crossed: ${count(breaching.length, 'datapoint was', 'datapoints were')} ${comparison.words} ` +
    `the threshold (${decimal(threshold)}). The most recent datapoint which crossed the threshold: ` +
    `[${latest ? written(latest) : ''}].`
  );
}

const count = (number: number, one: string, several: string): string =>
  `${number} ${number === 1 ? one : several}`;

const decimal = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

/** `1.0 (30/11/26 09:00:00)` */
function written({ value, start }: { readonly value: number; readonly start: number }): string {
  const [, year, month, day, time] = /^..(..)-(..)-(..)T(.{8})/.exec(new Date(start).toISOString()) ?? [];
  return `${decimal(value)} (${day}/${month}/${year} ${time})`;
}
