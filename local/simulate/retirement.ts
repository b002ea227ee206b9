import { ec2Api } from '../account/ec2-service.ts';
import type { Execution } from '../states/execution.ts';
import type { Json } from '../states/json.ts';
import { ServiceError } from '../wire/contract.ts';
import { OWN_GROUP } from './build-fleet.ts';
import type { DeploymentResult, Site } from './deployment.ts';
import type { DeploymentSpec } from './scenario.ts';

/** The first check of the fleet is retired. With a stack retire-check does it; without one as a template that deletes one after the other. */
export async function retire(
  site: Site,
  name: string,
  { namesGroup, ...asked }: NonNullable<DeploymentSpec['retire']>,
): Promise<DeploymentResult> {
  const { account, fleet, stack } = site;
  const { journal } = account.world;
  const [checkId = ''] = fleet.checkIds;
  const groupIds = [...account.ec2.network.securityGroups.values()]
    .filter(group => group.name === OWN_GROUP)
    .slice(0, 1)
    .map(({ id }) => id);
  const instanceIds = fleet.instances.map(({ id }) => id);
  const executions: Execution[] = [];
  const tell = (state: 'started' | 'batch' | 'failed' | 'succeeded', detail: string) =>
    journal.record({ type: 'deployment', state, instanceIds, detail });
  const ends = (outcome: DeploymentResult['outcome'], error: string, cause: string): DeploymentResult => {
    tell(outcome === 'succeeded' ? 'succeeded' : 'failed', error);
    return { outcome, error, cause, batches: [{ runId: name, instanceIds, executions }] };
  };
  tell('started', '');
  tell('batch', name);
  if (!stack) {
    const failure = deleteAtOnce(account, checkId, groupIds);
    return failure ? ends('failed', failure.code, failure.message) : ends('succeeded', '', '');
  }
  const input = { checkId, ...(namesGroup && { securityGroupIds: groupIds }), ...asked };
  const execution = stack.startExecution('RetireCheck', { name, input: input as Json });
  executions.push(execution);
  await execution.ended;
  if (execution.status === 'SUCCEEDED') return ends('succeeded', '', '');
  const wasTouched = journal.entries.some(
    entry =>
      entry.type === 'state-entered' && entry.executionArn === execution.arn && entry.state === 'ObserveLeft',
  );
  return ends(wasTouched ? 'failed' : 'refused', execution.error ?? execution.status, execution.cause ?? '');
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
