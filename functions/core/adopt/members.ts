import { groups } from '../aws/auto-scaling.ts';
import { type ApplicationStatusFacts, applicationStatuses, describeInstances } from '../aws/ec2.ts';
import { AutoScalingGroupUnknown } from '../errors.ts';

/** An instance in service, with what EC2 reports of it. */
export interface Member {
  readonly instanceId: string;
  readonly zone: string;
  readonly launchedAt: Date | undefined;
  readonly status: ApplicationStatusFacts | undefined;
}

/** The instances of a group that are in service. @throws AutoScalingGroupUnknown */
export async function membersInService(name: string): Promise<Member[]> {
  const group = (await groups([name])).get(name);
  if (!group) throw new AutoScalingGroupUnknown(`Auto Scaling group ${name} is gone.`);
  const ids = group.instances
    .filter(({ lifecycleState }) => lifecycleState === 'InService')
    .map(({ instanceId }) => instanceId);
  const statuses = await applicationStatuses(ids);
  const facts = await describeInstances(ids);
  return [...facts.values()].map(({ id: instanceId, zone, launchedAt }) => ({
    instanceId,
    zone,
    launchedAt,
    status: statuses.get(instanceId),
  }));
}
