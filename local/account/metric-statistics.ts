import type { Statistic } from '@aws-sdk/client-cloudwatch';
import { ServiceError } from '../wire/contract.ts';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** CloudWatch's statistics of the values of one period, of which there is at least one. */
export const statistics: Readonly<Record<Statistic, (values: readonly number[]) => number>> = {
  SampleCount: values => values.length,
  Sum: sum,
  Average: values => sum(values) / values.length,
  Minimum: values => Math.min(...values),
  Maximum: values => Math.max(...values),
};

/** @throws ServiceError ValidationError, also for percentiles, which the simulated account does not know */
export function statisticNamed(name: string | undefined): Statistic {
  const known = Object.keys(statistics).find((statistic): statistic is Statistic => statistic === name);
  if (!known)
    throw new ServiceError('ValidationError', `The simulated CloudWatch has no statistic '${name}'.`);
  return known;
}
