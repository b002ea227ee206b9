import {
  type ApplicationStatusCheckResponseObject,
  AssociateApplicationStatusCheckCommand,
  CreateApplicationStatusCheckCommand,
  DeleteApplicationStatusCheckCommand,
  DescribeApplicationStatusChecksCommand,
  DisassociateApplicationStatusCheckCommand,
  ModifyApplicationStatusCheckCommand,
  type UnsuccessfulAssociationResponseObject,
} from '@aws-sdk/client-ec2';
import type { NewCheck } from '../adoption-request.ts';
import type { CheckRoute } from '../domain/ingress.ts';
import { isolating, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { ec2 } from './clients.ts';

/** With what a check is, or is to be, associated: instances, or whatever carries a tag. AWS takes one of the two in a call. */
export type Association =
  | { readonly instanceIds: readonly string[] }
  | { readonly tag: { readonly key: string; readonly value: string } };

/**
 * Creates a check as excluded: nobody acts on what it finds.
 *
 * @param token the same for the same intention (R-IDEMP)
 * @returns undefined where EC2 ignores a repeated call: an earlier one has created it
 */
export async function createExcludedCheck(
  check: NewCheck,
  tags: Readonly<Record<string, string>>,
  token: string,
): Promise<string | undefined> {
  const action = 'ec2:CreateApplicationStatusCheck';
  const command = new CreateApplicationStatusCheckCommand({
    Aggregation: 'excluded',
    Protocol: check.protocol,
    Port: check.port,
    Path: check.path,
    StatusCodeMatcher: check.matcher,
    Timeout: check.timeoutSeconds,
    FailureThreshold: check.failureThreshold,
    SuccessThreshold: check.successThreshold,
    InitializationGracePeriodSeconds: check.graceSeconds,
    TagSpecifications: [
      {
        ResourceType: 'application-status-check',
        Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      },
    ],
    ClientToken: token,
  });
  const answer = await send(action, () => ec2().send(command));
  return answer.ApplicationStatusCheck?.ApplicationStatusCheckId;
}

/** The checks of the account that exist and carry this tag. A check that has just been created may not show yet. */
export async function checksWithTag(key: string, value: string): Promise<string[]> {
  const carries = ({ Tags = [] }: ApplicationStatusCheckResponseObject) =>
    Tags.some(tag => tag.Key === key && tag.Value === value);
  return (await allChecks())
    .filter(carries)
    .map(check => given(check.ApplicationStatusCheckId, LISTING, 'ApplicationStatusCheckId'));
}

/** What `CheckFacts` leaves out; undefined when there is no such check. */
export async function checkBesides(id: string): Promise<CheckBesides | undefined> {
  const check = (await allChecks()).find(one => one.ApplicationStatusCheckId === id);
  return (
    check && {
      tags: Object.fromEntries((check.Tags ?? []).map(tag => [tag.Key, tag.Value ?? ''])),
      route: routeOf(check),
    }
  );
}

export interface CheckBesides {
  readonly tags: Readonly<Record<string, string>>;
  readonly route: CheckRoute;
}

/** From where a check asks. */
export function routeOf({
  DeviceIndex = 0,
  IpVersion,
  HealthCheckPaths = [],
}: ApplicationStatusCheckResponseObject): CheckRoute {
  const place = ({ SubnetId = '', SecurityGroupId = '' }) => ({
    subnetId: SubnetId,
    groupId: SecurityGroupId,
  });
  return {
    deviceIndex: DeviceIndex,
    ipVersion: IpVersion === 'ipv6' ? 'ipv6' : 'ipv4',
    paths: HealthCheckPaths.map(({ Source = {}, Destinations = [] }) => ({
      source: place(Source),
      destinations: Destinations.map(place),
    })),
  };
}

const LISTING = 'ec2:DescribeApplicationStatusChecks';

/** The checks of the account that exist. GUIDE (quotas): 50 of them. */
export async function allChecks(): Promise<ApplicationStatusCheckResponseObject[]> {
  const checks = await pages(async next => {
    const command = new DescribeApplicationStatusChecksCommand({ NextToken: next });
    const answer = await send(LISTING, () => ec2().send(command));
    return { items: answer.ApplicationStatusChecks, next: answer.NextToken };
  });
  return checks.filter(check => check.DeletionTime === undefined);
}

/** Includes a check or excludes it; takes effect at its next interval. Repeating it changes nothing. */
export async function setAggregation(id: string, to: 'included' | 'excluded'): Promise<void> {
  const command = new ModifyApplicationStatusCheckCommand({ ApplicationStatusCheckId: id, Aggregation: to });
  await send('ec2:ModifyApplicationStatusCheck', () => ec2().send(command));
}

/** Deletes a check with its associations; one that is not there is success (R-EVENTUAL). */
export async function deleteCheck(id: string): Promise<void> {
  const command = new DeleteApplicationStatusCheckCommand({ ApplicationStatusCheckId: id });
  await unlessGone(send('ec2:DeleteApplicationStatusCheck', () => ec2().send(command)));
}

/** @returns what was not associated, and why: also what already was (R-PARTIAL) */
export async function associate(id: string, what: Association): Promise<Unsuccessful[]> {
  const command = new AssociateApplicationStatusCheckCommand(inputOf(id, what));
  const action = 'ec2:AssociateApplicationStatusCheck';
  const answer = await send(action, () => ec2().send(command));
  return (answer.UnsuccessfulResults ?? []).map(result => unsuccessful(result, action));
}

/**
 * A check that is not there is success, and so is an instance that is not.
 *
 * @returns what was not disassociated, and why: also what was not associated (R-PARTIAL)
 */
export async function disassociate(id: string, what: Association): Promise<readonly Unsuccessful[]> {
  if ('tag' in what) return disassociateAtOnce(id, what);
  const { done } = await isolating(what.instanceIds, blamesInstance, instanceIds =>
    disassociateAtOnce(id, { instanceIds }),
  );
  return done;
}

const blamesInstance = (error: unknown): boolean =>
  isNotFound(error) && error.code.startsWith('InvalidInstanceID.');
const blamesCheck = (error: unknown): boolean => isNotFound(error) && !blamesInstance(error);

async function disassociateAtOnce(id: string, what: Association): Promise<Unsuccessful[]> {
  const action = 'ec2:DisassociateApplicationStatusCheck';
  const command = new DisassociateApplicationStatusCheckCommand(inputOf(id, what));
  const call = send(action, () => ec2().send(command));
  const answer = await unlessGone(call, blamesCheck);
  return (answer?.UnsuccessfulResults ?? []).map(result => unsuccessful(result, action));
}

export interface Unsuccessful {
  /** `key=value`, or an instance's id. */
  readonly value: string;
  readonly reason: string;
}

const unsuccessful = (result: UnsuccessfulAssociationResponseObject, action: string): Unsuccessful => ({
  value: given(result.AssociationValue, action, 'AssociationValue'),
  reason: result.Reason ?? 'EC2 gives no reason',
});

const inputOf = (ApplicationStatusCheckId: string, what: Association) => ({
  ApplicationStatusCheckId,
  ...('tag' in what
    ? { TargetTagAssociations: [{ Key: what.tag.key, Value: what.tag.value }] }
    : { InstanceIds: [...what.instanceIds] }),
});

async function unlessGone<T>(
  call: Promise<T>,
  isGone: (error: unknown) => boolean = isNotFound,
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!isGone(error)) throw error;
    return undefined;
  }
}
