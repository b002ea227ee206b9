/** How we define an alarm: everything of it that we decide, and nothing else. */
export type AlarmDefinition = MetricAlarmDefinition | CompositeAlarmDefinition;

interface Common {
  readonly name: string;
  readonly description: string;
  /** ARNs of what hears that it rings, and that it is over. */
  readonly alarmActions: readonly string[];
  readonly okActions: readonly string[];
}

export interface MetricAlarmDefinition extends Common {
  readonly kind: 'metric';
  readonly watches: WatchedMetric | WatchedQuery;
  readonly periodSeconds: number;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  /** It rings at this value and above. */
  readonly threshold: number;
  readonly missingData: MissingData;
}

/** The maximum of one metric. */
export interface WatchedMetric {
  readonly namespace: string;
  readonly metric: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** Metrics Insights: a time series an instance. */
export interface WatchedQuery {
  readonly query: string;
}

export interface CompositeAlarmDefinition extends Common {
  readonly kind: 'composite';
  readonly rule: string;
}

/** As CloudWatch's TreatMissingData; the other two would take silence for a failure, or for a recovery. */
export type MissingData = 'missing' | 'ignore';

/** An alarm that is there. */
export interface ExistingAlarm {
  readonly name: string;
  /** Undefined when it has settings that we never give. */
  readonly definition: AlarmDefinition | undefined;
  readonly kind: AlarmDefinition['kind'];
  readonly description: string;
  readonly state: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';
  /** When it was put last, in seconds since the epoch. */
  readonly configuredAt: number;
  /** A person may have switched its actions off. */
  readonly actionsEnabled: boolean;
  /** Of a composite alarm: the names that its rule names. */
  readonly children: readonly string[];
}

/** The names in a rule that we have written: each in double quotes. */
export const childrenOf = (rule: string): readonly string[] => [
  ...new Set(Array.from(rule.matchAll(/\("([^"]+)"\)/g), ([, name = '']) => name)),
];
