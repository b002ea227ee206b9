import { createHash } from 'node:crypto';
import {
  type ApplicationStatusCheckResponseObject,
  type ApplicationStatusDetail,
  DescribeApplicationStatusChecksCommand,
  DescribeApplicationStatusCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DisableApplicationStatusCheckSuppressionCommand,
  EnableApplicationStatusCheckSuppressionCommand,
  type Filter,
  type Instance,
  type InstanceApplicationStatus,
  type SuccessfulSuppressionResponseObject,
  type UnsuccessfulSuppressionResponseObject,
} from '@aws-sdk/client-ec2';
import { AccessDenied, AwsFailure } from '../errors.ts';
import { CHECKS_PER_DESCRIBE, DESCRIBES_AT_ONCE, INSTANCES_PER_FILTER, STATUS_INSTANCES } from '../limits.ts';
import { OPT_IN_TAG_KEY } from '../settings.ts';
import { inChunks, isolating, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { ec2 } from './clients.ts';

export interface InstanceFacts {
  readonly id: string;
  /** `pending`, `running`, `shutting-down`, `terminated`, `stopping` or `stopped`. */
  readonly state: string;
  readonly zone: string;
  readonly zoneId?: string;
  readonly vpcId?: string;
  readonly subnetId?: string;
  /** Of the primary interface. */
  readonly securityGroupIds: string[];
  /** IPv4 and IPv6, of all interfaces, the primary one first: each may be a target of an ip-type target group (D44). */
  readonly privateAddresses: string[];
  readonly tags: Record<string, string>;
  readonly launchedAt?: Date;
}

/** Facts on the instances that exist; unknown ids have no entry. */
export async function describeInstances(ids: readonly string[]): Promise<Map<string, InstanceFacts>> {
  // By filter: a filter passes over an unknown id, where InstanceIds fails the whole call.
  const found = await inChunks(ids, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    instancesBy([{ Name: 'instance-id', Values: chunk }]),
  );
  return new Map(found.flat().map(instance => [instance.id, instance]));
}

/** The instances with this tag, but for terminated ones. */
export function instancesWithTag(key: string, value: string): Promise<InstanceFacts[]> {
  return instancesBy([
    { Name: `tag:${key}`, Values: [literally(value)] },
    {
      Name: 'instance-state-name',
      Values: ['pending', 'running', 'shutting-down', 'stopping', 'stopped'],
    },
  ]);
}

/** The instances that have one of these IPv4 addresses on any of their interfaces. */
export async function instancesWithAddresses(addresses: readonly string[]): Promise<InstanceFacts[]> {
  const found = await inChunks(addresses, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    instancesBy([{ Name: 'network-interface.addresses.private-ip-address', Values: chunk }]),
  );
  return found.flat();
}

/** An address that a target group may know a target by. */
export interface AddressFacts {
  readonly address: string;
  readonly zone: string;
  /** Absent for an interface that is no instance's, such as a container's. */
  readonly instanceId?: string;
}

/** Where these IPv4 addresses are: twice where VPCs overlap, absent where no interface has the address. */
export async function locateAddresses(addresses: readonly string[]): Promise<AddressFacts[]> {
  const action = 'ec2:DescribeNetworkInterfaces';
  const wanted = new Set(addresses);
  const found = await inChunks(addresses, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    pages(async next => {
      const command = new DescribeNetworkInterfacesCommand({
        Filters: [{ Name: 'addresses.private-ip-address', Values: chunk }],
        IncludeManagedResources: true,
        NextToken: next,
      });
      const answer = await send(action, () => ec2().send(command));
      return { items: answer.NetworkInterfaces, next: answer.NextToken };
    }),
  );
  return found.flat().flatMap(({ AvailabilityZone, Attachment, PrivateIpAddresses = [] }) =>
    PrivateIpAddresses.flatMap(({ PrivateIpAddress: address = '' }) =>
      wanted.has(address)
        ? {
            address,
            zone: given(AvailabilityZone, action, 'AvailabilityZone'),
            ...(Attachment?.InstanceId !== undefined && { instanceId: Attachment.InstanceId }),
          }
        : [],
    ),
  );
}

/** Filter values know the wildcards `*` and `?`; a backslash before one means the character. */
const literally = (value: string): string => value.replaceAll(/[\\*?]/g, found => `\\${found}`);

async function instancesBy(filters: Filter[]): Promise<InstanceFacts[]> {
  const action = 'ec2:DescribeInstances';
  const reservations = await pages(async next => {
    // Instances that another AWS service manages may be hidden in this account, and are part of a fleet all the same.
    const command = new DescribeInstancesCommand({
      Filters: filters,
      IncludeManagedResources: true,
      NextToken: next,
    });
    const answer = await send(action, () => ec2().send(command));
    return { items: answer.Reservations, next: answer.NextToken };
  });
  return reservations.flatMap(reservation => reservation.Instances ?? []).map(i => instanceFacts(i, action));
}

function instanceFacts(instance: Instance, action: string): InstanceFacts {
  const { Placement, VpcId, SubnetId, LaunchTime } = instance;
  return {
    id: given(instance.InstanceId, action, 'InstanceId'),
    state: given(instance.State?.Name, action, 'State'),
    zone: given(Placement?.AvailabilityZone, action, 'AvailabilityZone'),
    ...(Placement?.AvailabilityZoneId !== undefined && { zoneId: Placement.AvailabilityZoneId }),
    ...(VpcId !== undefined && { vpcId: VpcId }),
    ...(SubnetId !== undefined && { subnetId: SubnetId }),
    securityGroupIds: (instance.SecurityGroups ?? []).flatMap(({ GroupId }) => GroupId ?? []),
    privateAddresses: addressesOf(instance),
    tags: Object.fromEntries((instance.Tags ?? []).map(tag => [tag.Key, tag.Value ?? ''])),
    ...(LaunchTime !== undefined && { launchedAt: LaunchTime }),
  };
}

function addressesOf(instance: Instance): string[] {
  const ofInterfaces = (instance.NetworkInterfaces ?? []).flatMap(one => [
    ...(one.PrivateIpAddresses ?? []).map(address => address.PrivateIpAddress),
    ...(one.Ipv6Addresses ?? []).map(address => address.Ipv6Address),
  ]);
  const all = [instance.PrivateIpAddress, ...ofInterfaces].filter(address => address !== undefined);
  return [...new Set(all)];
}

/** One check's result on one instance. Neither aggregation nor suppression affects it. */
export interface CheckResult {
  readonly checkId: string;
  readonly aggregation: 'included' | 'excluded' | 'unknown';
  /** `passed`, `failed`, `initializing`, `insufficient-data` or `not-applicable`. */
  readonly status: string;
  /** The reason's Code: one of six documented words, or a legacy producer's error type. */
  readonly code?: string;
  /** On connection errors documented as absent, and measured as 0: decide by `code`. */
  readonly statusCode?: number;
  readonly evaluatedAt?: Date;
  readonly since?: Date;
}

export interface ApplicationStatusFacts {
  readonly instanceId: string;
  /** `ok`, `impaired`, `initializing`, `insufficient-data`, `not-applicable` or `suppressed`. */
  readonly status: string;
  readonly since?: Date;
  /** When suppression ends by itself; absent when it does not, and when there is none. */
  readonly resumesAt?: Date;
  readonly checks: CheckResult[];
}

/** The overall status and each check's result. An instance that AWS does not know, or reports nothing on, has no entry. */
export async function applicationStatuses(
  ids: readonly string[],
): Promise<Map<string, ApplicationStatusFacts>> {
  const found = await inChunks(ids, STATUS_INSTANCES, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, statusesOf),
  );
  return new Map(found.flatMap(({ done }) => done).map(facts => [facts.instanceId, facts]));
}

