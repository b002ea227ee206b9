import {
  DeleteSecurityGroupCommand,
  DescribeSecurityGroupsCommand,
  DescribeSecurityGroupVpcAssociationsCommand,
  DescribeSubnetsCommand,
  type IpPermission,
  type SecurityGroup,
} from '@aws-sdk/client-ec2';
import type { GroupRule } from '../domain/ingress.ts';
import { AwsFailure } from '../errors.ts';
import { DESCRIBES_AT_ONCE, INSTANCES_PER_FILTER } from '../limits.ts';
import { inChunks, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { ec2 } from './clients.ts';

/** The rules of security groups, by group; unknown groups, and groups of another account, have no entry. */
export async function rulesOfGroups(ids: readonly string[]): Promise<Map<string, GroupRule[]>> {
  const action = 'ec2:DescribeSecurityGroups';
  const found = await inChunks(ids, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    groupsBy('group-id', chunk),
  );
  return new Map(
    found.flat().map(group => {
      const id = given(group.GroupId, action, 'GroupId');
      const inbound = (group.IpPermissions ?? []).flatMap(one => rulesOf(id, 'inbound', one));
      const outbound = (group.IpPermissionsEgress ?? []).flatMap(one => rulesOf(id, 'outbound', one));
      return [id, [...inbound, ...outbound]];
    }),
  );
}

/** The description names no rule: it is told by what it says. */
function rulesOf(groupId: string, direction: GroupRule['direction'], permission: IpPermission): GroupRule[] {
  const { IpProtocol = '-1', FromPort = -1, ToPort = -1 } = permission;
  const peers: readonly GroupRule['peer'][] = [
    ...(permission.IpRanges ?? []).flatMap(({ CidrIp }) => addresses(CidrIp)),
    ...(permission.Ipv6Ranges ?? []).flatMap(({ CidrIpv6 }) => addresses(CidrIpv6)),
    ...(permission.PrefixListIds ?? []).flatMap(({ PrefixListId: prefixListId }) =>
      prefixListId === undefined ? [] : [{ kind: 'prefix-list', prefixListId } as const],
    ),
    ...(permission.UserIdGroupPairs ?? []).flatMap(({ GroupId }) =>
      GroupId === undefined ? [] : [{ kind: 'group', groupId: GroupId } as const],
    ),
  ];
  return peers.map(peer => ({
    id: `${groupId} ${direction} ${IpProtocol} ${FromPort}-${ToPort}`,
    direction,
    protocol: IpProtocol,
    fromPort: FromPort,
    toPort: ToPort,
    peer,
  }));
}

const addresses = (cidr: string | undefined) =>
  cidr === undefined ? [] : [{ kind: 'addresses', cidr } as const];

/** The blocks of addresses of subnets, by subnet; unknown subnets have no entry. */
export async function cidrsOfSubnets(ids: readonly string[]): Promise<Map<string, string[]>> {
  const action = 'ec2:DescribeSubnets';
  const found = await inChunks(ids, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    pages(async next => {
      const Filters = [{ Name: 'subnet-id', Values: chunk }];
      const answer = await send(action, () =>
        ec2().send(new DescribeSubnetsCommand({ Filters, NextToken: next })),
      );
      return { items: answer.Subnets, next: answer.NextToken };
    }),
  );
  return new Map(
    found.flat().map(subnet => {
      const ipv6 = (subnet.Ipv6CidrBlockAssociationSet ?? []).flatMap(one => one.Ipv6CidrBlock ?? []);
      return [
        given(subnet.SubnetId, action, 'SubnetId'),
        [...(subnet.CidrBlock ? [subnet.CidrBlock] : []), ...ipv6],
      ];
    }),
  );
}

/** A security group as far as its deletion is concerned. */
export interface SecurityGroupFacts {
  readonly id: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** Those of these groups that exist. */
export async function securityGroups(ids: readonly string[]): Promise<Map<string, SecurityGroupFacts>> {
  const action = 'ec2:DescribeSecurityGroups';
  const found = await inChunks(ids, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    groupsBy('group-id', chunk),
  );
  return new Map(
    found.flat().map(group => {
      const id = given(group.GroupId, action, 'GroupId');
      return [
        id,
        { id, tags: Object.fromEntries((group.Tags ?? []).map(tag => [tag.Key, tag.Value ?? ''])) },
      ];
    }),
  );
}

/** The other groups of the account with a rule that refers to this one. */
export async function groupsReferringTo(id: string): Promise<string[]> {
  const found = await Promise.all([
    groupsBy('ip-permission.group-id', [id]),
    groupsBy('egress.ip-permission.group-id', [id]),
  ]);
  const referring = found
    .flat()
    .map(({ GroupId }) => given(GroupId, 'ec2:DescribeSecurityGroups', 'GroupId'));
  return [...new Set(referring)].filter(other => other !== id);
}

function groupsBy(name: string, values: readonly string[]): Promise<SecurityGroup[]> {
  return pages(async next => {
    const command = new DescribeSecurityGroupsCommand({
      Filters: [{ Name: name, Values: [...values] }],
      NextToken: next,
    });
    const answer = await send('ec2:DescribeSecurityGroups', () => ec2().send(command));
    return { items: answer.SecurityGroups, next: answer.NextToken };
  });
}

/** The other VPCs that this group is associated with: they hold it as an interface does (D34). */
export async function vpcsAssociatedWith(id: string): Promise<string[]> {
  const action = 'ec2:DescribeSecurityGroupVpcAssociations';
  const found = await pages(async next => {
    const command = new DescribeSecurityGroupVpcAssociationsCommand({
      Filters: [{ Name: 'group-id', Values: [id] }],
      NextToken: next,
    });
    const answer = await send(action, () => ec2().send(command));
    return { items: answer.SecurityGroupVpcAssociations, next: answer.NextToken };
  });
  return found
    .filter(({ State }) => State !== 'disassociated' && State !== 'association-failed')
    .map(({ VpcId }) => given(VpcId, action, 'VpcId'));
}

/** @returns `held` when something still depends on it; one that is not there is success (R-ENI) */
export async function deleteSecurityGroup(id: string): Promise<'gone' | 'held'> {
  try {
    const command = new DeleteSecurityGroupCommand({ GroupId: id });
    await send('ec2:DeleteSecurityGroup', () => ec2().send(command));
    return 'gone';
  } catch (error) {
    if (isNotFound(error)) return 'gone';
    if (error instanceof AwsFailure && error.code === 'DependencyViolation') return 'held';
    throw error;
  }
}
