import { type AddressBlock, addressBlock, contains, overlap } from './address-block.ts';
import { aws, shellLine } from './aws-cli.ts';

/** What a security group rule lets through, to or from which other end. */
export interface GroupRule {
  /** As AWS names it, such as `sgr-0123456789abcdef0`. */
  readonly id: string;
  readonly direction: 'inbound' | 'outbound';
  /** `tcp`, its number `6`, or `-1` for every protocol: the others let no check through. */
  readonly protocol: string;
  /** Both -1, as with protocol `-1`, means every port. */
  readonly fromPort: number;
  readonly toPort: number;
  readonly peer:
    | { readonly kind: 'addresses'; readonly cidr: string }
    | { readonly kind: 'prefix-list'; readonly prefixListId: string }
    /** A group that refers to itself names its own id. */
    | { readonly kind: 'group'; readonly groupId: string };
}

/** What was read of the network. What is not in it was not readable, and is never taken for closed. */
export interface SeenNetwork {
  readonly rulesByGroup: ReadonlyMap<string, readonly GroupRule[]>;
  readonly cidrsBySubnet: ReadonlyMap<string, readonly string[]>;
  readonly cidrsByPrefixList: ReadonlyMap<string, readonly string[]>;
}

/** The network side of an instance, or of an interface from which a check is sent. */
export interface PathEnd {
  readonly subnetId: string;
  readonly groupIds: readonly string[];
}

/** An instance's own end, at its primary interface. */
export const pathEndOf = ({
  subnetId = '',
  securityGroupIds,
}: {
  readonly subnetId?: string;
  readonly securityGroupIds: readonly string[];
}): PathEnd => ({ subnetId, groupIds: securityGroupIds });

export interface CheckPath {
  readonly source: PathEnd;
  readonly destination: PathEnd;
  readonly port: number;
  readonly ipVersion: 'ipv4' | 'ipv6';
}

/** A rule that would open the path, by the group at its other end: it holds however addresses change. */
export interface MissingRule {
  readonly direction: GroupRule['direction'];
  readonly groupId: string;
  readonly peerGroupId: string;
  readonly port: number;
  readonly command: string;
}

export type IngressVerdict =
  /** `ruleIds`: the outbound and inbound rules that let each possible source through. */
  | { readonly kind: 'open'; readonly ruleIds: readonly string[] }
  | { readonly kind: 'closed'; readonly add: readonly MissingRule[] }
  /** The check decides when it is observed as excluded. */
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * The path of an AWS-managed check: from an interface in the subnet of the instance, with a security group of the instance.
 * AWS does not document which of several groups: `judgeIngress` calls open only what is open from each of them.
 */
export const managedPath = (
  instance: PathEnd,
  port: number,
  ipVersion: CheckPath['ipVersion'],
): CheckPath => ({ source: instance, destination: instance, port, ipVersion });

/** From where a check asks. */
export interface CheckRoute {
  /** The interface of the instance that is asked: only of the primary one, 0, anything is known here. */
  readonly deviceIndex: number;
  readonly ipVersion: CheckPath['ipVersion'];
  /** The customer-managed paths; none when AWS manages them. */
  readonly paths: readonly {
    readonly source: NetworkPlace;
    readonly destinations: readonly NetworkPlace[];
  }[];
}

interface NetworkPlace {
  readonly subnetId: string;
  readonly groupId: string;
}

/** The paths by which a check asks an instance, as far as they are known. One that no customer-managed path leads to is asked by none. */
export function pathsTo(
  instance: PathEnd,
  port: number,
  { deviceIndex, ipVersion, paths }: CheckRoute,
): CheckPath[] {
  if (deviceIndex !== 0) return [];
  if (paths.length === 0) return [managedPath(instance, port, ipVersion)];
  return paths
    .filter(({ destinations }) =>
      destinations.some(
        ({ subnetId, groupId }) => subnetId === instance.subnetId && instance.groupIds.includes(groupId),
      ),
    )
    .map(({ source: { subnetId, groupId } }) => ({
      source: { subnetId, groupIds: [groupId] },
      destination: instance,
      port,
      ipVersion,
    }));
}

/** Do the security groups let the check reach the instance? */
export function judgeIngress(path: CheckPath, seen: SeenNetwork): IngressVerdict {
  const { source, destination } = path;
  if (source.groupIds.length === 0 || destination.groupIds.length === 0)
    return { kind: 'unknown', why: 'One end of the path has no security group that could be read.' };
  const verdicts = source.groupIds.map(groupId => fromGroup(groupId, path, seen));
  const unknown = verdicts.find(verdict => verdict.kind === 'unknown');
  if (unknown) return unknown;
  const open = verdicts.flatMap(verdict => (verdict.kind === 'open' ? [verdict] : []));
  const closed = verdicts.flatMap(verdict => (verdict.kind === 'closed' ? [verdict] : []));
  if (closed.length > 0 && open.length > 0) {
    const why = `Only some of ${source.groupIds.join(', ')} may reach port ${path.port}, and AWS does not say which it uses.`;
    return { kind: 'unknown', why };
  }
  if (closed.length > 0) return { kind: 'closed', add: closed.flatMap(({ add }) => add) };
  // Network ACLs stand between subnets, and not within one.
  if (source.subnetId !== destination.subnetId) {
    const why = `The security groups are open, but the network ACLs between ${source.subnetId} and ${destination.subnetId} decide too.`;
    return { kind: 'unknown', why };
  }
  return { kind: 'open', ruleIds: [...new Set(open.flatMap(({ ruleIds }) => ruleIds))] };
}

