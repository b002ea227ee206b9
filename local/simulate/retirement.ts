import { ec2Api } from '../account/ec2-service.ts';
import { ServiceError } from '../wire/contract.ts';
import { OWN_GROUP } from './build-fleet.ts';
import type { DeploymentResult, Site } from './deployment.ts';
import { OneExecution } from './one-execution.ts';
import type { DeploymentSpec } from './scenario.ts';

/** The first check of the fleet is retired. With a stack retire-check does it; without one as a template that deletes one after the other. */
export async function retire(
  site: Site,
  name: string,
  { namesGroup, ...asked }: NonNullable<DeploymentSpec['retire']>,
): Promise<DeploymentResult> {
  const { account, fleet, stack } = site;
  const [checkId = ''] = fleet.checkIds;
  const groupIds = [...account.ec2.network.securityGroups.values()]
    .filter(group => group.name === OWN_GROUP)
    .slice(0, 1)
    .map(({ id }) => id);
  const one = new OneExecution(site, name);
  const input = { checkId, ...(namesGroup && { securityGroupIds: groupIds }), ...asked };
  if (stack) return one.run(stack, 'RetireCheck', input, 'ObserveLeft');
  const failure = deleteAtOnce(account, checkId, groupIds);
  return failure ? one.ends('failed', failure.code, failure.message) : one.ends('succeeded');
}

function deleteAtOnce(
  { checks }: Site['account'],
  ApplicationStatusCheckId: string,
  groupIds: readonly string[],
): ServiceError | undefined {
  const api = ec2Api(checks);
  try {
    api.DeleteApplicationStatusCheck({ ApplicationStatusCheckId });
    for (const GroupId of groupIds) api.DeleteSecurityGroup({ GroupId });
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
