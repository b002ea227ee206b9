import { ServiceError } from '../wire/contract.ts';
import type { LoadBalancer, LogDestination } from './target-groups.ts';

const CROSS_ZONE = 'load_balancing.cross_zone.enabled';
const LOGS = {
  enabled: 'health_check_logs.s3.enabled',
  bucket: 'health_check_logs.s3.bucket',
  prefix: 'health_check_logs.s3.prefix',
} as const;

/** The attributes of a load balancer that the simulated account has, as they are described. */
export function attributesOf({ type, crossZone, healthCheckLogs: logs }: LoadBalancer) {
  const pairs: (readonly [string, string])[] = [
    [CROSS_ZONE, String(crossZone)],
    // SDK: only Application Load Balancers have these.
    ...(type === 'application'
      ? ([
          [LOGS.enabled, String(logs !== undefined)],
          [LOGS.bucket, logs?.bucket ?? ''],
          [LOGS.prefix, logs?.prefix ?? ''],
        ] as const)
      : []),
  ];
  return pairs.map(([Key, Value]) => ({ Key, Value }));
}

/**
 * Where health check logs go after changes of attributes; undefined for nowhere.
 *
 * @throws ServiceError ValidationError on another attribute, or logs without a bucket
 */
export function changedDestination(
  loadBalancer: LoadBalancer,
  changes: readonly (readonly [key: string, value: string])[],
): LogDestination | undefined {
  const known = new Map(attributesOf(loadBalancer).map(({ Key, Value }) => [Key, Value]));
  for (const [key, value] of changes) {
    if (!known.has(key) || key === CROSS_ZONE)
      throw new ServiceError('ValidationError', `Load balancer attribute key '${key}' is not recognized`);
    known.set(key, value);
  }
  if (known.get(LOGS.enabled) !== 'true') return undefined;
  const { [LOGS.bucket]: bucket = '', [LOGS.prefix]: prefix = '' } = Object.fromEntries(known);
  if (bucket === '') throw new ServiceError('ValidationError', `'${LOGS.bucket}' must be specified`);
  if (prefix.includes('AWSLogs'))
    throw new ServiceError('ValidationError', `'${LOGS.prefix}' must not contain AWSLogs`);
  return { bucket, prefix };
}