/** The same of every instance of the account and Region that has one. GUIDE (quotas): 5,000 targets. */
export const everyApplicationStatus = (): Promise<ApplicationStatusFacts[]> => statusesOf();

async function statusesOf(ids?: readonly string[]): Promise<ApplicationStatusFacts[]> {
  const action = 'ec2:DescribeApplicationStatus';
  const statuses = await pages(async next => {
    const command = new DescribeApplicationStatusCommand({
      ...(ids && { InstanceIds: [...ids] }),
      NextToken: next,
    });
    const answer = await send(action, () => ec2().send(command));
    return { items: answer.ApplicationStatuses?.Instances, next: answer.NextToken };
  });
  return statuses.flatMap(status => statusFacts(status, action));
}

function statusFacts(
  { InstanceId, ApplicationStatus }: InstanceApplicationStatus,
  action: string,
): ApplicationStatusFacts[] {
  if (ApplicationStatus?.Status === undefined) return [];
  const { Status, StatusSince, ResumeAt, Details } = ApplicationStatus;
  return [
    {
      instanceId: given(InstanceId, action, 'InstanceId'),
      status: Status,
      ...(StatusSince !== undefined && { since: StatusSince }),
      ...(ResumeAt !== undefined && { resumesAt: ResumeAt }),
      checks: (Details ?? []).map(detail => checkResult(detail, action)),
    },
  ];
}

