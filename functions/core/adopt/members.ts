import { type ApplicationStatusFacts, applicationStatuses } from '../aws/application-status.ts';
import { groups } from '../aws/auto-scaling.ts';
import { describeInstances } from '../aws/instances.ts';
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
  const members = (await membersOfGroups([name])).get(name);
  if (!members) throw new AutoScalingGroupUnknown(`Auto Scaling group ${name} is gone.`);
  return members;
}

/** The same of many groups, by their names; groups that are not there have no entry. */
export async function membersOfGroups(names: readonly string[]): Promise<Map<string, Member[]>> {
  const found = [...(await groups(names)).values()].map(({ name, instances }) => {
    const inService = instances.filter(({ lifecycleState }) => lifecycleState === 'InService');
    return { name, ids: inService.map(({ instanceId }) => instanceId) };
  });
  const all = found.flatMap(({ ids }) => ids);
  const statuses = await applicationStatuses(all);
  const facts = await describeInstances(all);
  const memberOf = (instanceId: string): Member[] => {
    const { zone, launchedAt } = facts.get(instanceId) ?? {};
    return zone === undefined ? [] : [{ instanceId, zone, launchedAt, status: statuses.get(instanceId) }];
  };
  return new Map(found.map(({ name, ids }) => [name, ids.flatMap(memberOf)]));
}
