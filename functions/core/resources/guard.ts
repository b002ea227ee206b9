import { interfacesInGroups } from '../aws/network-interfaces.ts';
import { interfaceInWords, isOfChecks } from '../domain/group-blockers.ts';
import { propertiesOf } from './properties.ts';
import { guardProperties, type ResourceRequest } from './request.ts';
import type { Missing } from './serve.ts';

/**
 * When a guard is deleted, the interfaces of checks have to have left its security group: then CloudFormation can delete the
 * group. Other interfaces are those of resources that CloudFormation knows, and deletes in its own order.
 */
export async function serveGuard(request: ResourceRequest): Promise<Missing> {
  const guarded = propertiesOf(guardProperties, request);
  if (!guarded || request.RequestType !== 'Delete') return [];
  const interfaces = await interfacesInGroups([guarded.SecurityGroupId]);
  return interfaces.filter(isOfChecks).map(interfaceInWords);
}
