import {
  DescribeNetworkInterfacesCommand,
  type DescribeNetworkInterfacesRequest,
  type NetworkInterface,
} from '@aws-sdk/client-ec2';
import { CHECKS_OPERATOR, type InterfaceFacts } from '../domain/group-blockers.ts';
import { DESCRIBES_AT_ONCE, INSTANCES_PER_FILTER, INTERFACES_PER_DESCRIBE } from '../limits.ts';
import { inChunks, isolating, pages } from './batch.ts';
import { given, isNotFound, send } from './call.ts';
import { ec2 } from './clients.ts';

const ACTION = 'ec2:DescribeNetworkInterfaces';

/** Every interface that one of these security groups is on, those that a service manages and hides included (R-ENI). */
export async function interfacesInGroups(groupIds: readonly string[]): Promise<InterfaceFacts[]> {
  const found = await inChunks(groupIds, INSTANCES_PER_FILTER, DESCRIBES_AT_ONCE, chunk =>
    interfacesBy({ Filters: [{ Name: 'group-id', Values: chunk }] }),
  );
  // One that is on two of the groups is found by each chunk.
  return [...new Map(found.flat().map(one => [one.id, one])).values()];
}

/** The interfaces from which checks are asked: hidden unless they are asked for (R-ENI). */
export const checkInterfaces = (): Promise<InterfaceFacts[]> =>
  interfacesBy({ Filters: [{ Name: 'operator.principal', Values: [CHECKS_OPERATOR] }] });

/** Those of these interfaces that exist, whatever is hidden. */
export async function interfacesById(ids: readonly string[]): Promise<InterfaceFacts[]> {
  const found = await inChunks(ids, INTERFACES_PER_DESCRIBE, DESCRIBES_AT_ONCE, chunk =>
    isolating(chunk, isNotFound, some => interfacesBy({ NetworkInterfaceIds: [...some] })),
  );
  return found.flatMap(({ done }) => done);
}

async function interfacesBy(which: DescribeNetworkInterfacesRequest): Promise<InterfaceFacts[]> {
  const found = await pages(async next => {
    const command = new DescribeNetworkInterfacesCommand({
      ...which,
      IncludeManagedResources: true,
      NextToken: next,
    });
    const answer = await send(ACTION, () => ec2().send(command));
    return { items: answer.NetworkInterfaces, next: answer.NextToken };
  });
  return found.map(toFacts);
}

function toFacts(one: NetworkInterface): InterfaceFacts {
  const { Operator, Attachment, RequesterManaged, RequesterId } = one;
  return {
    id: given(one.NetworkInterfaceId, ACTION, 'NetworkInterfaceId'),
    subnetId: one.SubnetId ?? '',
    securityGroupIds: (one.Groups ?? []).flatMap(({ GroupId }) => GroupId ?? []),
    description: one.Description ?? '',
    ...(Operator?.Managed && { operator: Operator.Principal ?? 'an AWS service' }),
    ...(RequesterManaged && RequesterId !== undefined && { requester: RequesterId }),
    ...(Attachment?.InstanceId !== undefined && { instanceId: Attachment.InstanceId }),
    ...(Attachment?.AttachTime !== undefined && { attachedAt: Attachment.AttachTime }),
    ...(Attachment?.InstanceOwnerId !== undefined && { attachedTo: Attachment.InstanceOwnerId }),
  };
}
