import type {
  DeleteSecurityGroupRequest,
  DeleteSecurityGroupResult,
  NetworkInterface as DescribedInterface,
  DescribeNetworkInterfacesRequest,
  DescribeNetworkInterfacesResult,
  DescribeSecurityGroupsRequest,
  DescribeSecurityGroupsResult,
  DescribeSecurityGroupVpcAssociationsRequest,
  DescribeSecurityGroupVpcAssociationsResult,
  DescribeSubnetsRequest,
  DescribeSubnetsResult,
  IpPermission,
} from '@aws-sdk/client-ec2';
import { ServiceError } from '../wire/contract.ts';
import {
  type IngressRule,
  type Network,
  type NetworkInterface,
  referredBy,
  type SecurityGroup,
  type Subnet,
} from './ec2-network.ts';
import {
  distinct,
  type FilterValues,
  matching,
  page,
  refuseDryRun,
  refuseOthers,
  tagList,
} from './ec2-request.ts';
import type { World } from './world.ts';

const managed = ({ owner }: NetworkInterface): boolean => owner.kind === 'service';

const interfaceFilters: FilterValues<NetworkInterface> = {
  'network-interface-id': ({ id }) => [id],
  'group-id': ({ groupIds }) => groupIds,
  'subnet-id': ({ subnet }) => [subnet.id],
  'vpc-id': ({ subnet }) => [subnet.vpcId],
  'availability-zone': ({ subnet }) => [subnet.zone],
  description: ({ description }) => [description],
  status: () => ['in-use'],
  'interface-type': () => ['interface'],
  'addresses.private-ip-address': ({ addresses }) => addresses,
  'private-ip-address': ({ addresses }) => addresses,
  // Nothing here has a public address.
  'addresses.association.public-ip': () => [],
  'attachment.instance-id': ({ owner }) => (owner.kind === 'instance' ? [owner.instanceId] : []),
  'requester-managed': ({ owner }) => [String(owner.kind !== 'instance')],
  'operator.managed': item => [String(managed(item))],
  'operator.principal': ({ owner }) => (owner.kind === 'service' ? [owner.principal] : []),
};

const groupFilters: FilterValues<SecurityGroup> = {
  'group-id': ({ id }) => [id],
  'group-name': ({ name }) => [name],
  'vpc-id': ({ vpcId }) => [vpcId],
  'ip-permission.group-id': referredBy,
  // Nothing here closes what a group lets out, so that none refers to another.
  'egress.ip-permission.group-id': () => [],
};

const subnetFilters: FilterValues<Subnet> = {
  'subnet-id': ({ id }) => [id],
  'vpc-id': ({ vpcId }) => [vpcId],
  'availability-zone': ({ zone }) => [zone],
  'availability-zone-id': ({ zoneId }) => [zoneId],
};

