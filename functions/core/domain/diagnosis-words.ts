import type { Diagnosis } from './diagnosis.ts';
import type { ObservedCheck, ObservedGroup, ObservedInstance, ObservedTarget } from './observed-fleet.ts';
import type { Affected, Reach } from './reach.ts';
import {
  type Complaint,
  excuseOf,
  failingAt,
  type InstanceSymptom,
  isDraining,
  isJudged,
  NEAR_TIMEOUT,
} from './symptoms.ts';
import { healthyWithout } from './zone-view.ts';

/** What each symptom means and where to look, as one sentence each. */
const MEANINGS: Readonly<Record<InstanceSymptom, readonly [meaning: string, advice: string]>> = {
  'draining-with-errors': [
    'The instance drains while its application fails, so requests that are still in flight end in errors',
    'Stop the application only when its targets are drained',
  ],
  blocked: [
    'Connections time out and have never succeeded since the launch or the last change of the check',
    "Let the check's source into the instance's security group on the check's port, and look at network ACLs and the port itself",
  ],
  unreachable: [
    'Connections time out that may have succeeded before',
    'Look at the network, at recent changes of security groups, routes and network ACLs, and whether the instance hangs',
  ],
  'not-listening': [
    'The connection is refused: nothing listens on the port',
    'Look whether the application runs, and on which port and address',
  ],
  resets: [
    'The application closes the connection without an answer',
    'Look for a crash while it answers, and whether the check speaks its protocol (http or https)',
  ],
  slow: [
    'The application accepts the connection and does not answer in time',
    'Look at its load and at what it waits for, or raise the time-out of the check',
  ],
  hangs: [
    'It answered its health checks and then stopped answering at all: something keeps the whole application busy, as one slow request does where it serves one at a time',
    'Look at what it was asked just before, at its workers and at what they wait for',
  ],
  'times-out': [
    'The health checks of the load balancer time out, and none is known to have passed',
    "Look how long the health path takes, against the time-out of the target group, and whether the load balancer's security group is let in",
  ],
  'wrong-answer': [
    'The application answers with a status code that the check does not accept',
    "Look at what its health path checks, and at the check's status code matcher",
  ],
  unexplained: [
    'A check has failed for a reason that is not known here',
    'Look at the reason that EC2 gives',
  ],
  'load-balancer-only': [
    'The application passes its checks and fails behind the load balancer',
    "Look at the target group's health check (path, port, matcher) and whether the load balancer's security group is let in",
  ],
  'unhealthy-target': [
    'The load balancer finds it unhealthy, and no check has an opinion',
    "Look at the application, and at the target group's health check",
  ],
};

/** What a symptom means, how far it reaches, and where to look. */
export function closely(symptom: InstanceSymptom, reach: Reach, affected: number, judged: number): string {
  const [meaning, advice] = MEANINGS[symptom];
  return `${meaning}. ${whoIs(reach, affected, judged)} ${advice}.`;
}

function whoIs(reach: Reach, affected: number, judged: number): string {
  switch (reach.kind) {
    case 'instance':
      return reach.alone
        ? 'There is no other instance to compare with, so it may be the instance or something shared.'
        : `It is one instance of ${judged}: the others are well, so it is the instance.`;
    case 'instances':
      return `It is ${affected} of ${judged} instances, and neither one zone nor all.`;
    case 'zone':
      return `It is every instance of ${reach.zone} (${affected} of ${judged}), since about the same time, and none elsewhere: it is the zone or its network.`;
    case 'fleet':
      return `It is all ${affected} instances: it is something that they share, a dependency or a configuration.`;
  }
}

/** What was seen, in sentences: alike observations together. */
export function evidenceOf(
  complaints: readonly Complaint[],
  affected: readonly Affected[],
  judged: readonly ObservedInstance[],
): readonly string[] {
  const alike = Map.groupBy(complaints, ({ check, target }) => (check ? seenOf(check) : stateOf(target)));
  const seen = Array.from(alike, ([what, about]) => {
    const times = about.flatMap(sinceOf);
    const since = times.length > 0 ? `, since ${instant(Math.min(...times))}` : '';
    return `${what} on ${listed(about.map(({ instance }) => instance.instanceId))}${since}.`;
  });
  const well = judged.filter(instance => !affected.some(one => one.instance === instance));
  const byGroup = Map.groupBy(
    affected.flatMap(({ instance }) =>
      complaints.some(({ target }) => target) ? [] : instance.targets.map(target => ({ instance, target })),
    ),
    ({ target }) => `${target.group} has them as ${target.state}`,
  );
  return [
    ...seen.toSorted(),
    ...complaints.flatMap(({ target, instance }) => (target ? loggedOf(target, instance) : [])).toSorted(),
    ...Array.from(byGroup, ([what, of]) => `Target group ${what}: ${listed(idsOf(of))}.`).toSorted(),
    ...(well.length > 0 ? [`Not so on ${listed(well.map(({ instanceId }) => instanceId))}.`] : []),
  ];
}

/** Whether what is left in the other zones is enough, as far as somebody has stated what is. */
export const leftOf = (reach: Reach, groups: readonly ObservedGroup[]): readonly string[] =>
  reach.kind !== 'zone'
    ? []
    : groups
        .filter(({ serves }) => serves)
        .map(({ name, zones, needed }) => {
          const left = healthyWithout(zones, reach.zone);
          const told = `The other zones have ${left} healthy targets of ${name}`;
          if (needed === undefined) return `${told}; nobody has stated how many carry the load.`;
          return `${told}, and ${needed} carry the load: that is ${left >= needed ? 'enough' : 'not enough'}.`;
        });

