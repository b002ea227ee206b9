import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { concurrently } from '../aws/batch.ts';
import type { TargetGroupFacts, TargetHealthFacts } from '../aws/elastic-load-balancing.ts';
import type { Membership } from '../domain/fleet.ts';
import { effectiveCrossZone, thresholdsOf } from '../domain/floors.ts';
import { listAt } from '../domain/lists.ts';
import type { PlannedGroup } from '../domain/plan.ts';
import { NotOptedIn, TargetGroupUnknown } from '../errors.ts';
import { DEREGISTRATION_DELAY_SECONDS, DESCRIBES_AT_ONCE } from '../limits.ts';
import type { RunRequest } from '../request.ts';
import type { OptInTag } from '../settings.ts';
import { type Fleet, list } from './discover-fleet.ts';
import type { Reads } from './reads.ts';

/** Where the fleet's traffic comes from. */
export interface Traffic {
  readonly groups: readonly PlannedGroup[];
  readonly health: ReadonlyMap<string, readonly TargetHealthFacts[]>;
  readonly membershipsOf: (instanceId: string) => readonly Membership[];
  /** Targets of an instance that are draining. */
  readonly drainingOf: (instanceId: string) => readonly Membership[];
  readonly remarks: readonly string[];
}

/**
 * Finds every membership of every instance, on every port (R-EXACT): in the groups that the request names, else in those
 * attached to the Auto Scaling groups, else, and always for instances outside a group, in all groups of the VPC (D11).
 *
 * @param recorded groups of which another run has taken members out: none of those is listed there now
 * @throws NotOptedIn when a target group that would be acted on lacks the tag; TargetGroupUnknown
 */
export async function discoverTraffic(
  request: RunRequest,
  fleet: Fleet,
  optIn: OptInTag,
  reads: Reads,
  recorded: ReadonlySet<string>,
): Promise<Traffic> {
  const remarks: string[] = [];
  const candidates = await candidateGroups(request, fleet, reads);
  const further = [...recorded].filter(arn => !candidates.some(group => group.arn === arn));
  const facts = [...candidates, ...(await reads.targetGroups(further))];
  const usable = facts.filter(group => {
    const ordinary = group.targetType === 'instance' || group.targetType === 'ip';
    if (!ordinary)
      remarks.push(`Target group ${group.name} has targets of type ${group.targetType} and is left alone.`);
    return ordinary;
  });

  const owners = new Map<string, string>();
  for (const { facts: instance } of fleet.candidates)
    for (const id of [instance.id, ...instance.privateAddresses]) owners.set(id, instance.id);
  const health = new Map<string, readonly TargetHealthFacts[]>();
  const memberships = new Map<string, Membership[]>();
  const draining = new Map<string, Membership[]>();
  await concurrently(usable, DESCRIBES_AT_ONCE, async group => {
    const listed = await reads.targetHealth(group.arn);
    if (recorded.has(group.arn) || listed.some(target => owners.has(target.target.id)))
      health.set(group.arn, listed);
  });
  const concerned = usable.filter(group => health.has(group.arn));
  for (const group of concerned)
    for (const { target, state, reason } of listAt(health, group.arn)) {
      const owner = owners.get(target.id);
      const absent = state === 'unused' && reason === 'Target.NotRegistered';
      if (!owner || absent) continue;
      const found = state === 'draining' ? draining : memberships;
      found.set(owner, [...listAt(found, owner), { targetGroupArn: group.arn, target }]);
    }

  await refuseUntagged(concerned, optIn, reads);
  return {
    groups: await planGroups(concerned, request, reads),
    health,
    membershipsOf: instanceId => listAt(memberships, instanceId),
    drainingOf: instanceId => listAt(draining, instanceId),
    remarks,
  };
}

async function candidateGroups(
  request: RunRequest,
  fleet: Fleet,
  reads: Reads,
): Promise<readonly TargetGroupFacts[]> {
  if (request.targetGroupArns) return namedGroups(request.targetGroupArns, reads);
  const attached = [
    ...new Set(fleet.autoScalingGroups.flatMap((group: AutoScalingGroupFacts) => group.targetGroupArns)),
  ];
  const found = new Map((await reads.targetGroups(attached)).map(group => [group.arn, group]));
  const vpcs = fleet.candidates
    .filter(candidate => request.policy.discover === 'vpc' || !candidate.autoScalingGroup)
    .flatMap(candidate => candidate.facts.vpcId ?? []);
  for (const vpcId of request.policy.discover === 'attached' ? [] : new Set(vpcs))
    for (const group of await reads.targetGroupsOfVpc(vpcId)) found.set(group.arn, group);
  return [...found.values()];
}

async function namedGroups(arns: readonly string[], reads: Reads): Promise<readonly TargetGroupFacts[]> {
  const found = await reads.targetGroups(arns);
  const unknown = arns.filter(arn => !found.some(group => group.arn === arn));
  if (unknown.length > 0)
    throw new TargetGroupUnknown(
      `There is no target group ${list(unknown)} in this account and Region. Correct targetGroupArns.`,
    );
  return found;
}

async function refuseUntagged(
  groups: readonly TargetGroupFacts[],
  { key, value }: OptInTag,
  reads: Reads,
): Promise<void> {
  const tags = await reads.tagsOf(groups.map(group => group.arn));
  const without = groups.filter(group => tags.get(group.arn)?.[key] !== value).map(group => group.name);
  if (without.length > 0)
    throw new NotOptedIn(
      `Target group ${list(without)} does not carry the tag ${key}=${value}. Quiesce acts only on what carries it: add the tag, or say traffic: leave.`,
    );
}

async function planGroups(
  groups: readonly TargetGroupFacts[],
  request: RunRequest,
  reads: Reads,
): Promise<PlannedGroup[]> {
  const arns = [...new Set(groups.flatMap(group => group.loadBalancerArns))];
  const types = await reads.loadBalancerTypes(arns);
  const loadBalancers = new Map(
    await Promise.all(
      arns.map(
        async arn =>
          [
            arn,
            { type: types.get(arn)?.type ?? '', attributes: await reads.loadBalancerAttributes(arn) },
          ] as const,
      ),
    ),
  );
  return Promise.all(
    groups.map(async group => {
      const attributes = await reads.targetGroupAttributes(group.arn);
      const { healthCheck } = group;
      return {
        arn: group.arn,
        name: group.name,
        targetType: group.targetType,
        deregistrationDelaySeconds: Number(
          attributes['deregistration_delay.timeout_seconds'] ?? DEREGISTRATION_DELAY_SECONDS,
        ),
        slowStartSeconds: Number(attributes['slow_start.duration_seconds'] ?? 0),
        inServiceSeconds:
          healthCheck.intervalSeconds * healthCheck.healthyThreshold + healthCheck.timeoutSeconds,
        serves: group.loadBalancerArns.length > 0,
        floor: {
          crossZone: effectiveCrossZone(attributes, loadBalancers.get(group.loadBalancerArns[0] ?? '')),
          minHealthyPercent: request.policy.minHealthyPercent,
          ...thresholdsOf(attributes),
        },
      };
    }),
  );
}
