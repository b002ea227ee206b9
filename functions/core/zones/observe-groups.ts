import { concurrently } from '../aws/batch.ts';
import { isNotFound } from '../aws/call.ts';
import { type CountedGroup, requestCounts } from '../aws/cloud-watch.ts';
import {
  type ListedTarget,
  loadBalancerAttributes,
  type TargetGroupFacts,
  type TargetHealthFacts,
  tagsOf,
  targetGroupAttributes,
} from '../aws/elastic-load-balancing.ts';
import { targetKey } from '../domain/fleet.ts';
import { effectiveCrossZone, isRegistered, isUnhealthy } from '../domain/floors.ts';
import { loadBalancerInLogs } from '../domain/load-balancer-log.ts';
import type { NodeOpinion, ObservedGroup, ObservedTarget } from '../domain/observed-fleet.ts';
import { type RequestMinute, requestsAround } from '../domain/requests.ts';
import { countZones } from '../domain/zone-view.ts';
import { QuiesceError, TargetGroupUnknown } from '../errors.ts';
import { type NodeLog, nodeLogs } from '../ledger/node-logs.ts';
import { DESCRIBES_AT_ONCE } from '../limits.ts';
import { nowSeconds } from '../time.ts';

/** One target group as it is listed. */
export interface ListedGroup {
  readonly facts: TargetGroupFacts;
  readonly health: readonly TargetHealthFacts[];
}

/** The same with all that is known of it. */
export interface ReadGroup extends ListedGroup {
  readonly crossZone: boolean;
  /** By the node's address; none where no health check logs are read. */
  readonly logs: ReadonlyMap<string, NodeLog>;
  readonly requests?: readonly RequestMinute[];
  readonly needed?: number;
}

/** How many healthy targets of a group carry its whole load, as its owner states it: a tag of the target group. */
export const NEEDED_TAG = 'quiesce-needed-targets';

/** What is read besides the targets' health. A view does without each. */
export interface Sources {
  /** What the ledger has of health check logs. */
  readonly logs: boolean;
  /** What CloudWatch has of requests, where these are all target groups that there are: a load balancer may have others too. */
  readonly metrics: readonly TargetGroupFacts[] | undefined;
}

export interface ReadGroups {
  /** Without those that are gone meanwhile (R-GONE). */
  readonly groups: readonly ReadGroup[];
  /** Sources that could not be read. */
  readonly remarks: readonly string[];
}

/** Reads what there is of target groups besides their targets' health. */
export async function readGroups(
  listed: readonly ListedGroup[],
  { logs, metrics }: Sources,
): Promise<ReadGroups> {
  const facts = listed.map(group => group.facts);
  const tags = await tagsOf(facts.map(({ arn }) => arn));
  const counts = metrics
    ? await orRemark('Counts of requests', () => requestCounts(countable(facts, metrics), nowSeconds()))
    : NOTHING;
  const byLoadBalancer = logs ? await orRemark('Health check logs', () => freshLogs(facts)) : NOTHING;
  const groups = await concurrently(listed, DESCRIBES_AT_ONCE, async ({ facts, health }) => {
    const crossZone = await crossZoneUnlessGone(facts);
    if (crossZone === undefined) return [];
    const requests = counts.read.get(facts.arn);
    const needed = Number(tags.get(facts.arn)?.[NEEDED_TAG]);
    return {
      facts,
      health,
      crossZone,
      logs: new Map(facts.loadBalancerArns.flatMap(arn => [...(byLoadBalancer.read.get(arn) ?? [])])),
      ...(requests && { requests }),
      ...(needed > 0 && { needed }),
    };
  });
  return { groups: groups.flat(), remarks: [...counts.remarks, ...byLoadBalancer.remarks] };
}

interface OrRemark<T> {
  readonly read: ReadonlyMap<string, T>;
  readonly remarks: readonly string[];
}

const NOTHING = { read: new Map<string, never>(), remarks: [] };

