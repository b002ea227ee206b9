import { interfacesInGroups } from '../aws/network-interfaces.ts';
import { securityGroups } from '../aws/security-groups.ts';
import { startExecution } from '../aws/step-functions.ts';
import { InterfaceUse } from '../domain/check-interfaces.ts';
import { interfaceInWords, isOfChecks } from '../domain/group-blockers.ts';
import { findRetirement } from '../ledger/retirements.ts';
import { executionName } from '../naming.ts';
import { checksInUse } from '../retire/checks-in-use.ts';
import { subjectOf } from '../retirement-request.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { propertiesOf } from './properties.ts';
import { guardProperties, type ResourceRequest } from './request.ts';
import type { Context, Missing } from './serve.ts';

/**
 * When a guard is deleted, the interfaces of checks have to have left its security group: then CloudFormation can delete the
 * group. Other interfaces are those of resources that CloudFormation knows, and deletes in its own order.
 *
 * @returns what is left, and whose it is: each check that needs an interface is named at once (D45)
 */
export async function serveGuard(request: ResourceRequest, context: Context): Promise<Missing> {
  const guarded = propertiesOf(guardProperties, request);
  if (!guarded || request.RequestType !== 'Delete') return [];
  const { SecurityGroupId: id } = guarded;
  const left = (await interfacesInGroups([id])).filter(isOfChecks);
  if (left.length === 0) return [];
  const use = new InterfaceUse(await checksInUse());
  const named = left.map(one => {
    const users = use.usersOf(one);
    return `${interfaceInWords(one)}${users.length > 0 ? `, needed by ${users.join(', ')}` : ''}`;
  });
  if (nowSeconds() < context.deadline) return named;
  return [...named, await handOver(id, request, context)];
}

/** CloudFormation does not wait any longer, and retire-check does. It deletes what has opted in, and nothing else (D45). */
async function handOver(id: string, { RequestId }: ResourceRequest, { optIn }: Context): Promise<string> {
  const asked = { securityGroupIds: [id] };
  if ((await findRetirement(subjectOf(asked)))?.status === 'live')
    return `${id} is being retired already, and is deleted when they are gone`;
  const group = (await securityGroups([id])).get(id);
  if (group?.tags[optIn.key] !== optIn.value)
    return `${id} does not carry the tag ${optIn.key}=${optIn.value}, so nobody but the stack deletes it`;
  await startExecution(setting('RETIRE_CHECK_ARN'), executionName('retire', id, RequestId), asked);
  return `${id} is retired from now on, and is deleted when they are gone`;
}
