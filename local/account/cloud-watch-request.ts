import type { Dimension } from '@aws-sdk/client-cloudwatch';
import { ServiceError } from '../wire/contract.ts';
import type { MetricName } from './cloud-watch.ts';

/** @throws ServiceError MissingParameter */
export function required<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new ServiceError('MissingParameter', `The parameter ${name} is required.`);
  return value;
}

/** @throws ServiceError MissingParameter */
export const metricName = (
  namespace: string | undefined,
  name: string | undefined,
  dimensions: readonly Dimension[] | undefined,
): MetricName => ({
  namespace: required('Namespace', namespace),
  name: required('MetricName', name),
  dimensions: Object.fromEntries((dimensions ?? []).map(({ Name, Value }) => [Name ?? '', Value ?? ''])),
});

/** A Period as milliseconds. @throws ServiceError on high resolution, which the simulated account does not have */
export function periodMs(seconds: number | undefined): number {
  const period = required('Period', seconds);
  if (period <= 0 || period % 60 !== 0)
    throw new ServiceError('ValidationError', `The period ${period} is not a multiple of 60 seconds.`);
  return period * 1000;
}