/** What cannot be read is said, and the rest is looked at without it. */
async function orRemark<T>(what: string, read: () => Promise<ReadonlyMap<string, T>>): Promise<OrRemark<T>> {
  try {
    return { read: await read(), remarks: [] };
  } catch (error) {
    if (!(error instanceof QuiesceError)) throw error;
    return { ...NOTHING, remarks: [`${what} cannot be read, and are left out: ${error.message}`] };
  }
}

function countable(
  groups: readonly TargetGroupFacts[],
  all: readonly TargetGroupFacts[],
): readonly CountedGroup[] {
  return groups.flatMap(({ arn, loadBalancerArns: [loadBalancerArn] }) => {
    if (!loadBalancerArn?.includes(APPLICATION)) return [];
    const beside = all.filter(({ loadBalancerArns }) => loadBalancerArns.includes(loadBalancerArn));
    return [{ arn, loadBalancerArn, alone: beside.length === 1 }];
  });
}

const APPLICATION = ':loadbalancer/app/';

async function crossZoneUnlessGone(facts: TargetGroupFacts): Promise<boolean | undefined> {
  try {
    return await crossZoneOf(facts);
  } catch (error) {
    if (error instanceof TargetGroupUnknown || isNotFound(error)) return undefined;
    throw error;
  }
}

async function crossZoneOf({ arn, loadBalancerArns: [loadBalancer] }: TargetGroupFacts): Promise<boolean> {
  const attributes = await targetGroupAttributes(arn);
  if (loadBalancer === undefined || loadBalancer.includes(APPLICATION))
    return effectiveCrossZone(attributes, undefined);
  const ofLoadBalancer = await loadBalancerAttributes(loadBalancer);
  return effectiveCrossZone(attributes, { type: 'network', attributes: ofLoadBalancer });
}

/** Two files of a node, and the time until the second is read. */
const FRESH_MS = 660_000;

/** What the nodes of the groups' load balancers have said lately, by load balancer and node. */
async function freshLogs(
  groups: readonly TargetGroupFacts[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, NodeLog>>> {
  const arns = new Set(groups.flatMap(({ loadBalancerArns }) => loadBalancerArns));
  const read = await concurrently([...arns], DESCRIBES_AT_ONCE, async arn => {
    const fresh = [...(await nodeLogs(loadBalancerInLogs(arn)))].filter(
      ([, { endsAt }]) => endsAt >= Date.now() - FRESH_MS,
    );
    return [arn, new Map(fresh)] as const;
  });
  return new Map(read);
}

/** The zone of a target: its instance's, else its own, which only a target by address may have (D27). */
export const zoneOf = (
  { id, availabilityZone = 'unknown' }: ListedTarget,
  zones: ReadonlyMap<string, string>,
): string => zones.get(id) ?? availabilityZone;

/** @param addresses - of the instance that is the target */
export function observedTarget(
  { facts, logs }: ReadGroup,
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

/**
 * Draining targets are no longer registered, and unused ones never get a request.
 *
 * @param zones - of instances, by their ids and addresses
 * @param drainingSince - when a view first saw that targets of it drain, in milliseconds since the epoch
 */
export function observedGroup(
  { facts, health, crossZone, logs, requests, needed }: ReadGroup,
  zones: ReadonlyMap<string, string>,
  drainingSince?: number,
): ObservedGroup {
  const { name, loadBalancerArns, healthCheck } = facts;
  const [slowestPass] = [...logs.values()]
    .flatMap(({ slowest }) => slowest.filter(({ group }) => group === name))
    .toSorted((a, b) => b.seconds - a.seconds);
  const registered = health.filter(isRegistered);
  const seen = health.map(({ target, state, reason, zonalShift }) => ({
    key: targetKey(target),
    zone: zoneOf(target, zones),
    state,
    reason,
    shifted: zonalShift,
  }));
  return {
    name,
    serves: loadBalancerArns.length > 0,
    registered: registered.length,
    unhealthy: registered.filter(isUnhealthy).length,
    draining: health.filter(({ state }) => state === 'draining').length,
    zones: countZones(seen, crossZone),
    timeoutSeconds: healthCheck.timeoutSeconds,
    ...(slowestPass && { slowestPass }),
    ...(requests && { requests: requestsAround(requests, Date.now(), drainingSince) }),
    ...(needed !== undefined && { needed }),
  };
}
