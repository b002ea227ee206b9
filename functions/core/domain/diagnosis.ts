import { closely, evidenceOf, leftOf, remarksOfNodes, remarksOn, sinceOf } from './diagnosis-words.ts';
import { isUnhealthy } from './floors.ts';
import type { ObservedFleet, ObservedGroup, ObservedInstance } from './observed-fleet.ts';
import { type Affected, type Reach, reachOf } from './reach.ts';
import {
  type Complaint,
  complaintsOf,
  excuseOf,
  GROUP_SYMPTOMS,
  INSTANCE_SYMPTOMS,
  type InstanceSymptom,
  isJudged,
  type Symptom,
} from './symptoms.ts';

/** One thing that is wrong, how far it reaches, and what says so. */
export interface Finding {
  readonly symptom: Symptom;
  /** Absent for what a target group suffers rather than instances. */
  readonly reach?: Reach;
  /** Sorted. */
  readonly instanceIds: readonly string[];
  /** What it is, and where to look. */
  readonly summary: string;
  /** Sentences, each with what was seen. */
  readonly evidence: readonly string[];
}

export interface Diagnosis {
  /** Is nothing wrong? So when there is no finding. */
  readonly well: boolean;
  /** How far everything that is wrong on instances reaches together; absent when nothing is. */
  readonly reach?: Reach;
  /** The gravest first. */
  readonly findings: readonly Finding[];
  /** What was seen and is not held against the fleet. */
  readonly remarks: readonly string[];
}

/** A group's symptoms first: every request meets them. */
const ORDER: readonly Symptom[] = [...GROUP_SYMPTOMS, ...INSTANCE_SYMPTOMS];

/** Says what is wrong with a fleet, from what its checks and its load balancers say of it. The order of instances is irrelevant. */
export function diagnose(fleet: ObservedFleet): Diagnosis {
  const instances = fleet.instances.toSorted((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
  const serving = instances.filter(instance => excuseOf(instance) === undefined);
  const judged = serving.filter(isJudged);
  const complaints = serving.flatMap(complaintsOf);
  const findings = [
    ...fleet.groups.toSorted((a, b) => (a.name < b.name ? -1 : 1)).flatMap(group => ofGroup(group, serving)),
    ...Array.from(
      Map.groupBy(complaints, ({ symptom }) => symptom),
      ([symptom, about]) => ofInstances(symptom, about, judged, fleet.groups),
    ),
  ].sort((a, b) => ORDER.indexOf(a.symptom) - ORDER.indexOf(b.symptom));
  return {
    well: findings.length === 0,
    ...(complaints.length > 0 && { reach: reachOf(affectedBy(complaints), judged) }),
    findings,
    remarks: [...(fleet.remarks ?? []), ...remarksOn(instances), ...remarksOfNodes(instances, fleet.groups)],
  };
}

function ofInstances(
  symptom: InstanceSymptom,
  complaints: readonly Complaint[],
  judged: readonly ObservedInstance[],
  groups: readonly ObservedGroup[],
): Finding {
  const affected = affectedBy(complaints);
  const reach = reachOf(affected, judged);
  return {
    symptom,
    reach,
    instanceIds: affected.map(({ instance }) => instance.instanceId),
    summary: closely(symptom, reach, affected.length, judged.length),
    evidence: [...evidenceOf(complaints, affected, judged), ...leftOf(reach, groups)],
  };
}

/** Each instance once, with the earliest of what began on it. */
function affectedBy(complaints: readonly Complaint[]): readonly Affected[] {
  return Array.from(
    Map.groupBy(complaints, ({ instance }) => instance),
    ([instance, about]) => {
      const times = about.flatMap(sinceOf);
      return { instance, since: times.length > 0 ? Math.min(...times) : undefined };
    },
  );
}

/** What the load balancer does with a group as a whole: it answers 503 without a target, and fails open when none is healthy. */
function ofGroup(group: ObservedGroup, serving: readonly ObservedInstance[]): readonly Finding[] {
  const { name, serves, registered, unhealthy } = group;
  if (!serves) return [];
  if (registered === 0)
    return [
      {
        symptom: 'no-target',
        instanceIds: [],
        summary: `Target group ${name} has no registered target, so the load balancer answers 503 to every request. Register targets.`,
        evidence: [`DescribeTargetHealth lists no target of ${name} that is registered.`],
      },
    ];
  if (unhealthy === 0) return ofRequests(group);
  if (unhealthy < registered) return [];
  const instanceIds = serving
    .filter(({ targets }) => targets.some(target => target.group === name && isUnhealthy(target)))
    .map(({ instanceId }) => instanceId);
  return [
    {
      symptom: 'failing-open',
      instanceIds,
      summary: `The load balancer is failing open for target group ${name}: no target is healthy, so it sends requests to all of them. Look for a dependency or a configuration that they share, or at the health check itself.`,
      evidence: [`All ${registered} registered targets of ${name} are unhealthy.`],
    },
  ];
}

/**
 * Which share of the requests may fail before it is told: a few always do. A drain should add none: it is told
 * where more than twice as many fail as did before it, which chance does not do. Ours.
 */
const FAILED_SHARE = { drained: 0.001, ordinary: 0.01 };

/** Fewer are chance, whatever their share. Ours. */
const FAILED_LEAST = 10;

/** Requests that fail although every target is healthy: what the health check does not see. */
function ofRequests({ name, requests, draining }: ObservedGroup): readonly Finding[] {
  if (!requests || requests.failed < FAILED_LEAST) return [];
  const { sent, failed, minutes, before } = requests;
  const usual = before.sent > 0 ? before.failed / before.sent : 0;
  const drains = draining > 0 && failed > Math.max(FAILED_SHARE.drained, 2 * usual) * sent;
  if (!drains && failed <= FAILED_SHARE.ordinary * sent) return [];
  const evidence = [
    `The load balancer counted ${failed} 5xx answers to ${sent} requests of ${name} in the last ${minutes} minutes, and ${before.failed} to ${before.sent} in the ${before.minutes} before.`,
    ...(draining > 0 ? [`${draining} of its targets are draining.`] : []),
  ];
  const [symptom, summary] = drains
    ? ([
        'errors-while-draining',
        `Requests to target group ${name} fail while targets of it drain, and all others are healthy. Stop an application only when its targets are drained, and give them a deregistration delay that is longer than the longest request.`,
      ] as const)
    : ([
        'shallow-check',
        `Requests to target group ${name} fail although every target is healthy: its health check does not see what they need. Look at what the health path checks.`,
      ] as const);
  return [{ symptom, instanceIds: [], summary, evidence }];
}