/** EC2's operations on subnets, security groups and network interfaces. */
export function ec2NetworkOperations({ accountId, region, partition }: World, network: Network) {
  const permission = (groupId: string, { fromPort, toPort, from }: IngressRule): IpPermission => ({
    IpProtocol: 'tcp',
    FromPort: fromPort,
    ToPort: toPort,
    IpRanges: from !== 'self' && 'cidr' in from ? [{ CidrIp: from.cidr }] : [],
    UserIdGroupPairs:
      from === 'self' || 'groupId' in from
        ? [{ GroupId: from === 'self' ? groupId : from.groupId, UserId: accountId }]
        : [],
  });

  const interfaceOf = (item: NetworkInterface): DescribedInterface => ({
    NetworkInterfaceId: item.id,
    AvailabilityZone: item.subnet.zone,
    AvailabilityZoneId: item.subnet.zoneId,
    SubnetId: item.subnet.id,
    VpcId: item.subnet.vpcId,
    OwnerId: accountId,
    Description: item.description,
    InterfaceType: 'interface',
    Status: 'in-use',
    PrivateIpAddress: item.addresses[0],
    PrivateIpAddresses: item.addresses.map((PrivateIpAddress, index) => ({
      PrivateIpAddress,
      Primary: index === 0,
    })),
    Groups: item.groupIds.map(GroupId => ({ GroupId, GroupName: network.securityGroups.get(GroupId)?.name })),
    TagSet: [],
    RequesterManaged: item.owner.kind !== 'instance',
    ...ownership(item),
  });

  const ownership = ({
    owner,
    createdAt,
  }: NetworkInterface): Pick<DescribedInterface, 'Attachment' | 'RequesterId' | 'Operator'> => {
    switch (owner.kind) {
      case 'service':
        return {
          // INF: the other end is an instance in AWS's own account.
          Attachment: {
            InstanceOwnerId: 'amazon-aws',
            AttachTime: new Date(createdAt),
            DeviceIndex: 1,
            Status: 'attached',
          },
          RequesterId: owner.principal,
          Operator: { Managed: true, Principal: owner.principal, HiddenByDefault: true },
        };
      case 'requester':
        return {
          Attachment: { InstanceOwnerId: owner.requesterId, DeviceIndex: 1, Status: 'attached' },
          RequesterId: owner.requesterId,
          Operator: { Managed: false },
        };
      case 'instance':
        return {
          Attachment: {
            InstanceId: owner.instanceId,
            InstanceOwnerId: accountId,
            AttachTime: new Date(createdAt),
            DeviceIndex: 0,
            Status: 'attached',
            DeleteOnTermination: true,
          },
          Operator: { Managed: false },
        };
    }
  };

  return {
    DescribeNetworkInterfaces(input: DescribeNetworkInterfacesRequest): DescribeNetworkInterfacesResult {
      const {
        NetworkInterfaceIds,
        Filters,
        IncludeManagedResources,
        MaxResults,
        NextToken,
        DryRun,
        ...rest
      } = input;
      refuseOthers('DescribeNetworkInterfaces', rest);
      refuseDryRun(DryRun);
      const byId = NetworkInterfaceIds !== undefined && NetworkInterfaceIds.length > 0;
      if (byId && MaxResults !== undefined)
        throw new ServiceError(
          'InvalidParameterCombination',
          'The parameter NetworkInterfaceIds cannot be used with the parameter MaxResults',
        );
      // UG: hidden resources are found by their IDs whatever the visibility.
      const from = byId
        ? distinct(NetworkInterfaceIds).map(id => network.interfaces.get(id) ?? interfaceNotFound(id))
        : [...network.interfaces.values()].filter(item => IncludeManagedResources || !managed(item));
      const found = matching(from, Filters, interfaceFilters);
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 1000 });
      return { NetworkInterfaces: items.map(interfaceOf), ...next };
    },

    DescribeSecurityGroups(input: DescribeSecurityGroupsRequest): DescribeSecurityGroupsResult {
      const { GroupIds, Filters, MaxResults, NextToken, DryRun, ...rest } = input;
      refuseOthers('DescribeSecurityGroups', rest);
      refuseDryRun(DryRun);
      const from = GroupIds?.length
        ? distinct(GroupIds).map(id => network.securityGroup(id))
        : network.securityGroups.values();
      const found = matching(from, Filters, groupFilters, ({ tags }) => tags);
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 1000 });
      const SecurityGroups = items.map(group => ({
        GroupId: group.id,
        GroupName: group.name,
        Description: group.name,
        VpcId: group.vpcId,
        OwnerId: accountId,
        SecurityGroupArn: `arn:${partition}:ec2:${region}:${accountId}:security-group/${group.id}`,
        IpPermissions: group.ingress.map(rule => permission(group.id, rule)),
        // As AWS creates a group; nothing here closes it.
        IpPermissionsEgress: [
          { IpProtocol: '-1', IpRanges: [{ CidrIp: '0.0.0.0/0' }], UserIdGroupPairs: [] },
        ],
        Tags: tagList(group.tags),
      }));
      return { SecurityGroups, ...next };
    },

    DescribeSecurityGroupVpcAssociations(
      input: DescribeSecurityGroupVpcAssociationsRequest,
    ): DescribeSecurityGroupVpcAssociationsResult {
      const { Filters, MaxResults, NextToken, DryRun, ...rest } = input;
      refuseOthers('DescribeSecurityGroupVpcAssociations', rest);
      refuseDryRun(DryRun);
      const all = [...network.vpcAssociations].flatMap(([GroupId, vpcs]) =>
        vpcs.map(VpcId => ({ GroupId, VpcId, VpcOwnerId: accountId, State: 'associated' as const })),
      );
      const found = matching(all, Filters, {
        'group-id': ({ GroupId }) => [GroupId],
        'vpc-id': ({ VpcId }) => [VpcId],
      });
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 1000 });
      return { SecurityGroupVpcAssociations: [...items], ...next };
    },

    DeleteSecurityGroup(input: DeleteSecurityGroupRequest): DeleteSecurityGroupResult {
      const { GroupId, DryRun, ...rest } = input;
      refuseOthers('DeleteSecurityGroup', rest);
      refuseDryRun(DryRun);
      if (!GroupId)
        throw new ServiceError('MissingParameter', 'The request must contain the parameter GroupId');
      network.deleteSecurityGroup(GroupId);
      return { Return: true, GroupId };
    },

    DescribeSubnets(input: DescribeSubnetsRequest): DescribeSubnetsResult {
      const { SubnetIds, Filters, MaxResults, NextToken, DryRun, ...rest } = input;
      refuseOthers('DescribeSubnets', rest);
      refuseDryRun(DryRun);
      const from = SubnetIds?.length
        ? distinct(SubnetIds).map(id => network.subnet(id))
        : network.subnets.values();
      const found = matching(from, Filters, subnetFilters, ({ tags }) => tags);
      const { items, next } = page(found, { MaxResults, NextToken }, { least: 5, most: 1000 });
      const Subnets = items.map(subnet => ({
        SubnetId: subnet.id,
        VpcId: subnet.vpcId,
        AvailabilityZone: subnet.zone,
        AvailabilityZoneId: subnet.zoneId,
        CidrBlock: subnet.cidr.text,
        OwnerId: accountId,
        SubnetArn: `arn:${partition}:ec2:${region}:${accountId}:subnet/${subnet.id}`,
        State: 'available' as const,
        Tags: tagList(subnet.tags),
      }));
      return { Subnets, ...next };
    },
  };
}

function interfaceNotFound(id: string): never {
  throw new ServiceError(
    'InvalidNetworkInterfaceID.NotFound',
    `The networkInterface ID '${id}' does not exist`,
  );
}
