import type { CreateApplicationStatusCheckRequest } from '@aws-sdk/client-ec2';
import { ServiceError } from '../wire/contract.ts';
import { invalidValue } from './ec2-request.ts';
import type { Instance } from './neighbours.ts';
import { parseStatusCodeMatcher, type StatusCodeTest } from './status-code-matcher.ts';

/** Where health check requests start: an interface in this subnet with this security group. */
export interface CheckSource {
  readonly subnetId: string;
  readonly securityGroupId: string;
}

export interface HealthCheckPath {
  readonly source: CheckSource;
  readonly destinations: readonly CheckSource[];
}

/** How an application status check probes; replaced as a whole when the check is modified. */
export interface CheckSettings {
  readonly aggregation: 'included' | 'excluded';
  readonly protocol: 'http' | 'https';
  readonly port: number;
  readonly path: string;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  readonly statusCodeMatcher: string;
  readonly accepts: StatusCodeTest;
  /** After an instance's launch no health check runs for this long. */
  readonly gracePeriodSeconds: number;
  /** None: paths that AWS manages. */
  readonly healthCheckPaths: readonly HealthCheckPath[];
}

/** SDK: the members that Create and Modify share, and their defaults. SEED 1.1 saw the same. */
type Patch = Partial<
  Omit<CreateApplicationStatusCheckRequest, 'TagSpecifications' | 'ClientToken' | 'DryRun'>
>;
type Base = Omit<CheckSettings, 'protocol' | 'port' | 'accepts'> & Partial<CheckSettings>;

export const defaultSettings: Base = {
  aggregation: 'included',
  path: '/',
  timeoutSeconds: 6,
  failureThreshold: 2,
  successThreshold: 2,
  statusCodeMatcher: '200',
  gracePeriodSeconds: 300,
  healthCheckPaths: [],
};

/**
 * `base` with what the request sets. An empty list of paths never reaches EC2 on the wire, so it changes nothing.
 *
 * @throws ServiceError InvalidParameterValue, MissingParameter, or UnsupportedOperation
 */
export function patchedSettings(base: Base, patch: Patch): CheckSettings {
  refuseUnsupported(patch);
  const protocol = patch.Protocol ?? base.protocol;
  const port = patch.Port ?? base.port;
  if (protocol === undefined || port === undefined)
    throw new ServiceError('MissingParameter', 'The request must contain the parameters Protocol and Port');
  const statusCodeMatcher = patch.StatusCodeMatcher ?? base.statusCodeMatcher;
  const settings: CheckSettings = {
    aggregation: patch.Aggregation ?? base.aggregation,
    protocol,
    port,
    path: patch.Path ?? base.path,
    timeoutSeconds: patch.Timeout ?? base.timeoutSeconds,
    failureThreshold: patch.FailureThreshold ?? base.failureThreshold,
    successThreshold: patch.SuccessThreshold ?? base.successThreshold,
    statusCodeMatcher,
    accepts: parseStatusCodeMatcher(statusCodeMatcher),
    gracePeriodSeconds: patch.InitializationGracePeriodSeconds ?? base.gracePeriodSeconds,
    healthCheckPaths: patch.HealthCheckPaths?.length
      ? patch.HealthCheckPaths.map(readPath)
      : base.healthCheckPaths,
  };
  validate(settings);
  return settings;
}

function validate(settings: CheckSettings): void {
  const { aggregation, protocol, path } = settings;
  if (!['included', 'excluded'].includes(aggregation))
    throw invalidValue(`Aggregation '${aggregation}' is invalid.`);
  if (!['http', 'https'].includes(protocol)) throw invalidValue(`Protocol '${protocol}' is invalid.`);
  if (!path.startsWith('/')) throw invalidValue(`Path '${path}' must start with '/'.`);
  whole('Port', settings.port, 1, 65_535);
  whole('Timeout', settings.timeoutSeconds, 1, 30);
  whole('FailureThreshold', settings.failureThreshold, 1);
  whole('SuccessThreshold', settings.successThreshold, 1);
  // The model also lets -1 pass, the documentation does not say what it means.
  whole('InitializationGracePeriodSeconds', settings.gracePeriodSeconds, 1, 600);
}

function whole(name: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidValue(`${name} ${value} is invalid: a whole number from ${least} to ${most} is needed.`);
}

function refuseUnsupported({ Interval, IpScope, DeviceIndex, IpVersion }: Patch): void {
  if (Interval !== undefined && Interval !== 60)
    throw invalidValue('The only valid value of Interval is 60.');
  if (IpScope !== undefined && IpScope !== 'private')
    throw invalidValue("The only valid value of IpScope is 'private'.");
  if (DeviceIndex !== undefined && DeviceIndex !== 0)
    throw new ServiceError(
      'UnsupportedOperation',
      'Simulated instances have one network device, DeviceIndex 0.',
    );
  if (IpVersion !== undefined && IpVersion !== 'ipv4')
    throw new ServiceError('UnsupportedOperation', 'Simulated instances have ipv4 addresses only.');
}

type RequestedPath = NonNullable<CreateApplicationStatusCheckRequest['HealthCheckPaths']>[number];

const readPath = ({ Source, Destinations }: RequestedPath): HealthCheckPath => {
  if (!Destinations?.length) throw invalidValue('A health check path needs at least one destination.');
  return { source: readEnd(Source), destinations: Destinations.map(readEnd) };
};

function readEnd(end: RequestedPath['Source']): CheckSource {
  if (!end?.SubnetId || !end.SecurityGroupId)
    throw invalidValue('Each end of a health check path needs a SubnetId and a SecurityGroupId.');
  return { subnetId: end.SubnetId, securityGroupId: end.SecurityGroupId };
}

/**
 * From where this instance is probed; empty when no customer-managed path leads to it.
 *
 * INF: on AWS-managed paths the source is the instance's own subnet and each of its own security groups, so that those
 * need a rule that refers to themselves. The guide only says that interfaces are made for these combinations.
 */
export function sourcesFor({ healthCheckPaths }: CheckSettings, instance: Instance): readonly CheckSource[] {
  const { subnetId, securityGroupIds } = instance;
  if (healthCheckPaths.length === 0)
    return securityGroupIds.map(securityGroupId => ({ subnetId, securityGroupId }));
  return healthCheckPaths
    .filter(({ destinations }) =>
      destinations.some(end => end.subnetId === subnetId && securityGroupIds.includes(end.securityGroupId)),
    )
    .map(({ source }) => source);
}
