import type { z } from 'zod';
import { Random } from '../../clock/random.ts';
import { FAULT_PROFILES, type FaultProfile } from '../fault-spec.ts';
import type { scenario } from '../scenario.ts';
import { drawAdoption } from './generate-adoption.ts';
import { drawDeployment, drawRival } from './generate-deployment.ts';
import { drawFleet, type FleetInput } from './generate-fleet.ts';
import { drawRetirement } from './generate-retirement.ts';

/** A scenario as it is written: it holds what was drawn, and nothing of what is the default. */
export type ScenarioInput = z.input<typeof scenario>;
type EventInput = NonNullable<ScenarioInput['events']>[number];

/** Deployments through CodeDeploy run a machine for each instance: more of them only take longer. */
const MOST_INSTANCES_THROUGH_HOOKS = 3;

/** Of the seeds: the alarms on its checks are made and kept, which takes many calls. */
const ALARMED_SHARE = 0.04;

/** What a seed stands for: a fleet, a deployment to it, what gets in its way, and how AWS behaves. */
export function generate(seed: number, profile: FaultProfile): ScenarioInput {
  const random = new Random(seed).fork('scenario');
  const shape = random.fork('fleet');
  const drawnFleet = drawFleet(shape, 12);
  const adoption = drawAdoption(random.fork('adoption'), drawnFleet);
  const retirement = adoption ? undefined : drawRetirement(random.fork('retirement'), drawnFleet);
  const fleet = retirement?.fleet ?? drawnFleet;
  const instead = adoption ?? retirement;
  const drawn = instead?.deployment ?? drawDeployment(random.fork('deployment'), fleet);
  const hooked = drawn.through === 'codedeploy' && !drawn.fleetWide;
  const limited = hooked ? smaller(fleet, MOST_INSTANCES_THROUGH_HOOKS) : fleet;
  const overlaps = random.fork('rivals');
  const acts = random.fork('events');
  const physics = drawPhysics(random.fork('physics'), profile);
  // Nobody could have suppressed for longer than that.
  const isLimited = physics.longestSuppressionSeconds !== undefined;
  if (isLimited) delete limited.suppressedByOthers;
  return {
    name: `seed-${seed}`,
    description: `Drawn from seed ${seed} with the faults ${profile}.`,
    seed,
    fleet: limited,
    deployment: drawn,
    // CodeDeploy's own step puts an instance into traffic, whoever else is deploying to it.
    rivals:
      overlaps.chance(0.25) && !drawn.loadBalancerStep && !instead
        ? Array.from({ length: overlaps.whole(1, 2) }, () => drawRival(overlaps, limited))
        : [],
    events: [
      ...Array.from({ length: acts.pick([0, 0, 1, 1, 2, 3]) }, () =>
        drawEvent(acts, limited.instances),
      ).filter(event => !isLimited || event.do !== 'suppress-instance'),
      ...drawStandby(random.fork('standby'), limited),
      ...(instead?.events ?? []),
    ],
    parameters: {
      ...instead?.parameters,
      ...(random.fork('alarms').chance(ALARMED_SHARE) && { Alarms: 'Enabled' }),
    },
    ...(profile !== 'none' && { faults: drawFaults(random.fork('faults'), profile) }),
    physics: { ...physics, ...retirement?.physics },
    expect: { outcome: 'any' },
  };
}

function smaller(fleet: FleetInput, most: number): FleetInput {
  const instances = Math.min(fleet.instances, most);
  const { suppressedByOthers, broken, autoScaling, ...rest } = fleet;
  return {
    ...rest,
    instances,
    autoScaling: autoScaling && {
      ...autoScaling,
      ...(autoScaling.minSize !== undefined && { minSize: Math.min(autoScaling.minSize, instances) }),
    },
    ...(suppressedByOthers && {
      suppressedByOthers: {
        ...suppressedByOthers,
        instances: Math.min(suppressedByOthers.instances, instances),
      },
    }),
    ...(Array.isArray(broken) && { broken: broken.map(number => number % instances) }),
  };
}

const ACTS = [
  'terminate-instance',
  'release-suppression',
  'suppress-instance',
  'register-targets',
  'stop-execution',
  'stop-execution',
  'stop-deployment',
  'scale-out',
  'mark-unhealthy',
  'break-application',
  'delete-check',
] as const satisfies readonly EventInput['do'][];

function drawEvent(random: Random, instances: number): EventInput {
  const act = random.pick(ACTS);
  return {
    atSeconds: random.whole(0, 2400),
    do: act,
    instance: random.whole(0, instances - 1),
    mayMiss: true,
    ...(act === 'suppress-instance' && random.chance(0.7) && { seconds: random.whole(60, 7200) }),
    ...(act === 'stop-execution' &&
      random.chance(0.6) && { machine: random.pick(['BeforeDeploy', 'AfterDeploy']) }),
  };
}

/** Of the seeds: a person puts an instance in Standby, and brings it back or not. */
const STANDBY_SHARE = 0.06;

function drawStandby(random: Random, { instances, autoScaling }: FleetInput): EventInput[] {
  if (!autoScaling || !random.chance(STANDBY_SHARE)) return [];
  const act = { instance: random.whole(0, instances - 1), mayMiss: true };
  const atSeconds = random.whole(0, 1800);
  const back = atSeconds + random.whole(60, 1800);
  return [
    { ...act, atSeconds, do: 'enter-standby' },
    ...(random.chance(0.6) ? [{ ...act, atSeconds: back, do: 'exit-standby' } as const] : []),
  ];
}

/** From some moment of the deployment to another, so that what comes afterwards can be asked to end well. */
function drawFaults(random: Random, profile: FaultProfile): NonNullable<ScenarioInput['faults']> {
  const fromSeconds = random.chance(0.6) ? 0 : random.whole(0, 1200);
  return { fromSeconds, untilSeconds: fromSeconds + random.whole(300, 2400), rates: FAULT_PROFILES[profile] };
}

/** Every switch of what AWS leaves open; a slow control plane besides. */
function drawPhysics(random: Random, profile: FaultProfile): Record<string, unknown> {
  const slow = profile === 'slow' || (profile === 'hostile' && random.chance(0.3));
  return {
    ...(random.chance(0.5) && { secondEnable: random.pick(['extends', 'replaces', 'fails']) }),
    ...(random.chance(0.2) && { connectionErrorStatusCode: 'absent' }),
    ...(random.chance(0.3) && { reasonCodes: random.pick(['unknown', 'legacy']) }),
    ...(random.chance(0.5) && {
      suppressedWithoutIncludedCheck: random.pick(['suppressed', 'not-applicable', 'absent']),
    }),
    ...(random.chance(0.3) && { unhealthyNeedsAllNodes: false }),
    ...(random.chance(0.3) && { autoScalingCountsDraining: true }),
    ...(random.chance(0.3) && { suspendingCoversApplicationStatus: false }),
    ...(random.chance(0.05) && { longestSuppressionSeconds: random.pick([3600, 14_400]) }),
    ...(slow && {
      callLatencyMs: [200, 3000],
      suppressionSpreadSeconds: [200, 400],
      releaseSpreadSeconds: [120, 240],
      describeLagSeconds: [40, 60],
    }),
  };
}
