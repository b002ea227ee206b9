import {
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  type Filter,
  type Instance,
} from '@aws-sdk/client-ec2';
import { DESCRIBES_AT_ONCE, INSTANCES_PER_FILTER } from '../limits.ts';
import { inChunks, pages } from './batch.ts';
import { given, send } from './call.ts';
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

/** In which zone the interface with this private or public address is; undefined when none has it, or several of different zones. */
export async function zoneOfAddress(address: string): Promise<string | undefined> {
  const zones = new Set((await locateAddresses([address])).map(({ zone }) => zone));
  if (zones.size === 0) for (const zone of await zonesOfPublicAddress(address)) zones.add(zone);
  const [zone, ...others] = zones;
  return others.length === 0 ? zone : undefined;
}

async function zonesOfPublicAddress(address: string): Promise<string[]> {
  const action = 'ec2:DescribeNetworkInterfaces';
  const command = new DescribeNetworkInterfacesCommand({
    Filters: [{ Name: 'addresses.association.public-ip', Values: [address] }],
    IncludeManagedResources: true,
  });
  const { NetworkInterfaces = [] } = await send(action, () => ec2().send(command));
  return NetworkInterfaces.map(({ AvailabilityZone }) => given(AvailabilityZone, action, 'AvailabilityZone'));
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
