import { adoptionRequest, type NewCheck } from '../../functions/core/adoption-request.ts';
import { readRequest } from '../../functions/core/request.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { Execution } from '../states/execution.ts';
import type { Json } from '../states/json.ts';
import type { DeploymentResult, Site } from './deployment.ts';

/** Long enough for a loop of replacements: five in 14 minutes were measured. */
const UNPROTECTED_MINUTES = 30;

/** The fleet's group adopts a check. With a stack promote-check does it; without one it is created included, on the whole group. */
export async function adopt(
  { account, fleet, stack }: Site,
  name: string,
  asked: Readonly<Record<string, unknown>>,
): Promise<DeploymentResult> {
  const { journal, clock } = account.world;
  const instanceIds = fleet.instances.map(({ id }) => id);
  const input = { autoScalingGroupName: fleet.groupName, ...asked };
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
    const { check, autoScalingGroupName } = readRequest(adoptionRequest, input);
    if ('id' in check) throw new Error('a scenario adopts a check that it creates');
    includeAtOnce(account, check, autoScalingGroupName);
    await clock.sleep(UNPROTECTED_MINUTES * 60_000);
    return ends('succeeded', '', '');
  }
  const execution = stack.startExecution('PromoteCheck', { name, input: input as Json });
  executions.push(execution);
  await execution.ended;
  if (execution.status === 'SUCCEEDED') return ends('succeeded', '', '');
  const wasTouched = journal.entries.some(
    entry =>
      entry.type === 'state-entered' && entry.executionArn === execution.arn && entry.state === 'Sample',
  );
  return ends(wasTouched ? 'failed' : 'refused', execution.error ?? execution.status, execution.cause ?? '');
}

function includeAtOnce({ checks }: Site['account'], check: NewCheck, groupName: string): void {
  const api = ec2Api(checks);
  const created = api.CreateApplicationStatusCheck({
    Protocol: check.protocol,
    Port: check.port,
    Path: check.path,
    StatusCodeMatcher: check.matcher,
    Timeout: check.timeoutSeconds,
    FailureThreshold: check.failureThreshold,
    SuccessThreshold: check.successThreshold,
    InitializationGracePeriodSeconds: check.graceSeconds,
    Aggregation: 'included',
  });
  api.AssociateApplicationStatusCheck({
    ApplicationStatusCheckId: created.ApplicationStatusCheck?.ApplicationStatusCheckId,
    TargetTagAssociations: [{ Key: 'aws:autoscaling:groupName', Value: groupName }],
  });
}
