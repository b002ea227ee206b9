import {
  type ApplicationStatusFacts,
  applicationStatusChecks,
  applicationStatuses,
  type CheckFacts,
} from '../../functions/core/aws/application-status.ts';
import { groupMemberships, groups } from '../../functions/core/aws/auto-scaling.ts';
import { concurrently } from '../../functions/core/aws/batch.ts';
import {
  everyTargetGroup,
  type TargetGroupFacts,
  targetGroups,
  targetGroupsOfVpc,
  targetHealth,
} from '../../functions/core/aws/elastic-load-balancing.ts';
import {
  describeInstances,
  type InstanceFacts,
  instancesWithAddresses,
} from '../../functions/core/aws/instances.ts';
import { whyNotInService } from '../../functions/core/domain/lifecycle.ts';
import {
  type ObservedFleet,
  type ObservedInstance,
  observedCheck,
} from '../../functions/core/domain/observed-fleet.ts';
import { AutoScalingGroupUnknown, InstanceUnknown, TargetGroupUnknown } from '../../functions/core/errors.ts';
import { DESCRIBES_AT_ONCE } from '../../functions/core/limits.ts';
import {
  observedGroup,
  observedTarget,
  type ReadGroup,
  readGroups,
} from '../../functions/core/zones/observe-groups.ts';
import { list } from './format.ts';

/** How the fleet of a diagnosis is named. */
export type FleetName =
  | { readonly kind: 'instances'; readonly instanceIds: readonly string[] }
  | { readonly kind: 'auto-scaling-group'; readonly name: string }
  | { readonly kind: 'target-group'; readonly arn: string };

/**
 * Reads all that a diagnosis looks at.
 *
 * @param sources - what is read besides what EC2, Auto Scaling and the load balancers say now
 * @throws InstanceUnknown, AutoScalingGroupUnknown, TargetGroupUnknown; QuiesceError when AWS cannot be read
 */
export async function observeFleet(
  name: FleetName,
  { logs, metrics }: { readonly logs: boolean; readonly metrics: boolean },
): Promise<ObservedFleet> {
  const { instances, groupFacts } = await find(name);
  const ids = instances.map(({ id }) => id);
  const [memberships, statuses, listed] = await Promise.all([
    groupMemberships(ids),
    applicationStatuses(ids),
    concurrently(
      groupFacts.filter(({ targetType }) => targetType === 'instance' || targetType === 'ip'),
      DESCRIBES_AT_ONCE,
      async facts => ({ facts, health: await targetHealth(facts.arn) }),
    ),
  ]);
  const checkIds = [...statuses.values()].flatMap(({ checks }) => checks.map(({ checkId }) => checkId));
  const checks = await applicationStatusChecks([...new Set(checkIds)]);
  const owned = new Set(instances.flatMap(instance => [instance.id, ...instance.privateAddresses]));
  const { groups: concerned, remarks } = await readGroups(
    listed.filter(
      ({ facts, health }) =>
        (name.kind === 'target-group' && facts.arn === name.arn) ||
        health.some(({ target }) => owned.has(target.id)),
    ),
    { logs, metrics: metrics ? await everyTargetGroup() : undefined },
  );
  const zones = await zonesOf(instances, concerned);
  return {
    instances: instances.map(facts => {
      const lifecycle = memberships.get(facts.id)?.lifecycleState;
      const standing = facts.state === 'running' ? undefined : `is ${facts.state}`;
      const notInService = standing ?? (lifecycle === undefined ? undefined : whyNotInService(lifecycle));
      return observedInstance(facts, notInService, statuses.get(facts.id), checks, concerned);
    }),
    groups: concerned.map(group => observedGroup(group, zones)),
    remarks,
  };
}

/** The zones of the fleet's instances and of all others in its groups, by ids and addresses. */
async function zonesOf(
  instances: readonly InstanceFacts[],
  concerned: readonly ReadGroup[],
): Promise<ReadonlyMap<string, string>> {
  const known = new Set(instances.map(({ id }) => id));
  const ids = concerned.flatMap(({ health }) => health.map(({ target }) => target.id));
  const strangers = [...new Set(ids)].filter(id => id.startsWith('i-') && !known.has(id));
  const all = [...instances, ...(await describeInstances(strangers)).values()];
  return new Map(
    all.flatMap(({ id, privateAddresses, zone }) =>
      [id, ...privateAddresses].map(one => [one, zone] as const),
    ),
  );
}

interface Found {
  readonly instances: readonly InstanceFacts[];
  readonly groupFacts: readonly TargetGroupFacts[];
}

async function find(name: FleetName): Promise<Found> {
  switch (name.kind) {
    case 'instances': {
      const found = await describeInstances(name.instanceIds);
      const unknown = name.instanceIds.filter(id => !found.has(id));
      if (unknown.length > 0)
        throw new InstanceUnknown(`There is no instance ${list(unknown)} in this account and Region.`);
      const vpcs = [...new Set([...found.values()].flatMap(({ vpcId }) => vpcId ?? []))];
      return {
        instances: [...found.values()],
        groupFacts: (await Promise.all(vpcs.map(targetGroupsOfVpc))).flat(),
      };
    }
    case 'auto-scaling-group': {
      const group = (await groups([name.name])).get(name.name);
      if (!group)
        throw new AutoScalingGroupUnknown(
          `There is no Auto Scaling group ${name.name} in this account and Region.`,
        );
      const found = await describeInstances(group.instances.map(({ instanceId }) => instanceId));
      return { instances: [...found.values()], groupFacts: await targetGroups(group.targetGroupArns) };
    }
    case 'target-group': {
      const groupFacts = await targetGroups([name.arn]);
      const [group] = groupFacts;
      if (!group)
        throw new TargetGroupUnknown(`There is no target group ${name.arn} in this account and Region.`);
      const ids = (await targetHealth(group.arn)).map(({ target }) => target.id);
      const instances =
        group.targetType === 'ip'
          ? await instancesWithAddresses(ids)
          : [...(await describeInstances(ids)).values()];
      return { instances, groupFacts };
    }
  }
}

function observedInstance(
  { id, zone, privateAddresses, launchedAt }: InstanceFacts,
  notInService: string | undefined,
  status: ApplicationStatusFacts | undefined,
  checks: ReadonlyMap<string, CheckFacts>,
  groupsWithHealth: readonly ReadGroup[],
): ObservedInstance {
  const owned = new Set([id, ...privateAddresses]);
  return {
    instanceId: id,
    zone,
    ...(notInService !== undefined && { notInService }),
    suppressed: status?.status === 'suppressed',
    checks: (status?.checks ?? []).map(result =>
      observedCheck(result, launchedAt, checks.get(result.checkId)),
    ),
    targets: groupsWithHealth.flatMap(group =>
      group.health
        .filter(({ target }) => owned.has(target.id))
        .map(one => observedTarget(group, one, privateAddresses)),
    ),
  };
}
