export type AlarmState = 'OK' | 'ALARM' | 'INSUFFICIENT_DATA';

export const MISSING_DATA = ['breaching', 'notBreaching', 'ignore', 'missing'] as const;
export type TreatMissingData = (typeof MISSING_DATA)[number];

/** Is a data point beyond the threshold? Undefined where there is none. */
export type Breach = boolean | undefined;

export interface VerdictSettings {
  readonly evaluationPeriods: number;
  readonly datapointsToAlarm: number;
  readonly treatMissingData: TreatMissingData;
  /** `retained`: an alarm whose few points are all breaching, and too young to decide, stays as it is. */
  readonly tooFewBreaching: 'ok' | 'retained';
}

/**
 * What CloudWatch makes of the points of an alarm's evaluation range, the oldest first.
 *
 * With fewer real points than evaluation periods, all of them count and the setting fills up the rest. One rule goes before:
 * points that are all breaching, the oldest at least as old as the datapoints to alarm, alarm however few they are, unless
 * missing data is ignored (CloudWatch's guide on missing data, its two tables and "premature transitions").
 */
export function judge(points: readonly Breach[], settings: VerdictSettings): AlarmState | 'retained' {
  const { evaluationPeriods, datapointsToAlarm, treatMissingData, tooFewBreaching } = settings;
  const real = points.filter(point => point !== undefined);
  const by = (breaching: number): AlarmState => (breaching >= datapointsToAlarm ? 'ALARM' : 'OK');
  const breaching = real.slice(-evaluationPeriods).filter(Boolean).length;
  if (real.length >= evaluationPeriods) return by(breaching);
  switch (treatMissingData) {
    case 'breaching':
      return by(breaching + evaluationPeriods - real.length);
    case 'notBreaching':
      return by(breaching);
    case 'missing':
    case 'ignore': {
      const ignoring = treatMissingData === 'ignore';
      if (real.length === 0) return ignoring ? 'retained' : 'INSUFFICIENT_DATA';
      if (breaching >= datapointsToAlarm || breaching < real.length) return by(breaching);
      const oldest = points.length - points.findIndex(point => point !== undefined);
      if (oldest >= datapointsToAlarm) return ignoring ? 'retained' : 'ALARM';
      return tooFewBreaching === 'ok' ? 'OK' : 'retained';
    }
  }
}