function checkResult(detail: ApplicationStatusDetail, action: string): CheckResult {
  const { Reason, StatusTimeStamp, StatusSince } = detail;
  return {
    checkId: given(detail.ApplicationStatusCheckId, action, 'ApplicationStatusCheckId'),
    aggregation: detail.Aggregation ?? 'unknown',
    status: given(detail.Status, action, 'Status'),
    ...(Reason?.Code !== undefined && { code: Reason.Code }),
    ...(Reason?.StatusCode !== undefined && { statusCode: Reason.StatusCode }),
    ...(StatusTimeStamp !== undefined && { evaluatedAt: StatusTimeStamp }),
    ...(StatusSince !== undefined && { since: StatusSince }),
  };
}

/** How a check is set up. */
export interface CheckFacts {
  readonly id: string;
  readonly aggregation: 'included' | 'excluded';
  readonly port: number;
  readonly path: string;
  readonly protocol: 'http' | 'https';
  readonly timeoutSeconds: number;
  readonly intervalSeconds: number;
  readonly failureThreshold: number;
  readonly successThreshold: number;
  /** Counted from the launch of the instance. */
  readonly graceSeconds: number;
  /** Codes and ranges that count as success, such as `200,300-399`. */
  readonly matcher: string;
  /** When it was created, or last modified. */
  readonly changedAt?: Date;
}

/** Facts on the checks that exist; unknown and deleted ones have no entry. */
export async function applicationStatusChecks(ids: readonly string[]): Promise<Map<string, CheckFacts>> {
  const found = await inChunks(ids, CHECKS_PER_DESCRIBE, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, checksOf),
  );
  return new Map(found.flatMap(({ done }) => done).map(check => [check.id, check]));
}

async function checksOf(ids: readonly string[]): Promise<CheckFacts[]> {
  const action = 'ec2:DescribeApplicationStatusChecks';
  const checks = await pages(async next => {
    const command = new DescribeApplicationStatusChecksCommand({
      ApplicationStatusCheckIds: [...ids],
      NextToken: next,
    });
    const answer = await send(action, () => ec2().send(command));
    return { items: answer.ApplicationStatusChecks, next: answer.NextToken };
  });
  return checks.filter(check => check.DeletionTime === undefined).map(check => checkFacts(check, action));
}

/** The defaults are those of CreateApplicationStatusCheck: AWS's own samples leave members out of the answer. */
function checkFacts(check: ApplicationStatusCheckResponseObject, action: string): CheckFacts {
  const changedAt = check.ModifyTime ?? check.CreationTime;
  return {
    id: given(check.ApplicationStatusCheckId, action, 'ApplicationStatusCheckId'),
    aggregation: check.Aggregation ?? 'included',
    port: given(check.Port, action, 'Port'),
    path: check.Path ?? '/',
    protocol: given(check.Protocol, action, 'Protocol'),
    timeoutSeconds: check.Timeout ?? 6,
    intervalSeconds: check.Interval ?? 60,
    failureThreshold: check.FailureThreshold ?? 2,
    successThreshold: check.SuccessThreshold ?? 2,
    graceSeconds: check.InitializationGracePeriodSeconds ?? 300,
    matcher: check.StatusCodeMatcher ?? '200',
    ...(changedAt !== undefined && { changedAt }),
  };
}

/** `done` means that EC2 accepted it, not that it holds: that takes about three minutes, and is observed. */
export interface SuppressionOutcome {
  readonly done: { readonly instanceId: string; readonly resumesAt?: Date }[];
  readonly failed: { readonly instanceId: string; readonly reason: string }[];
  /** Neither done nor failed, as where EC2 ignores a repeated call: what became of it has to be seen, or asked again. */
  readonly unnamed: string[];
}

/**
 * Suppresses application status checks on at most SUPPRESSION_INSTANCES instances.
 *
 * @param token names the intention: a call that repeats token and ids is the same call to EC2, and does nothing twice
 * @throws Unavailable when the answer was lost or could not be read: the suppression may be on its way
 */
