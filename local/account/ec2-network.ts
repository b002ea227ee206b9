import type { Random } from '../clock/random.ts';
import { ServiceError } from '../wire/contract.ts';
import { addressAt, type Cidr, holds, parseCidr } from './cidr.ts';
import type { ServiceInterfaces } from './neighbours.ts';
import { resourceId } from './resource-id.ts';
import type { World } from './world.ts';

export interface Subnet {
  readonly id: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly zoneId: string;
  readonly cidr: Cidr;
  readonly tags: Map<string, string>;
}

/** Lets TCP connections in, to ports `fromPort` to `toPort`, from addresses, a security group, or the group itself. */
export interface IngressRule {
  readonly fromPort: number;
  readonly toPort: number;
  readonly from: { readonly cidr: string } | { readonly groupId: string } | 'self';
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly vpcId: string;
  readonly ingress: readonly IngressRule[];
  readonly tags: Map<string, string>;
}

export interface NetworkInterface {
  readonly id: string;
  readonly subnet: Subnet;
  readonly groupIds: readonly string[];
  readonly addresses: readonly [string, ...string[]];
  readonly description: string;
  readonly createdAt: number;
  readonly owner:
    | { readonly kind: 'instance'; readonly instanceId: string }
    | { readonly kind: 'service'; readonly principal: string }
    /** A service that makes interfaces in its customers' name, and shows them: a load balancer, a function. */
    | { readonly kind: 'requester'; readonly requesterId: string };
}

/** One VPC of a /16, in subnets of a /19, which hold the 5,000 targets that an account may have. */
const VPC_CIDR = parseCidr('10.0.0.0/16');
const SUBNET_BITS = 19;
/** UG: the first four addresses of a subnet, and the last one, are reserved. */
const RESERVED_FIRST = 4;

/** The VPC: subnets, security groups, and network interfaces with their addresses. */
export class Network implements ServiceInterfaces {
  readonly vpcId: string;
  readonly subnets = new Map<string, Subnet>();
  readonly securityGroups = new Map<string, SecurityGroup>();
  readonly interfaces = new Map<string, NetworkInterface>();
  /** The other VPCs that a security group is associated with, by group. */
  readonly vpcAssociations = new Map<string, readonly string[]>();
  readonly #world: World;
  readonly #random: Random;
  readonly #used = new Map<string, number>();
  readonly #blocks = new Map<string, Cidr>();