function fromGroup(sourceGroupId: string, path: CheckPath, seen: SeenNetwork): IngressVerdict {
  const { source, destination } = path;
  const from = { subnetId: source.subnetId, groupIds: [sourceGroupId] };
  const sides = [
    side('outbound', from, destination, path, seen),
    side('inbound', destination, from, path, seen),
  ];
  const add = sides.flatMap(verdict => (verdict.kind === 'closed' ? verdict.add : []));
  if (add.length > 0) return { kind: 'closed', add };
  const unknown = sides.find(verdict => verdict.kind === 'unknown');
  if (unknown) return unknown;
  return {
    kind: 'open',
    ruleIds: sides.flatMap(verdict => (verdict.kind === 'open' ? verdict.ruleIds : [])),
  };
}

/** Does one of the groups of `here` let the connection through to, or from, `peer`? */
function side(
  direction: GroupRule['direction'],
  here: PathEnd,
  peer: PathEnd,
  path: CheckPath,
  seen: SeenNetwork,
): IngressVerdict {
  const peerBlocks = blocksOf(seen.cidrsBySubnet.get(peer.subnetId), path.ipVersion);
  const doubts: string[] = [];
  for (const groupId of here.groupIds) {
    const rules = seen.rulesByGroup.get(groupId);
    if (!rules) doubts.push(`The rules of ${groupId} could not be read.`);
    for (const rule of rules ?? []) {
      if (rule.direction !== direction || !carries(rule, path.port)) continue;
      const reach = reachOf(rule, peer, peerBlocks, path.ipVersion, seen);
      if (reach === 'all') return { kind: 'open', ruleIds: [rule.id] };
      if (reach !== 'none') doubts.push(reach.doubt);
    }
  }
  const [why] = doubts;
  if (why !== undefined) return { kind: 'unknown', why };
  return { kind: 'closed', add: missingRules(direction, here, peer, path.port) };
}

const carries = ({ protocol, fromPort, toPort }: GroupRule, port: number): boolean =>
  protocol === '-1' || ((protocol === 'tcp' || protocol === '6') && fromPort <= port && port <= toPort);

function reachOf(
  rule: GroupRule,
  peer: PathEnd,
  peerBlocks: readonly AddressBlock[],
  ipVersion: CheckPath['ipVersion'],
  seen: SeenNetwork,
): 'all' | 'none' | { readonly doubt: string } {
  if (rule.peer.kind === 'group') return peer.groupIds.includes(rule.peer.groupId) ? 'all' : 'none';
  const cidrs =
    rule.peer.kind === 'addresses' ? [rule.peer.cidr] : seen.cidrsByPrefixList.get(rule.peer.prefixListId);
  if (!cidrs) return { doubt: `What ${rule.id} lets through is in a prefix list that could not be read.` };
  const blocks = blocksOf(cidrs, ipVersion);
  if (blocks.length === 0) return 'none';
  if (peerBlocks.length === 0)
    return { doubt: `The ${ipVersion} addresses of ${peer.subnetId} could not be read.` };
  if (peerBlocks.every(inner => blocks.some(outer => contains(outer, inner)))) return 'all';
  if (!peerBlocks.some(inner => blocks.some(outer => overlap(outer, inner)))) return 'none';
  return { doubt: `${rule.id} holds only a part of the addresses of ${peer.subnetId}.` };
}

const blocksOf = (
  cidrs: readonly string[] | undefined,
  version: CheckPath['ipVersion'],
): readonly AddressBlock[] =>
  (cidrs ?? []).flatMap(cidr => addressBlock(cidr) ?? []).filter(block => block.version === version);

/** One group of this side is enough to open it; at the destination of several groups, that is its first. */
function missingRules(
  direction: GroupRule['direction'],
  here: PathEnd,
  peer: PathEnd,
  port: number,
): readonly MissingRule[] {
  const [groupId] = here.groupIds;
  const [peerGroupId] = peer.groupIds;
  if (groupId === undefined || peerGroupId === undefined) return [];
  const verb = direction === 'inbound' ? 'ingress' : 'egress';
  const permission = `IpProtocol=tcp,FromPort=${port},ToPort=${port},UserIdGroupPairs=[{GroupId=${peerGroupId}}]`;
  const command = shellLine(
    aws('ec2', `authorize-security-group-${verb}`, { 'group-id': groupId, 'ip-permissions': permission }),
  );
  return [{ direction, groupId, peerGroupId, port, command }];
}
