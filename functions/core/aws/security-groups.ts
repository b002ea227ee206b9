import {
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  type IpPermission,
} from '@aws-sdk/client-ec2';
import type { GroupRule } from '../domain/ingress.ts';
import { DESCRIBES_AT_ONCE, INSTANCES_PER_FILTER } from '../limits.ts';
import { inChunks, pages } from './batch.ts';
import { given, send } from './call.ts';
import { ec2 } from './clients.ts';

/** The rules of security groups, by group; unknown groups, and groups of another account, have no entry. */
export async function rulesOfGroups(ids: readonly string[]): Promise<Map<string, GroupRule[]>> {
  const action = 'ec2:DescribeSecurityGroups';
  const found = await inChunks(ids, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    pages(async next => {
      const Filters = [{ Name: 'group-id', Values: chunk }];
      const answer = await send(action, () =>
        ec2().send(new DescribeSecurityGroupsCommand({ Filters, NextToken: next })),
      );
      return { items: answer.SecurityGroups, next: answer.NextToken };
    }),
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
