import { isIPv4 } from 'node:net';
import { ServiceError } from '../wire/contract.ts';
import type { Instance } from './neighbours.ts';
import type { TargetGroup } from './target-groups.ts';

/** A target as a caller names it; without a port the group's own is meant. */
export interface NamedTarget {
  readonly id: string;
  readonly port?: number | undefined;
  readonly availabilityZone?: string | undefined;
  readonly quicServerId?: string | undefined;
}

/** A target that may be registered: where it is, and what DescribeTargetHealth lists of its zone. */
export interface Placement {
  readonly id: string;
  readonly port: number;
  readonly zone: string;
  readonly availabilityZone: string | undefined;
}

/**
 * Where a target belongs that is to be registered with the group.
 *
 * @throws ServiceError InvalidTarget when it cannot be a target of this group, ValidationError for a member that is
 *   missing or out of place, UnsupportedOperation for lambda and alb groups, whose targets are not simulated
 */
export function placementOf(
  group: TargetGroup,
  named: NamedTarget,
  instance: Instance | undefined,
): Placement {
  checkId(group, named.id);
  checkQuicServerId(group, named);
  const port = named.port ?? group.port;
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new ServiceError('ValidationError', `Port ${port} of target '${named.id}' is not in 1-65535`);
  switch (group.targetType) {
    case 'instance':
      return { ...ofInstance(group, named, instance), port };
    case 'ip':
      return { ...ofAddress(group, named, instance, port), port };
    default:
      throw new ServiceError(
        'UnsupportedOperation',
        `targets of type ${group.targetType} are not simulated, so none can be registered`,
      );
  }
}

/** @throws ServiceError InvalidTarget when the id is not of the group's target type */
export function checkId(group: TargetGroup, id: string): void {
  if (group.targetType === 'instance' && !/^i-[0-9a-f]{8,17}$/.test(id))
    throw new ServiceError('InvalidTarget', `Instance ID '${id}' is not valid`);
  if (group.targetType === 'ip' && !isIPv4(id))
    throw new ServiceError('InvalidTarget', `The IP address '${id}' is not a valid IPv4 address`);
}

function ofInstance(
  group: TargetGroup,
  named: NamedTarget,
  instance: Instance | undefined,
): Omit<Placement, 'port'> {
  if (named.availabilityZone !== undefined)
    throw new ServiceError(
      'ValidationError',
      'You cannot specify an Availability Zone for a target of type instance',
    );
  // UG: "If the target is an EC2 instance, it must be in the running state when you register it."
  if (instance?.state !== 'running')
    throw new ServiceError(
      'InvalidTarget',
      `The following targets are not in a running state: '${named.id}'`,
    );
  if (instance.vpcId !== group.vpcId)
    throw new ServiceError(
      'InvalidTarget',
      `The following targets are not in the target group VPC '${group.vpcId}': '${named.id}'`,
    );
  return { id: named.id, zone: instance.zone, availabilityZone: undefined };
}

function ofAddress(
  group: TargetGroup,
  named: NamedTarget,
  instance: Instance | undefined,
  port: number,
): Omit<Placement, 'port'> {
  // UG: "you must wait for the deregistration delay to complete before you can register the same IP address again."
  // INF: the error is InvalidTarget; the guide does not name it.
  if (group.targets.get(named.id, port)?.leaves)
    throw new ServiceError(
      'InvalidTarget',
      `The target '${named.id}' is draining: wait for its deregistration delay to complete`,
    );
  const detected = instance?.vpcId === group.vpcId ? instance.zone : undefined;
  const zone = named.availabilityZone ?? detected;
  // UG: "If the IP address is outside the VPC, this parameter is required."
  if (zone === undefined)
    throw new ServiceError(
      'ValidationError',
      `The IP address '${named.id}' is outside the VPC: specify an Availability Zone`,
    );
  return { id: named.id, zone, availabilityZone: zone };
}

function checkQuicServerId(group: TargetGroup, { id, quicServerId }: NamedTarget): void {
  const isQuic = group.protocol === 'QUIC' || group.protocol === 'TCP_QUIC';
  if (isQuic !== (quicServerId !== undefined))
    throw new ServiceError(
      'ValidationError',
      isQuic
        ? `Target '${id}' needs a QuicServerId`
        : `A QuicServerId is not supported by ${group.protocol} groups: target '${id}'`,
    );
  if (quicServerId !== undefined && !/^0x[0-9a-f]{16}$/.test(quicServerId))
    throw new ServiceError(
      'ValidationError',
      `QuicServerId '${quicServerId}' is not 0x and 16 hexadecimal digits`,
    );
}
