import type {
  DisableApplicationStatusCheckSuppressionRequest,
  DisableApplicationStatusCheckSuppressionResult,
  EnableApplicationStatusCheckSuppressionRequest,
  EnableApplicationStatusCheckSuppressionResult,
} from '@aws-sdk/client-ec2';
import { ServiceError } from '../wire/contract.ts';
import type { ApplicationStatusChecks } from './application-status.ts';
import { MOST_INSTANCE_IDS } from './application-status-operations.ts';
import { distinct, invalidValue, oncePerToken, refuseDryRun, refuseOthers } from './ec2-request.ts';

/** EC2's operations that suppress application status checks, and that lift it. Their results are per instance. */
export function suppressionOperations(checks: ApplicationStatusChecks) {
  const { clock, physics } = checks.world;

  const requireDuration = (seconds: number | undefined) => {
    if (seconds === undefined) return;
    if (!Number.isInteger(seconds) || seconds < 1)
      throw invalidValue(`DurationSeconds ${seconds} is invalid: a positive whole number is needed.`);
    const longest = physics.longestSuppressionSeconds;
    if (longest !== undefined && seconds > longest)
      throw invalidValue(`DurationSeconds ${seconds} exceeds the maximum of ${longest}.`);
  };

  const enable = (
    input: EnableApplicationStatusCheckSuppressionRequest,
  ): EnableApplicationStatusCheckSuppressionResult => {
    const { InstanceIds, DurationSeconds, ClientToken: _, DryRun, ...rest } = input;
    refuseOthers('EnableApplicationStatusCheckSuppression', rest);
    const ids = requireIds(InstanceIds);
    requireDuration(DurationSeconds);
    refuseDryRun(DryRun);
    const SuppressAt = clock.date();
    const asked =
      DurationSeconds === undefined ? {} : { ResumeAt: new Date(clock.now() + DurationSeconds * 1000) };
    const SuccessfulResults = [];
    const UnsuccessfulResults = [];
    for (const InstanceId of ids) {
      const result = checks.suppress(InstanceId, DurationSeconds);
      if ('failure' in result)
        UnsuccessfulResults.push({ InstanceId, SuppressAt, ...asked, Reason: result.failure });
      else
        SuccessfulResults.push({
          InstanceId,
          SuppressAt,
          ...(result.resumesAt !== undefined && { ResumeAt: new Date(result.resumesAt) }),
        });
    }
    return { SuccessfulResults, UnsuccessfulResults };
  };

  const disable = (
    input: DisableApplicationStatusCheckSuppressionRequest,
  ): DisableApplicationStatusCheckSuppressionResult => {
    const { InstanceIds, ClientToken: _, DryRun, ...rest } = input;
    refuseOthers('DisableApplicationStatusCheckSuppression', rest);
    const ids = requireIds(InstanceIds);
    refuseDryRun(DryRun);
    const SuccessfulResults = [];
    const UnsuccessfulResults = [];
    for (const InstanceId of ids) {
      const Reason = checks.release(InstanceId);
      if (Reason === undefined) SuccessfulResults.push({ InstanceId });
      else UnsuccessfulResults.push({ InstanceId, Reason });
    }
    return { SuccessfulResults, UnsuccessfulResults };
  };

  return {
    EnableApplicationStatusCheckSuppression: oncePerToken(enable),
    DisableApplicationStatusCheckSuppression: oncePerToken(disable),
  };
}

function requireIds(ids: readonly string[] | undefined): readonly string[] {
  if (!ids?.length)
    throw new ServiceError('MissingParameter', 'The request must contain the parameter InstanceIds');
  if (ids.length > MOST_INSTANCE_IDS)
    throw invalidValue(`At most ${MOST_INSTANCE_IDS} instance IDs can be given in one request.`);
  return distinct(ids);
}
