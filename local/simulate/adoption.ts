import { adoptionRequest, type NewCheck } from '../../functions/core/adoption-request.ts';
import { readRequest } from '../../functions/core/request.ts';
import { ec2Api } from '../account/ec2-service.ts';
import type { DeploymentResult, Site } from './deployment.ts';
import { OneExecution } from './one-execution.ts';

/** Long enough for a loop of replacements: five in 14 minutes were measured. */
const UNPROTECTED_MINUTES = 30;

/** The fleet's group adopts a check. With a stack promote-check does it; without one it is created included, on the whole group. */
export async function adopt(
  site: Site,
  name: string,
  asked: Readonly<Record<string, unknown>>,
): Promise<DeploymentResult> {
  const { account, fleet, stack } = site;
  const input = { autoScalingGroupName: fleet.groupName, ...asked };
  const one = new OneExecution(site, name);
  if (stack) return one.run(stack, 'PromoteCheck', input, 'Sample');
  const { check, autoScalingGroupName } = readRequest(adoptionRequest, input);
  if ('id' in check) throw new Error('a scenario adopts a check that it creates');
  includeAtOnce(account, check, autoScalingGroupName);
  await account.world.clock.sleep(UNPROTECTED_MINUTES * 60_000);
  return one.ends('succeeded');
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
