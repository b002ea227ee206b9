import type { InstanceMaintenancePolicy, UpdateAutoScalingGroupType } from '@aws-sdk/client-auto-scaling';
import { ServiceError } from '../wire/contract.ts';
import type { Group, HealthCheckType } from './auto-scaling-group.ts';
import { refuseOthers } from './ec2-request.ts';

interface Sizes {
  readonly minSize?: number | undefined;
  readonly maxSize?: number | undefined;
  readonly desiredCapacity?: number | undefined;
}

/** Changes sizes; a desired capacity that is not given follows the limits. @throws ServiceError ValidationError */
export function changeSizes(group: Group, { minSize, maxSize, desiredCapacity }: Sizes): void {
  const least = minSize ?? group.minSize;
  const most = maxSize ?? group.maxSize;
  if (least > most) throw invalid(`Max bound, ${most}, must be greater than or equal to min bound, ${least}`);
  const desired = desiredCapacity ?? Math.min(Math.max(group.desiredCapacity, least), most);
  if (desired < least)
    throw invalid(
      `New SetDesiredCapacity value ${desired} is below min value ${least} for the AutoScalingGroup.`,
    );
  if (desired > most)
    throw invalid(
      `New SetDesiredCapacity value ${desired} is above max value ${most} for the AutoScalingGroup.`,
    );
  group.minSize = least;
  group.maxSize = most;
  group.desiredCapacity = desired;
}

/** Changes how the group checks health and replaces. @throws ServiceError ValidationError, and for what is not simulated */
export function changeSettings(
  group: Group,
  input: Omit<UpdateAutoScalingGroupType, 'AutoScalingGroupName'>,
): void {
  const { HealthCheckType, HealthCheckGracePeriod, InstanceMaintenancePolicy, ...others } = input;
  refuseOthers('UpdateAutoScalingGroup', others);
  if (HealthCheckType !== undefined) group.healthCheckTypes = parseHealthCheckTypes(HealthCheckType);
  if (HealthCheckGracePeriod !== undefined) group.healthCheckGracePeriodSeconds = HealthCheckGracePeriod;
  if (InstanceMaintenancePolicy) group.maintenancePolicy = parsePolicy(InstanceMaintenancePolicy);
}

/** `EC2,ELB`, or `ELB` alone: EC2 is always on. */
function parseHealthCheckTypes(text: string): readonly HealthCheckType[] {
  return text.split(',').map(name => {
    const type = name.trim();
    if (type === 'EC2' || type === 'ELB' || type === 'VPC_LATTICE') return type;
    if (type === 'EBS')
      throw new ServiceError('UnsupportedOperation', 'EBS health checks are not simulated.');
    throw invalid(`${type} is not a health check type.`);
  });
}

/** -1 clears the policy; both percentages have to be given. */
function parsePolicy(policy: InstanceMaintenancePolicy): InstanceMaintenancePolicy | undefined {
  const { MinHealthyPercentage: least, MaxHealthyPercentage: most } = policy;
  if (least === -1 && most === -1) return undefined;
  if (least === undefined || most === undefined || least < 0 || least > 100 || most < 100 || most > 200)
    throw invalid('MinHealthyPercentage must be from 0 to 100 and MaxHealthyPercentage from 100 to 200.');
  if (most - least > 100) throw invalid('The percentages must not differ by more than 100.');
  return policy;
}

const invalid = (message: string): ServiceError => new ServiceError('ValidationError', message);
