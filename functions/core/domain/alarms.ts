import {
  type AlarmDefinition,
  childrenOf,
  type MetricAlarmDefinition,
  type MissingData,
  type WatchedMetric,
  type WatchedQuery,
} from './alarm-definition.ts';
import { type AlarmSubject, alarmName, GROUP_ALARMS, type GroupAlarm, groupLabel } from './alarm-names.ts';
import { descriptionOf } from './alarm-words.ts';
import { anyOf, type Term } from './composite-rules.ts';

export interface AlarmSettings {
  /** Disabled: there should be none. */
  readonly kept: 'Enabled' | 'Disabled';
  /** Of every alarm's name: two stacks in one account have different ones. */
  readonly prefix: string;
  readonly namespace: string;
  /** The dimension that names the instance. */
  readonly dimension: string;
  /** Of the aggregate metric, which is silent while an instance is suppressed (D21). */
  readonly aggregateMissingData: MissingData;
  /** With more instances a group has an alarm a check, not one an instance. */
  readonly instancesPerGroup: number;
  /** Alarms by instance, over all groups. */
  readonly instanceAlarms: number;
  /** The function that tells people. */
  readonly actionArn: string;
  readonly childrenPerRule: number;
  readonly ruleLength: number;
}

/** An Auto Scaling group with checks, or all instances that have checks and no group. */
export interface WatchedGroup {
  readonly name: string | undefined;
  readonly instances: readonly WatchedInstance[];
}

export interface WatchedInstance {
  readonly instanceId: string;
  /** Those that have been evaluated: before that their metrics say nothing. */
  readonly checks: readonly { readonly checkId: string; readonly included: boolean }[];
}

export interface Shapes {
  /** Watched instance by instance. */
  readonly narrow: readonly WatchedGroup[];
  /** Too large for that: watched check by check. */
  readonly wide: readonly WatchedGroup[];
}

/** D21: which groups have alarms by instance, and which are too large, or one too many. */
export function shapesOf(
  groups: readonly WatchedGroup[],
  settings: Pick<AlarmSettings, 'instancesPerGroup' | 'instanceAlarms'>,
): Shapes {
  const bySize = groups.toSorted((a, b) => a.instances.length - b.instances.length || order(a, b));
  const narrow: WatchedGroup[] = [];
  const wide: WatchedGroup[] = [];
  let alarms = 0;
  for (const group of bySize) {
    alarms += alarmsOf(group);
    const fits = group.instances.length <= settings.instancesPerGroup && alarms <= settings.instanceAlarms;
    (fits ? narrow : wide).push(group);
  }
  return { narrow: narrow.toSorted(order), wide: wide.toSorted(order) };
}

const order = (a: WatchedGroup, b: WatchedGroup): number => ((a.name ?? '') < (b.name ?? '') ? -1 : 1);

const alarmsOf = ({ instances }: WatchedGroup): number =>
  instances.reduce((sum, { checks }) => sum + checks.length + Number(isJudged(checks)), 0);

/** Is there an aggregate of its checks? An excluded check does not count for it. */
const isJudged = (checks: WatchedInstance['checks']): boolean => checks.some(({ included }) => included);

/**
 * Every alarm that there should be, in an order in which they can be made.
 *
 * @param foreign names that somebody else's alarms have: there is none of ours there, and none of ours asks for them
 */
export function desiredAlarms(
  groups: readonly WatchedGroup[],
  settings: AlarmSettings,
  foreign: readonly string[] = [],
): AlarmDefinition[] {
  if (settings.kept === 'Disabled') return [];
  const taken = new Set(foreign);
  const { narrow, wide } = shapesOf(groups, settings);
  return [
    ...narrow.flatMap(({ instances }) => instances.flatMap(one => ofInstance(one, settings))),
    ...overAll(wide, settings),
    ...narrow.flatMap(group => ofGroup(group, settings, taken)),
  ].filter(({ name }) => !taken.has(name));
}

const AGGREGATE = 'StatusCheckFailed_Application';

function ofInstance({ instanceId, checks }: WatchedInstance, settings: AlarmSettings): AlarmDefinition[] {
  const { namespace, dimension, aggregateMissingData } = settings;
  const watching = (metric: string): WatchedMetric => ({
    namespace,
    metric,
    dimensions: { [dimension]: instanceId },
  });
  // These tell nobody by themselves: the alarms of their group do.
  const metric = (subject: AlarmSubject, watches: WatchedMetric, missingData: MissingData) =>
    onMetric(subject, watches, missingData, [], settings);
  return [
    ...(isJudged(checks)
      ? [metric({ of: 'instance', instanceId, what: 'impaired' }, watching(AGGREGATE), aggregateMissingData)]
      : []),
    ...checks.map(({ checkId }) =>
      metric(
        { of: 'instance', instanceId, what: 'failed', checkId },
        watching(`${AGGREGATE}_${checkId}`),
        'missing',
      ),
    ),
  ];
}

