import type { AutoScalingGroupFacts } from '../aws/auto-scaling.ts';
import { deployment } from '../aws/code-deploy.ts';
import { type InstanceFacts, instancesWithTag } from '../aws/instances.ts';
import type { Bystander } from '../domain/fleet.ts';
import { whyNotInService } from '../domain/lifecycle.ts';
import {
  AutoScalingGroupUnknown,
  InstanceUnknown,
  InvalidRequest,
  NothingToDo,
  NotOptedIn,
} from '../errors.ts';
import { MEMBERS_PER_RUN } from '../limits.ts';
import type { RunRequest } from '../request.ts';
import type { OptInTag } from '../settings.ts';
import type { Reads } from './reads.ts';

/** An instance that the bracket may apply to, with the Auto Scaling group that watches it. */
export interface Candidate {
  readonly facts: InstanceFacts;
  readonly autoScalingGroup?: string;
}

export interface Fleet {
  readonly candidates: readonly Candidate[];
  readonly bystanders: readonly Bystander[];
  readonly autoScalingGroups: readonly AutoScalingGroupFacts[];
  /** It is the fleet of a deployment that takes a failed one back. */
  readonly rollback: boolean;
}

/**
 * Finds the instances of a request and says of each whether it is in service (D1, D30).
 *
 * @throws InstanceUnknown, AutoScalingGroupUnknown, DeploymentUnknown, NotOptedIn, NothingToDo
 */
export async function discoverFleet(request: RunRequest, optIn: OptInTag, reads: Reads): Promise<Fleet> {
  const named = await instancesOf(request.fleet, reads);
  if (named.instanceIds.length > MEMBERS_PER_RUN)
    throw new InvalidRequest(
      `fleet: has ${named.instanceIds.length} instances and one run takes ${MEMBERS_PER_RUN}. Deploy to fewer at once, for example zone by zone with zones.`,
    );
  const found = await reads.describeInstances(named.instanceIds);
  const unknown = named.instanceIds.filter(id => !found.has(id));
  if (unknown.length > 0 && 'instanceIds' in request.fleet)
    throw new InstanceUnknown(
      `There is no instance ${list(unknown)} in this account and Region. Correct fleet.instanceIds.`,
    );
  const inZones = [...found.values()].filter(facts => inZone(facts, request.zones));
  const memberships = await reads.groupMemberships(inZones.map(facts => facts.id));

  const candidates: Candidate[] = [];
  const bystanders: Bystander[] = [
    ...named.bystanders,
    ...unknown.map(instanceId => ({ instanceId, reason: 'does not exist any more' })),
  ];
  const leftOut = new Set(bystanders.map(bystander => bystander.instanceId));
  for (const facts of inZones) {
    if (leftOut.has(facts.id)) continue;
    const membership = memberships.get(facts.id);
    const reason = membership
      ? whyNotInService(membership.lifecycleState)
      : facts.state === 'running'
        ? undefined
        : `is ${facts.state}`;
    if (reason) bystanders.push({ instanceId: facts.id, reason });
    else candidates.push({ facts, ...(membership ? { autoScalingGroup: membership.groupName } : {}) });
  }
  if (candidates.length === 0) throw new NothingToDo(nothing(bystanders, request.zones));

  const without = candidates
    .filter(({ facts }) => facts.tags[optIn.key] !== optIn.value)
    .map(({ facts }) => facts.id);
  if (without.length > 0)
    throw new NotOptedIn(
      `Instance ${list(without)} does not carry the tag ${optIn.key}=${optIn.value}. Quiesce acts only on what carries it: add the tag.`,
    );

  const names = [...new Set(candidates.flatMap(candidate => candidate.autoScalingGroup ?? []))];
  const facts = await reads.groups(names);
  return { candidates, bystanders, autoScalingGroups: [...facts.values()], rollback: named.rollback };
}

interface Named {
  readonly instanceIds: readonly string[];
  readonly bystanders: readonly Bystander[];
  readonly rollback: boolean;
}

async function instancesOf(fleet: RunRequest['fleet'], reads: Reads): Promise<Named> {
  if ('instanceIds' in fleet)
    return { instanceIds: [...new Set(fleet.instanceIds)], bystanders: [], rollback: false };
  if ('autoScalingGroupName' in fleet) {
    const group = (await reads.groups([fleet.autoScalingGroupName])).get(fleet.autoScalingGroupName);
    if (!group)
      throw new AutoScalingGroupUnknown(
        `There is no Auto Scaling group ${fleet.autoScalingGroupName} in this account and Region. Correct fleet.autoScalingGroupName.`,
      );
    return someOf(
      group.instances.map(instance => instance.instanceId),
      `Auto Scaling group ${group.name} has no instance.`,
    );
  }
  if ('tag' in fleet) {
    const tagged = await instancesWithTag(fleet.tag.key, fleet.tag.value);
    return someOf(
      tagged.map(facts => facts.id),
      `No instance carries the tag ${fleet.tag.key}=${fleet.tag.value}.`,
    );
  }
  return instancesOfDeployment(fleet.codeDeployDeploymentId);
}

function someOf(instanceIds: readonly string[], otherwise: string): Named {
  if (instanceIds.length === 0) throw new NothingToDo(otherwise);
  return { instanceIds, bystanders: [], rollback: false };
}

/** A deployment that CodeDeploy made for an instance on its way in or out has nothing to bracket, nor has a green one (D1). */
async function instancesOfDeployment(deploymentId: string): Promise<Named> {
  const found = await deployment(deploymentId);
  if (found.creator === 'autoscaling' || found.creator === 'autoscalingTermination')
    throw new NothingToDo(
      `Deployment ${deploymentId} was made by ${found.creator}: its instance is not in service.`,
    );
  const named = someOf(
    found.targets.map(target => target.instanceId),
    `Deployment ${deploymentId} has no EC2 instance.`,
  );
  return {
    ...named,
    rollback: found.rollbackOf !== undefined,
    bystanders: found.targets
      .filter(target => target.label === 'Green')
      .map(({ instanceId }) => ({
        instanceId,
        reason: 'is the green side of the deployment, without traffic yet',
      })),
  };
}

const inZone = (facts: InstanceFacts, zones: RunRequest['zones']): boolean =>
  zones === undefined ||
  zones.includes(facts.zone) ||
  (facts.zoneId !== undefined && zones.includes(facts.zoneId));

function nothing(bystanders: readonly Bystander[], zones: RunRequest['zones']): string {
  if (bystanders.length === 0) return `No instance of the fleet is in ${zones?.join(', ') ?? 'service'}.`;
  return `Nothing to do: ${bystanders.map(({ instanceId, reason }) => `${instanceId} ${reason}`).join('; ')}.`;
}

/** The first few of a list, and how many more there are: for sentences. */
export function list(items: readonly string[], shown = 5): string {
  const more = items.length - shown;
  return more > 0 ? `${items.slice(0, shown).join(', ')} and ${more} more` : items.join(', ');
}
