import { createHash } from 'node:crypto';
import type { ContributorName, EnteredState } from './alarm-messages.ts';
import { contributorReason, type Reason, thresholdReason } from './alarm-reasons.ts';
import type { MetricAlarmSettings } from './alarm-settings.ts';
import { type AlarmState, judge } from './alarm-verdict.ts';
import type { CloudWatch } from './cloud-watch.ts';
import type { QueriedSeries, Window } from './metric-queries.ts';

/** One time series of an alarm that is in ALARM. */
export interface Contributor extends ContributorName {
  readonly state: EnteredState;
}

/** What an evaluation looks at. */
export interface Evaluable {
  readonly settings: MetricAlarmSettings;
  readonly state: EnteredState;
  readonly contributors: ReadonlyMap<string, Contributor>;
}

/** What an evaluation found: nothing of a state means that it stays. */
export interface Evaluation {
  readonly entered?: { readonly value: AlarmState; readonly reason: Reason };
  /** Of an alarm on several time series: all that are in ALARM now, and why others no longer are. */
  readonly contributors?: ReadonlyMap<string, Contributor>;
  readonly recovered?: readonly { readonly contributor: Contributor; readonly reason: string }[];
}

/** CloudWatch's quota: the most contributors in ALARM. */
const MOST_CONTRIBUTORS = 100;

/** The number of periods that CloudWatch retrieves; documented for three evaluation periods only. */
export const rangeOf = ({ evaluationPeriods }: MetricAlarmSettings, { world }: CloudWatch): number =>
  evaluationPeriods + (evaluationPeriods === 3 ? 2 : world.physics.alarmRangeBeyondPeriods);

/** Evaluates a metric alarm over the range that ends at `end`, a full minute in milliseconds. */
export function evaluate(alarm: Evaluable, store: CloudWatch, end: number): Evaluation {
  const { query } = alarm.settings;
  const range = rangeOf(alarm.settings, store);
  const windows = Array.from({ length: range }, (_, index) => {
    const start = end - (range - index) * query.periodMs;
    return { start, end: start + query.periodMs };
  });
  const series = query.read(store, windows);
  const [alone] = series;
  if (query.grouped) return judgeContributors(alarm, store, series, windows);
  return alone ? judgeAlone(alarm, store, alone, windows) : {};
}

function judgeAlone(
  { settings, state }: Evaluable,
  { world }: CloudWatch,
  { points }: QueriedSeries,
  windows: readonly Window[],
): Evaluation {
  const from = state.value;
  const to = verdict(settings, points, world.physics.alarmTooFewBreaching);
  if (to === 'retained' || to === from) return {};
  const reason = thresholdReason(settings, { from, to, points, windows, at: world.clock.now() });
  return { entered: { value: to, reason } };
}

/** The guide: a series that is no longer returned is OK, none at all is INSUFFICIENT_DATA, whatever the setting. */
function judgeContributors(
  { settings, state, contributors: before }: Evaluable,
  { world }: CloudWatch,
  series: readonly QueriedSeries[],
  windows: readonly Window[],
): Evaluation {
  const at = world.clock.now();
  const contributors = new Map<string, Contributor>();
  const seen = new Set<string>();
  for (const { attributes, points } of series) {
    const id = contributorId(attributes);
    seen.add(id);
    const known = before.get(id);
    const found = verdict(settings, points, world.physics.alarmTooFewBreaching);
    if (found !== 'ALARM' && !(found === 'retained' && known)) continue;
    if (contributors.size === MOST_CONTRIBUTORS) break;
    const reason = contributorReason(settings, points, windows);
    contributors.set(id, known ?? { id, attributes, state: { value: 'ALARM', reason, data: undefined, at } });
  }
  const recovered = [...before.values()]
    .filter(({ id }) => !contributors.has(id))
    .map(contributor => ({
      contributor,
      reason: seen.has(contributor.id)
        ? 'Threshold Crossed: the datapoints are within the threshold.'
        : 'No data was returned for this contributor',
    }));
  const value = series.length === 0 ? 'INSUFFICIENT_DATA' : contributors.size > 0 ? 'ALARM' : 'OK';
  const reason = `${contributors.size} out of ${series.length} time series evaluated to ALARM`;
  return {
    contributors,
    recovered,
    ...(value !== state.value && { entered: { value, reason: { reason, data: undefined } } }),
  };
}

function verdict(
  settings: MetricAlarmSettings,
  points: QueriedSeries['points'],
  tooFewBreaching: 'ok' | 'retained',
): AlarmState | 'retained' {
  const { threshold, comparison } = settings;
  const breaches = points.map(point =>
    point === undefined ? undefined : comparison.breaches(point, threshold),
  );
  return judge(breaches, { ...settings, tooFewBreaching });
}

/** API: at most 16 characters. */
const contributorId = (attributes: Readonly<Record<string, string>>): string =>
  createHash('sha256').update(JSON.stringify(attributes)).digest('hex').slice(0, 16);