/** Where there are too many instances for an alarm each: one a check, and one for the aggregate of all. */
function overAll(wide: readonly WatchedGroup[], settings: AlarmSettings): AlarmDefinition[] {
  const { namespace, dimension, actionArn } = settings;
  const checks = wide.flatMap(({ instances }) => instances.flatMap(one => one.checks));
  const query = (metric: string): WatchedQuery => ({
    // Failing ones first: what is beyond the series that CloudWatch returns is well.
    query: `SELECT MAX("${metric}") FROM SCHEMA("${namespace}", ${dimension}) GROUP BY ${dimension} ORDER BY MAX() DESC`,
  });
  const ids = [...new Set(checks.map(({ checkId }) => checkId))].sort();
  return [
    ...(isJudged(checks)
      ? [onMetric({ of: 'account', what: 'impaired' }, query(AGGREGATE), 'missing', [actionArn], settings)]
      : []),
    ...ids.map(checkId => ({
      ...onMetric(
        { of: 'check', checkId, what: 'failing' },
        query(`${AGGREGATE}_${checkId}`),
        'missing',
        [actionArn],
        settings,
      ),
      okActions: [actionArn],
    })),
  ];
}

/** Three periods of which two: what CloudWatch does with missing data is published for three periods alone (D21). */
const EVALUATION = { periodSeconds: 60, evaluationPeriods: 3, datapointsToAlarm: 2, threshold: 1 } as const;

const onMetric = (
  subject: AlarmSubject,
  watches: WatchedMetric | WatchedQuery,
  missingData: MissingData,
  alarmActions: readonly string[],
  { prefix }: AlarmSettings,
): MetricAlarmDefinition => ({
  kind: 'metric',
  name: alarmName(prefix, subject),
  description: descriptionOf(subject),
  alarmActions,
  okActions: [],
  watches,
  ...EVALUATION,
  missingData,
});

function ofGroup(
  { name, instances }: WatchedGroup,
  settings: AlarmSettings,
  taken: ReadonlySet<string>,
): AlarmDefinition[] {
  const { prefix, aggregateMissingData, actionArn } = settings;
  const label = groupLabel(name);
  const impaired = (instanceId: string) =>
    `"${alarmName(prefix, { of: 'instance', instanceId, what: 'impaired' })}"`;
  const each = instances.flatMap(({ instanceId, checks }) =>
    checks.map(({ checkId, included }) => ({
      instanceId,
      included,
      failed: `"${alarmName(prefix, { of: 'instance', instanceId, what: 'failed', checkId })}"`,
    })),
  );
  const included = each.filter(one => one.included);
  const judged = instances.filter(({ checks }) => isJudged(checks));
  // With `ignore` a silent aggregate keeps its state, and cannot be told from one that is well.
  const silent = (alarm: string) =>
    aggregateMissingData === 'missing' ? `INSUFFICIENT_DATA(${alarm})` : `NOT ALARM(${alarm})`;
  const terms: Readonly<Record<GroupAlarm, readonly string[]>> = {
    'failing-and-acted-upon': judged.map(({ instanceId }) => `ALARM(${impaired(instanceId)})`),
    'failing-under-suppression': included.map(
      ({ instanceId, failed }) => `(ALARM(${failed}) AND ${silent(impaired(instanceId))})`,
    ),
    'check-silent': each.map(({ failed }) => `INSUFFICIENT_DATA(${failed})`),
    failing: included.map(({ failed }) => `ALARM(${failed})`),
  };
  const composite = (what: GroupAlarm): AlarmDefinition[] => {
    const subject = { of: 'group', label, what } as const;
    const nameOf = (part?: number) => alarmName(prefix, { ...subject, ...(part !== undefined && { part }) });
    const ours = terms[what].map(toTerm).filter(({ children }) => !children.some(child => taken.has(child)));
    const rules = anyOf(ours, nameOf, settings);
    return rules.map(({ name: alarm, rule, isWhole }) => ({
      kind: 'composite',
      name: alarm,
      description: descriptionOf(subject, name),
      // The aggregate also falls silent when a suppression begins: only the check's own track knows of a recovery.
      alarmActions: isWhole && what !== 'failing' ? [actionArn] : [],
      okActions: isWhole && what === 'failing' ? [actionArn] : [],
      rule,
    }));
  };
  return GROUP_ALARMS.flatMap(composite);
}

const toTerm = (text: string): Term => ({ text, children: childrenOf(text) });
