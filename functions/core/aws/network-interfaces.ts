import { DescribeNetworkInterfacesCommand, type NetworkInterface } from '@aws-sdk/client-ec2';
import type { InterfaceFacts } from '../domain/group-blockers.ts';
import { DESCRIBES_AT_ONCE, INSTANCES_PER_FILTER } from '../limits.ts';
import { inChunks, pages } from './batch.ts';
import { given, send } from './call.ts';
import { ec2 } from './clients.ts';

const ACTION = 'ec2:DescribeNetworkInterfaces';

/** Every interface that one of these security groups is on, those that a service manages and hides included (R-ENI). */
export async function interfacesInGroups(groupIds: readonly string[]): Promise<InterfaceFacts[]> {
  const found = await inChunks(groupIds, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    pages(async next => {
      const command = new DescribeNetworkInterfacesCommand({
        Filters: [{ Name: 'group-id', Values: chunk }],
        IncludeManagedResources: true,
        NextToken: next,
      });
      const answer = await send(ACTION, () => ec2().send(command));
      return { items: answer.NetworkInterfaces, next: answer.NextToken };
    }),
  );
  // One that is on two of the groups is found by each chunk.
  return [...new Map(found.flat().map(one => [one.NetworkInterfaceId, toFacts(one)])).values()];
}

function toFacts(one: NetworkInterface): InterfaceFacts {
  const { Operator, Attachment } = one;
  return {
    id: given(one.NetworkInterfaceId, ACTION, 'NetworkInterfaceId'),
    subnetId: one.SubnetId ?? '',
    securityGroupIds: (one.Groups ?? []).flatMap(({ GroupId }) => GroupId ?? []),
    description: one.Description ?? '',
    ...(Operator?.Managed && { operator: Operator.Principal ?? 'an AWS service' }),
    ...(Attachment?.InstanceId !== undefined && { instanceId: Attachment.InstanceId }),
  };
}
