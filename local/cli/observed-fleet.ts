import { groupMemberships, groups } from '../../functions/core/aws/auto-scaling.ts';
import {
  type ApplicationStatusFacts,
  applicationStatusChecks,
  applicationStatuses,
  type CheckFacts,
  describeInstances,
  type InstanceFacts,
  instancesWithAddresses,
} from '../../functions/core/aws/ec2.ts';
import {
  type TargetGroupFacts,
  type TargetHealthFacts,
  targetGroups,
  targetGroupsOfVpc,
  targetHealth,
} from '../../functions/core/aws/elastic-load-balancing.ts';
import { whyNotInService } from '../../functions/core/domain/lifecycle.ts';
import { loadBalancerInLogs } from '../../functions/core/domain/load-balancer-log.ts';
import {
  type NodeOpinion,
  type ObservedCheck,
  type ObservedFleet,
  type ObservedGroup,
  type ObservedInstance,
  type ObservedTarget,
  passedSince,
} from '../../functions/core/domain/observed-fleet.ts';
import { AutoScalingGroupUnknown, InstanceUnknown, TargetGroupUnknown } from '../../functions/core/errors.ts';
import { type NodeLog, nodeLogs } from '../../functions/core/ledger/node-logs.ts';
import { list } from './format.ts';

/** How the fleet of a diagnosis is named. */
export type FleetName =
  | { readonly kind: 'instances'; readonly instanceIds: readonly string[] }
  | { readonly kind: 'auto-scaling-group'; readonly name: string }
  | { readonly kind: 'target-group'; readonly arn: string };

interface Group {
  readonly facts: TargetGroupFacts;
  readonly health: readonly TargetHealthFacts[];
  /** By the node's address; none where no health check logs are read. */
  readonly logs: ReadonlyMap<string, NodeLog>;
}

/**
 * Reads all that a diagnosis looks at.
 *
 * @param withLogs - also what the ledger has of the load balancers' health check logs
 * @throws InstanceUnknown, AutoScalingGroupUnknown, TargetGroupUnknown; QuiesceError when AWS cannot be read
 */
export async function observeFleet(name: FleetName, withLogs: boolean): Promise<ObservedFleet> {
  const { instances, groupFacts } = await find(name);
  const ids = instances.map(({ id }) => id);
  const [memberships, statuses, listed] = await Promise.all([
    groupMemberships(ids),
    applicationStatuses(ids),
    Promise.all(
      groupFacts
        .filter(({ targetType }) => targetType === 'instance' || targetType === 'ip')
        .map(
          async (facts): Promise<Group> => ({
            facts,
            health: await targetHealth(facts.arn),
            logs: withLogs ? await freshLogs(facts.loadBalancerArns) : new Map(),
          }),
        ),
    ),
  ]);
  const checkIds = [...statuses.values()].flatMap(({ checks }) => checks.map(({ checkId }) => checkId));
  const checks = await applicationStatusChecks([...new Set(checkIds)]);
  const owned = new Set(instances.flatMap(instance => [instance.id, ...instance.privateAddresses]));
  const concerned = listed.filter(
    ({ facts, health }) =>
      (name.kind === 'target-group' && facts.arn === name.arn) ||
      health.some(({ target }) => owned.has(target.id)),
  );
  return {
    instances: instances.map(facts => {
      const lifecycle = memberships.get(facts.id)?.lifecycleState;
      const standing = facts.state === 'running' ? undefined : `is ${facts.state}`;
      const notInService = standing ?? (lifecycle === undefined ? undefined : whyNotInService(lifecycle));
      return observedInstance(facts, notInService, statuses.get(facts.id), checks, concerned);
    }),
    groups: concerned.map(observedGroup),
  };
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
  groupsWithHealth: readonly Group[],
): ObservedInstance {
  const owned = new Set([id, ...privateAddresses]);
  return {
    instanceId: id,
    zone,
    ...(notInService !== undefined && { notInService }),
    suppressed: status?.status === 'suppressed',
    checks: (status?.checks ?? []).map(result => observedCheck(result, launchedAt, checks)),
    targets: groupsWithHealth.flatMap(group =>
      group.health
        .filter(({ target }) => owned.has(target.id))
        .map(one => observedTarget(group, one, privateAddresses)),
    ),
  };
}

function observedCheck(
  result: ApplicationStatusFacts['checks'][number],
  launchedAt: Date | undefined,
  checks: ReadonlyMap<string, CheckFacts>,
): ObservedCheck {
  const { checkId, aggregation, status, code, statusCode } = result;
  const settings = checks.get(checkId);
  const since = result.since?.getTime();
  const passedSinceChange = settings
    ? passedSince(
        { status, ...(since !== undefined && { since }) },
        { launchedAt: launchedAt?.getTime(), checkChangedAt: settings.changedAt?.getTime() },
        settings,
      )
    : 'unknown';
  return {
    checkId,
    aggregation,
    status,
    ...(code !== undefined && { code }),
    ...(statusCode !== undefined && { statusCode }),
    ...(since !== undefined && { since }),
    passedSinceChange,
  };
}

function observedTarget(
  { facts, logs }: Group,
  { target, state, reason }: TargetHealthFacts,
  addresses: readonly string[],
): ObservedTarget {
  const { port = 'traffic-port' } = facts.healthCheck;
  const checked = port === 'traffic-port' ? target.port : port;
  const logged = new Set(addresses.map(address => `${address}:${checked}`));
  const nodes = Array.from(logs, ([node, { failing }]): NodeOpinion => {
    const found = failing.find(one => one.group === facts.name && logged.has(one.target));
    return { node, ...(found && { failing: found }) };
  });
  return {
    group: facts.name,
    ...(target.port !== undefined && { port: target.port }),
    state,
    ...(reason !== undefined && { reason }),
    ...(nodes.length > 0 && { logged: { nodes, timeoutSeconds: facts.healthCheck.timeoutSeconds } }),
  };
}

/** Two files of a node, and the time until the second is read. */
const FRESH_MS = 660_000;

/** What the nodes of load balancers have said lately. */
async function freshLogs(loadBalancerArns: readonly string[]): Promise<ReadonlyMap<string, NodeLog>> {
  const logs = await Promise.all(loadBalancerArns.map(arn => nodeLogs(loadBalancerInLogs(arn))));
  return new Map(logs.flatMap(some => [...some]).filter(([, { endsAt }]) => endsAt >= Date.now() - FRESH_MS));
}

/** Draining targets are no longer registered, and unused ones never get a request. */
function observedGroup({
  facts: { name, loadBalancerArns, healthCheck },
  health,
  logs,
}: Group): ObservedGroup {
  const [slowestPass] = [...logs.values()]
    .flatMap(({ slowest }) => slowest.filter(({ group }) => group === name))
    .toSorted((a, b) => b.seconds - a.seconds);
  const registered = health.filter(({ state }) => !/^(unused|draining|unhealthy\.draining)$/.test(state));
  return {
    name,
    serves: loadBalancerArns.length > 0,
    registered: registered.length,
    unhealthy: registered.filter(({ state }) => state === 'unhealthy').length,
    timeoutSeconds: healthCheck.timeoutSeconds,
    ...(slowestPass && { slowestPass }),
  };
}