export function enableSuppression(
  ids: readonly string[],
  seconds: number,
  token: string,
): Promise<SuppressionOutcome> {
  const action = 'ec2:EnableApplicationStatusCheckSuppression';
  return suppressing(ids, token, (InstanceIds, ClientToken) => {
    const input = { InstanceIds, DurationSeconds: seconds, ClientToken };
    return send(action, () => ec2().send(new EnableApplicationStatusCheckSuppressionCommand(input)));
  });
}

/** Ends the suppression of at most SUPPRESSION_INSTANCES instances; in all else as `enableSuppression`. */
export function disableSuppression(ids: readonly string[], token: string): Promise<SuppressionOutcome> {
  const action = 'ec2:DisableApplicationStatusCheckSuppression';
  return suppressing(ids, token, (InstanceIds, ClientToken) =>
    send(action, () =>
      ec2().send(new DisableApplicationStatusCheckSuppressionCommand({ InstanceIds, ClientToken })),
    ),
  );
}

interface SuppressionAnswer {
  readonly SuccessfulResults?: SuccessfulSuppressionResponseObject[] | undefined;
  readonly UnsuccessfulResults?: UnsuccessfulSuppressionResponseObject[] | undefined;
}

async function suppressing(
  ids: readonly string[],
  token: string,
  call: (ids: string[], token: string) => Promise<SuppressionAnswer>,
): Promise<SuppressionOutcome> {
  const failed: { instanceId: string; reason: string }[] = [];
  const unnamed: string[] = [];
  const accepted = await isolating(ids, isNotFound, async some => {
    const answer = await isolatingDenied(some, part =>
      unlessInvalid(part, () => call([...part], clientToken(token, part))),
    );
    const reasons = new Map(answer.UnsuccessfulResults?.map(one => [one.InstanceId, one.Reason]));
    const ends = new Map(answer.SuccessfulResults?.map(one => [one.InstanceId, one.ResumeAt]));
    for (const instanceId of some)
      if (reasons.has(instanceId))
        failed.push({ instanceId, reason: reasons.get(instanceId) ?? 'EC2 gives no reason' });
      else if (!ends.has(instanceId)) unnamed.push(instanceId);
    return some
      .filter(instanceId => ends.has(instanceId) && !reasons.has(instanceId))
      .map(instanceId => {
        const resumesAt = ends.get(instanceId);
        return { instanceId, ...(resumesAt !== undefined && { resumesAt }) };
      });
  });
  for (const { item, reason } of accepted.failed) failed.push({ instanceId: item, reason });
  return { done: accepted.done, failed, unnamed };
}

/**
 * IAM permits by the opt-in tag (D19), and denies the whole call for one instance without it. Then those that carry the same
 * value are asked for together: one denied group is an answer for its instances, and none permitted is the denial itself.
 */
async function isolatingDenied(
  ids: readonly string[],
  call: (ids: readonly string[]) => Promise<SuppressionAnswer>,
): Promise<SuppressionAnswer> {
  try {
    return await call(ids);
  } catch (error) {
    if (!(error instanceof AccessDenied) || ids.length === 1) throw error;
    const facts = await describeInstances(ids);
    const alike = Map.groupBy(ids, id => facts.get(id)?.tags[OPT_IN_TAG_KEY]);
    const parts = [...alike.values()];
    const answers: SuppressionAnswer[] = [];
    const denied: UnsuccessfulSuppressionResponseObject[] = [];
    for (const part of parts) {
      try {
        answers.push(await call(part));
      } catch (refused) {
        if (!(refused instanceof AccessDenied)) throw refused;
        denied.push(...part.map(InstanceId => ({ InstanceId, Reason: refused.message })));
      }
    }
    if (answers.length === 0) throw error;
    return {
      SuccessfulResults: answers.flatMap(one => one.SuccessfulResults ?? []),
      UnsuccessfulResults: [...answers.flatMap(one => one.UnsuccessfulResults ?? []), ...denied],
    };
  }
}

/** A duration that EC2 does not take is refused for the whole call: the same answer for each of its instances (D31). */
async function unlessInvalid(
  ids: readonly string[],
  call: () => Promise<SuppressionAnswer>,
): Promise<SuppressionAnswer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof AwsFailure && error.code.startsWith('InvalidParameter'))) throw error;
    const Reason = error.message;
    return { UnsuccessfulResults: ids.map(InstanceId => ({ InstanceId, Reason })) };
  }
}

/** EC2 ignores a call with a known token whatever its ids are, so the ids are part of the token (at most 64 characters). */
const clientToken = (token: string, ids: readonly string[]): string =>
  createHash('sha256')
    .update([token, ...ids].join(' '))
    .digest('hex');