  constructor(world: World) {
    this.#world = world;
    this.#random = world.random.fork('ec2-network');
    this.vpcId = resourceId('vpc', this.#random);
  }

  /** @param zone of the world's Region, such as `eu-west-1a`; a zone may have several subnets */
  addSubnet(zone: string): Subnet {
    const { region } = this.#world;
    const letter = zone.slice(region.length);
    if (!zone.startsWith(region) || !/^[a-z]$/.test(letter))
      throw new Error(`${zone} is not a zone of ${region}`);
    const size = 2 ** (32 - SUBNET_BITS);
    const cidr = parseCidr(`${addressAt(VPC_CIDR, this.subnets.size * size)}/${SUBNET_BITS}`);
    if (!holds(VPC_CIDR, cidr))
      throw new Error(`${VPC_CIDR.text} is full: it has ${this.subnets.size} subnets`);
    const zoneId = `${shortRegion(region)}-az${letter.charCodeAt(0) - 'a'.charCodeAt(0) + 1}`;
    const id = resourceId('subnet', this.#random);
    const subnet = { id, vpcId: this.vpcId, zone, zoneId, cidr, tags: new Map<string, string>() };
    this.subnets.set(id, subnet);
    return subnet;
  }

  addSecurityGroup({
    name,
    ingress = [],
    tags = {},
  }: {
    readonly name?: string;
    readonly ingress?: readonly IngressRule[];
    readonly tags?: Readonly<Record<string, string>>;
  } = {}): SecurityGroup {
    const id = resourceId('sg', this.#random);
    const group = { id, name: name ?? id, vpcId: this.vpcId, ingress, tags: new Map(Object.entries(tags)) };
    this.securityGroups.set(id, group);
    return group;
  }

  setIngress(groupId: string, ingress: readonly IngressRule[]): void {
    this.securityGroups.set(groupId, { ...this.securityGroup(groupId), ingress });
  }

  /** @throws ServiceError InvalidGroup.NotFound */
  securityGroup(id: string): SecurityGroup {
    const group = this.securityGroups.get(id);
    if (!group) throw new ServiceError('InvalidGroup.NotFound', `The security group '${id}' does not exist`);
    return group;
  }

  /** @throws ServiceError InvalidSubnetID.NotFound */
  subnet(id: string): Subnet {
    const subnet = this.subnets.get(id);
    if (!subnet) throw new ServiceError('InvalidSubnetID.NotFound', `The subnet ID '${id}' does not exist`);
    return subnet;
  }

  addRequested({ requesterId, ...spec }: Parameters<ServiceInterfaces['addRequested']>[0]): string {
    const owner = { kind: 'requester', requesterId } as const;
    return this.addInterface({ ...spec, addressCount: 1, owner }).addresses[0];
  }

  addInterface(spec: {
    readonly subnetId: string;
    readonly groupIds: readonly string[];
    readonly addressCount: number;
    readonly description: string;
    readonly owner: NetworkInterface['owner'];
  }): NetworkInterface {
    const subnet = this.subnet(spec.subnetId);
    for (const id of spec.groupIds) this.securityGroup(id);
    const created = {
      id: resourceId('eni', this.#random),
      subnet,
      groupIds: spec.groupIds,
      addresses: this.#addresses(subnet, spec.addressCount),
      description: spec.description,
      createdAt: this.#world.clock.now(),
      owner: spec.owner,
    };
    this.interfaces.set(created.id, created);
    return created;
  }

  removeInterface(id: string): void {
    this.interfaces.delete(id);
  }

  /** @throws ServiceError DependencyViolation while an interface, another group's rule or another VPC uses the group */
  deleteSecurityGroup(id: string): void {
    this.securityGroup(id);
    const used = [...this.interfaces.values()].some(({ groupIds }) => groupIds.includes(id));
    const named = [...this.securityGroups.values()].some(
      group => group.id !== id && referredBy(group).includes(id),
    );
    const associated = (this.vpcAssociations.get(id) ?? []).length > 0;
    if (used || named || associated)
      throw new ServiceError('DependencyViolation', `resource ${id} has a dependent object`);
    this.securityGroups.delete(id);
  }

  /**
   * May a TCP connection from an interface with `fromGroupIds` reach `port` of one with `groupIds`? A rule by address
   * counts when it holds every address that the connection may come from: those of `fromSubnetId`, else the VPC's.
   */
  admits(
    groupIds: readonly string[],
    port: number,
    fromGroupIds: readonly string[],
    fromSubnetId?: string,
  ): boolean {
    const source = fromSubnetId === undefined ? VPC_CIDR : this.subnet(fromSubnetId).cidr;
    return groupIds.some(groupId =>
      this.securityGroups.get(groupId)?.ingress.some(({ fromPort, toPort, from }) => {
        if (port < fromPort || port > toPort) return false;
        if (from === 'self') return fromGroupIds.includes(groupId);
        return isGroup(from) ? fromGroupIds.includes(from.groupId) : holds(this.#block(from.cidr), source);
      }),
    );
  }

  /** Every probe and every request asks, so each rule's block is read once. */
  #block(text: string): Cidr {
    const known = this.#blocks.get(text);
    if (known) return known;
    const block = parseCidr(text);
    this.#blocks.set(text, block);
    return block;
  }

  #addresses(subnet: Subnet, count: number): readonly [string, ...string[]] {
    const used = this.#used.get(subnet.id) ?? RESERVED_FIRST;
    if (used + count >= subnet.cidr.size)
      throw new ServiceError('InsufficientFreeAddressesInSubnet', `${subnet.id} has no free addresses.`);
    this.#used.set(subnet.id, used + count);
    const more = Array.from({ length: count - 1 }, (_, index) => addressAt(subnet.cidr, used + 1 + index));
    return [addressAt(subnet.cidr, used), ...more];
  }
}

/** The groups that a group's rules refer to, itself included. */
export const referredBy = ({ id, ingress }: SecurityGroup): readonly string[] =>
  ingress.flatMap(({ from }) => (from === 'self' ? [id] : isGroup(from) ? [from.groupId] : []));

const isGroup = (from: IngressRule['from']): from is { readonly groupId: string } =>
  typeof from === 'object' && 'groupId' in from;

/** `eu-west-1` is `euw1` in zone ids. */
const shortRegion = (region: string): string =>
  region.replaceAll(/north|south|east|west|central/g, word => word.charAt(0)).replaceAll('-', '');
