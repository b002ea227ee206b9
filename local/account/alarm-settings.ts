import type { PutCompositeAlarmInput, PutMetricAlarmInput } from '@aws-sdk/client-cloudwatch';
import { ServiceError } from '../wire/contract.ts';
import { type AlarmRule, compileRule } from './alarm-rule.ts';
import { type AlarmState, MISSING_DATA, type TreatMissingData } from './alarm-verdict.ts';
import { metricName, periodMs, required } from './cloud-watch-request.ts';
import { refuseOthers } from './ec2-request.ts';
import { type CompiledQuery, compileQueries, ofMetric } from './metric-queries.ts';
import { statisticNamed, statistics } from './metric-statistics.ts';

/** What an alarm does at each state that it enters: ARNs of topics and functions. */
export type ActionsByState = Readonly<Record<AlarmState, readonly string[]>>;

export interface MetricAlarmSettings {
  readonly kind: 'metric';
  readonly name: string;
  readonly description: string | undefined;
  readonly actions: ActionsByState;
  /** As it was put, for whoever describes it. */
  readonly input: PutMetricAlarmInput;
  readonly query: CompiledQuery;
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly treatMissingData: TreatMissingData;
  readonly threshold: number;
  readonly comparison: Comparison;
}

export interface CompositeAlarmSettings {
  readonly kind: 'composite';
  readonly name: string;
  readonly description: string | undefined;
  readonly actions: ActionsByState;
  readonly input: PutCompositeAlarmInput;
  readonly rule: AlarmRule;
}

export type AlarmSettings = MetricAlarmSettings | CompositeAlarmSettings;

export interface Comparison {
  /** As reasons put it: `greater than`. */
  readonly words: string;
  readonly breaches: (value: number, threshold: number) => boolean;
}

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  GreaterThanThreshold: { words: 'greater than', breaches: (value, threshold) => value > threshold },
  GreaterThanOrEqualToThreshold: {
    words: 'greater than or equal to',
    breaches: (value, threshold) => value >= threshold,
  },
  LessThanThreshold: { words: 'less than', breaches: (value, threshold) => value < threshold },
  LessThanOrEqualToThreshold: {
    words: 'less than or equal to',
    breaches: (value, threshold) => value <= threshold,
  },
};

/** API: the most actions of one state, the most metrics of one alarm, and the longest time that an alarm looks back. */
const MOST_ACTIONS = 5;
const MOST_METRICS = 10;
const LONGEST_RANGE_MS = 86_400_000;

/** @throws ServiceError ValidationError, MissingParameter, UnsupportedOperation for what the account does not implement */
export function readMetricAlarm(input: PutMetricAlarmInput): MetricAlarmSettings {
  const { AlarmName, AlarmDescription, ActionsEnabled, Tags, OKActions, AlarmActions, ...described } = input;
  const { InsufficientDataActions, MetricName, Namespace, Statistic, Dimensions, Period, Unit, ...further } =
    described;
  const { EvaluationPeriods, DatapointsToAlarm, Threshold, ComparisonOperator, ...rest } = further;
  const { TreatMissingData = 'missing', Metrics, ...others } = rest;
  refuseOthers('PutMetricAlarm', others);
  const query = Metrics ? readQueries(Metrics) : readMetric(input);
  if (
    Metrics &&
    [MetricName, Namespace, Statistic, Dimensions, Period, Unit].some(member => member !== undefined)
  )
    throw invalid('Metrics cannot be given together with a single metric.');
  const evaluationPeriods = required('EvaluationPeriods', EvaluationPeriods);
  const datapointsToAlarm = DatapointsToAlarm ?? evaluationPeriods;
  if (evaluationPeriods < 1 || datapointsToAlarm < 1 || datapointsToAlarm > evaluationPeriods)
    throw invalid('DatapointsToAlarm must be from 1 to EvaluationPeriods.');
  if (evaluationPeriods * query.periodMs > LONGEST_RANGE_MS)
    throw invalid(
      'Metrics cannot be checked across more than a day (EvaluationPeriods * Period must be <= 86400).',
    );
  const treatMissingData = MISSING_DATA.find(known => known === TreatMissingData);
  if (!treatMissingData) throw invalid(`TreatMissingData '${TreatMissingData}' is not valid.`);
  const comparison = COMPARISONS[required('ComparisonOperator', ComparisonOperator)];
  if (!comparison) throw invalid(`The simulated CloudWatch does not compare by ${ComparisonOperator}.`);
  const actions = actionsOf(input);
  if (query.grouped && actions.INSUFFICIENT_DATA.length > 0)
    throw invalid('An alarm on several time series cannot have insufficient data actions.');
  return {
    kind: 'metric',
    name: nameOf(AlarmName),
    description: AlarmDescription,
    actions,
    input,
    query,
    evaluationPeriods,
    datapointsToAlarm,
    treatMissingData,
    threshold: required('Threshold', Threshold),
    comparison,
  };
}

/** @throws ServiceError ValidationError, MissingParameter, UnsupportedOperation for what the account does not implement */
export function readCompositeAlarm(input: PutCompositeAlarmInput): CompositeAlarmSettings {
  const { AlarmName, AlarmDescription, AlarmRule, ActionsEnabled, Tags, ...given } = input;
  const { OKActions, AlarmActions, InsufficientDataActions, ...others } = given;
  refuseOthers('PutCompositeAlarm', others);
  return {
    kind: 'composite',
    name: nameOf(AlarmName),
    description: AlarmDescription,
    actions: actionsOf(input),
    input,
    rule: compileRule(required('AlarmRule', AlarmRule)),
  };
}

function readMetric({
  Namespace,
  MetricName,
  Dimensions,
  Statistic,
  Period,
}: PutMetricAlarmInput): CompiledQuery {
  const metric = metricName(Namespace, MetricName, Dimensions);
  return ofMetric(metric, statistics[statisticNamed(Statistic)], periodMs(Period));
}

function readQueries(queries: NonNullable<PutMetricAlarmInput['Metrics']>): CompiledQuery {
  if (queries.filter(({ MetricStat }) => MetricStat).length > MOST_METRICS)
    throw invalid(`An alarm has at most ${MOST_METRICS} metrics.`);
  const compiled = compileQueries(queries);
  const [returned, another] = queries.filter(({ ReturnData }) => ReturnData !== false);
  const query = returned && compiled.get(returned.Id ?? '');
  if (!query || another) throw invalid('Exactly one element of the metrics list should return data.');
  return query;
}

function actionsOf(
  input: Pick<PutMetricAlarmInput, 'OKActions' | 'AlarmActions' | 'InsufficientDataActions'>,
): ActionsByState {
  const {
    OKActions: OK = [],
    AlarmActions: ALARM = [],
    InsufficientDataActions: INSUFFICIENT_DATA = [],
  } = input;
  if ([OK, ALARM, INSUFFICIENT_DATA].some(actions => actions.length > MOST_ACTIONS))
    throw invalid(`A state has at most ${MOST_ACTIONS} actions.`);
  return { OK, ALARM, INSUFFICIENT_DATA };
}

function nameOf(name: string | undefined): string {
  const given = required('AlarmName', name);
  if (given.length < 1 || given.length > 255) throw invalid('An alarm name has 1 to 255 characters.');
  return given;
}

const invalid = (message: string): ServiceError => new ServiceError('ValidationError', message);
