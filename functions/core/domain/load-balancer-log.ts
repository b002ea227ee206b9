/** What a file is that a load balancer, or somebody else, has put into a bucket of logs. */
export type LogFile =
  | HealthCheckLogFile
  /** Known and not read here; `test` is what AWS writes when logs are switched on. */
  | { readonly kind: 'access' | 'connection' | 'test' }
  | { readonly kind: 'unknown' };

export interface HealthCheckLogFile {
  readonly kind: 'health-check';
  /** By which a file is told from others of its node: the end of its period and its random part. */
  readonly tag: string;
  /** `app.web.50dc6c495c0c9188`: the load balancer's resource id, with dots for slashes. */
  readonly loadBalancer: string;
  /** The address of the load balancer node that made the health checks. */
  readonly node: string;
  /** The end of the period, in milliseconds since the epoch. */
  readonly endsAt: number;
}

// UG, "Health check log files" and its siblings on access and connection logs: all three may share a bucket and a prefix.
const FILE =
  /^(health_check_log_|conn_log_|)\d{12}_elasticloadbalancing_[a-z0-9-]+_([^_]+)_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)Z_([^_]+)_([^_]+)\.log\.gz$/;
const TEST_FILE = /^ELB\w*TestFile$/;

/** Tells the file by its key, `[prefix/]AWSLogs/account/elasticloadbalancing/region/yyyy/mm/dd/name`. */
export function logFileOf(key: string): LogFile {
  const name = key.slice(key.lastIndexOf('/') + 1);
  if (TEST_FILE.test(name)) return { kind: 'test' };
  const [, sort, loadBalancer = '', year, month, day, hour, minute, node = '', random] =
    FILE.exec(name) ?? [];
  const end = `${year}-${month}-${day}T${hour}:${minute}Z`;
  const endsAt = Date.parse(end);
  if (sort !== undefined && Number.isNaN(endsAt)) return { kind: 'unknown' };
  switch (sort) {
    case 'health_check_log_':
      return { kind: 'health-check', tag: `${end}-${random}`, loadBalancer, node, endsAt };
    case 'conn_log_':
      return { kind: 'connection' };
    case '':
      return { kind: 'access' };
    default:
      return { kind: 'unknown' };
  }
}

/** How the names of its files call a load balancer: `app.web.50dc6c495c0c9188` for `...:loadbalancer/app/web/50dc6c495c0c9188`. */
export const loadBalancerInLogs = (arn: string): string =>
  arn.slice(arn.indexOf(':loadbalancer/') + ':loadbalancer/'.length).replaceAll('/', '.');