/** What is a whole zone only when everything that is wrong is taken together, and is not said by one finding. */
export const togetherOf = (
  { reach, findings }: Diagnosis,
  groups: readonly ObservedGroup[],
): readonly string[] =>
  reach?.kind !== 'zone' || findings.some(finding => finding.reach?.kind === 'zone')
    ? []
    : [
        `Together it is every instance of ${reach.zone}, since about the same time, and none elsewhere: it is the zone or its network.`,
        ...leftOf(reach, groups),
      ];

/** Since when, as far as its check or the load balancer's nodes say. */
export const sinceOf = ({ check, target }: Complaint): readonly number[] =>
  [
    check?.since,
    target?.unhealthySince,
    ...(target ? failingAt(target) : []).map(({ since }) => since),
  ].filter(since => since !== undefined);

/** What the nodes of the load balancer saw of an unhealthy target. */
function loggedOf(target: ObservedTarget, { instanceId }: ObservedInstance): readonly string[] {
  const failing = failingAt(target);
  if (failing.length === 0) return [];
  const of = `${failing.length} of ${target.logged?.nodes.length} nodes`;
  const reasons = new Set(
    failing.map(({ reason, statusCode }) => `${reason}${statusCode ? ` ${statusCode}` : ''}`),
  );
  const passes = failing.flatMap(({ passSeconds }) => passSeconds ?? []);
  const before =
    passes.length > 0 ? `; before, its checks had taken at most ${shortly(Math.max(...passes))}` : '';
  return [
    `Health check logs: ${of} say ${[...reasons].join(', ')} of ${instanceId} in ${target.group}${before}.`,
  ];
}

const shortly = (seconds: number): string => `${Number(seconds.toFixed(3))} s`;

/** What the nodes of load balancers saw, and what has not made a target unhealthy yet. */
export function remarksOfNodes(
  instances: readonly ObservedInstance[],
  groups: readonly ObservedGroup[],
): readonly string[] {
  const disagree = instances.flatMap(({ instanceId, targets }) =>
    targets.flatMap(target => {
      const failing = failingAt(target);
      const all = target.logged?.nodes.length;
      if (failing.length === 0 || failing.length === all) return [];
      const nodes = listed(failing.map(({ node, reason }) => `${node} (${reason})`));
      return `${instanceId}: ${failing.length} of ${all} nodes of the load balancer see it fail in ${target.group}: ${nodes}. While one sees it pass it is healthy: look at the way from those nodes to it.`;
    }),
  );
  const creeping = groups.flatMap(({ name, timeoutSeconds, slowestPass }) =>
    slowestPass && slowestPass.seconds >= NEAR_TIMEOUT * timeoutSeconds
      ? `${name}: a health check of ${slowestPass.target} took ${shortly(slowestPass.seconds)} of the ${timeoutSeconds} s that it may take.`
      : [],
  );
  return [...disagree, ...creeping];
}

const idsOf = (of: readonly { readonly instance: ObservedInstance }[]): readonly string[] => [
  ...new Set(of.map(({ instance }) => instance.instanceId)),
];

function seenOf({ checkId, code, statusCode, aggregation }: ObservedCheck): string {
  const answered = statusCode !== undefined && statusCode !== 0 ? ` ${statusCode}` : '';
  const silent = aggregation === 'excluded' ? ' (excluded, so nobody acts on it)' : '';
  return `Check ${checkId}${silent} says ${code ?? 'nothing of the reason'}${answered}`;
}

const stateOf = (target: ObservedTarget | undefined): string =>
  `Target group ${target?.group ?? ''} says ${target?.state ?? ''}${target?.reason === undefined ? '' : ` (${target.reason})`}`;

/** What is not held against the fleet, and what nothing has an opinion on. */
export function remarksOn(instances: readonly ObservedInstance[]): readonly string[] {
  const said = new Map<string, string[]>();
  const say = (what: string, { instanceId }: ObservedInstance) =>
    said.set(what, [...(said.get(what) ?? []), instanceId]);
  for (const instance of instances) {
    const excuse = excuseOf(instance);
    const fails = instance.checks.some(({ status }) => status === 'failed');
    if (excuse !== undefined)
      say(`${excuse}${fails ? '; that it fails its checks is expected' : ''}`, instance);
    else if (!isJudged(instance)) say(silenceOf(instance), instance);
    else {
      if (instance.suppressed) say('is suppressed: Auto Scaling does not act on its checks', instance);
      if (instance.checks.some(failedOnce))
        say('has just failed a check once; the next evaluation decides', instance);
      if (instance.checks.some(({ status }) => status === 'initializing'))
        say('has a check that has not decided yet', instance);
    }
  }
  return Array.from(said, ([what, ids]) => `${listed(ids)}: ${what}.`);
}

/** A status changes at the threshold, its reason at once: a passed check with another reason has failed once. */
const failedOnce = ({ status, code }: ObservedCheck): boolean =>
  status === 'passed' && code !== undefined && code !== 'ResponseCodeMatched';

function silenceOf({ checks, targets }: ObservedInstance): string {
  if (checks.length === 0 && targets.length === 0)
    return 'has no check and no target, so nothing says how it is';
  if (targets.some(isDraining)) return 'is draining';
  if (checks.some(({ status }) => status === 'insufficient-data'))
    return 'has a check without enough data: it has no path to the instance, or is over its quota';
  return 'is starting, or nothing has an opinion on it yet';
}

const SHOWN = 5;

/** `a, b and 3 more`. */
const listed = (ids: readonly string[]): string =>
  ids.slice(0, SHOWN).join(', ') + (ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '');

const instant = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
