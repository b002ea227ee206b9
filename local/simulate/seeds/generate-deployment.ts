import type { z } from 'zod';
import type { Random } from '../../clock/random.ts';
import type { scenario } from '../scenario.ts';
import type { FleetInput } from './generate-fleet.ts';

type Input = z.input<typeof scenario>;
export type DeploymentInput = NonNullable<Input['deployment']>;
type Batches = NonNullable<DeploymentInput['batches']>;
type RivalInput = NonNullable<Input['rivals']>[number];

/** Later than every deployment of a seed, by the account's clock. */
const EMERGENCY_ENDS = '2026-12-31T00:00:00Z';

/** A deployment batch by batch, or through CodeDeploy with its hooks or with one run around it. */
export function drawDeployment(random: Random, fleet: FleetInput): DeploymentInput {
  if (!random.chance(0.25)) return drawInBatches(random, fleet);
  const grouped = fleet.autoScaling !== null;
  // CodeDeploy's step is not simulated for addresses.
  const movable = (fleet.targetGroups ?? []).every(
    group => group.served !== false && group.targetType !== 'ip',
  );
  const step = movable && fleet.targetGroups?.length && random.chance(0.4) && { loadBalancerStep: true };
  const codeDeploy = {
    ...drawVersion(random),
    // The AppSpec gives an application 300 s until it answers.
    downSeconds: random.whole(5, 180),
    ...step,
    through: 'codedeploy' as const,
    config: random.pick(CONFIGS),
    ...(random.chance(0.5) && { autoRollback: true }),
  };
  if (!random.chance(0.3)) return codeDeploy;
  const request = { policy: { ...drawPolicy(random, fleet, grouped), deploymentSeconds: 7200 } };
  return { ...codeDeploy, hooks: false, fleetWide: true, request };
}

/** A deployment that the scenario carries out itself. */
export const drawInBatches = (random: Random, fleet: FleetInput): DeploymentInput => ({
  ...drawVersion(random),
  ...drawWork(random),
  ...drawBatches(random, fleet),
});

const drawVersion = (random: Random) => (random.chance(0.1) ? { neverReady: true } : {});

/** Another deployment to the same fleet, or a part of it, begun while the first is on its way. */
export function drawRival(random: Random, fleet: FleetInput): RivalInput {
  return {
    ...drawWork(random),
    ...drawBatches(random, fleet),
    atSeconds: random.whole(0, 1500),
    expect: { outcome: 'any' },
  };
}

const drawWork = (random: Random) => ({ downSeconds: random.whole(5, 400) });

function drawBatches(random: Random, fleet: FleetInput) {
  const all = Array.from({ length: fleet.instances }, (_, number) => number);
  const some = random.chance(0.3) && all.filter(() => random.chance(0.5));
  const grouped = fleet.autoScaling !== null;
  return {
    batches: random.pick(BATCHES),
    ...(some && some.length > 0 && { instances: some }),
    ...(random.chance(0.15) && { fleet: random.pick(grouped ? GROUPED_FLEETS : FLEETS) }),
    request: {
      ...(random.chance(0.25) && { traffic: 'leave' }),
      ...(random.chance(0.3) && { queue: true }),
      ...(random.chance(0.05) && { emergency: { reason: 'drawn', until: EMERGENCY_ENDS } }),
      policy: drawPolicy(random, fleet, grouped),
    },
  };
}

const CONFIGS = ['OneAtATime', 'HalfAtATime', 'AllAtOnce'] as const;
const BATCHES: readonly [Batches, ...Batches[]] = ['one-at-a-time', 'half', 'half', 'all', 2];
const FLEETS = ['codeDeployDeploymentId', 'tag'] as const;
const GROUPED_FLEETS = [...FLEETS, 'autoScalingGroupName'] as const;

function drawPolicy(random: Random, fleet: FleetInput, grouped: boolean) {
  // Auto Scaling attaches no group of addresses: they are found in the VPC.
  const detached = (fleet.targetGroups ?? []).some(group => group.targetType === 'ip');
  return {
    ...(grouped && (detached || random.chance(0.2)) && { discover: 'vpc' }),
    ...(random.chance(0.7) && { minHealthyPercent: random.pick([0, 0, 20, 40, 60]) }),
    ...(random.chance(0.3) && { autoScaling: random.pick(['hold', 'standby', 'none']) }),
    ...(random.chance(0.2) && { leadSeconds: random.whole(180, 400) }),
    ...(random.chance(0.3) && { readySeconds: random.whole(120, 900) }),
    ...(random.chance(0.3) && { waitSeconds: random.whole(0, 900) }),
    ...(random.chance(0.15) && { suppressSeconds: random.whole(0, 7200) }),
    ...(random.chance(0.15) && { readyBeforeTraffic: false }),
    ...(random.chance(0.15) && { readyEvaluations: 3 }),
    ...(random.chance(0.15) && { alsoSuspend: ['AZRebalance', 'ScheduledActions'] }),
  };
}
