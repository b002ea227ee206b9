import { CallSites } from './call-sites.ts';
import type { CallSite, Fault } from './faults.ts';
import { type Scenario, scenario } from './scenario.ts';
import { type Simulated, type SimulationSettings, simulate } from './simulation.ts';

const DELAY = { 'deregistration_delay.timeout_seconds': '30' };

/** Checks, two target groups and an Auto Scaling group whose verdicts are held: half of it is deployed to. */
export const smallFleet = {
  instances: 4,
  zones: ['eu-west-1a', 'eu-west-1b'],
  startUpSeconds: 10,
  targetGroups: [
    { name: 'web', port: 8080, attributes: DELAY },
    { name: 'admin', port: 8081, attributes: DELAY },
  ],
  checks: [{ port: 8080 }],
};
const deployment = { instances: [0, 1], batches: 'all', downSeconds: 30 };

interface Passage {
  readonly scenario: Scenario;
  readonly deliveries?: SimulationSettings['deliveries'];
  /** The calls that are new here, by caller and action: the others are the bracket's. */
  readonly met: RegExp;
}

const stopIn = (state: string) => [{ after: state, atSeconds: 5, do: 'stop-execution' }];

/** The small deployments whose every call to AWS is made to fail, one at a time. */
export const passages = {
  /** One run through the whole bracket. */
  bracket: {
    scenario: scenario.parse({ name: 'bracket', fleet: smallFleet, deployment }),
    met: /^(?!SweepFunction)/,
  },
  /** A run whose suppression somebody lifts, which fails in its lead: fence, wait, undo. */
  undone: {
    scenario: scenario.parse({
      name: 'undone',
      fleet: smallFleet,
      deployment,
      events: [{ atSeconds: 60, do: 'release-suppression' }],
    }),
    met: /^(Fence|Undo)Function |\/(Fence|Undo)Function$/,
  },
  /** A run that is stopped in mid-way, and undone by UndoRun. */
  stopped: {
    scenario: scenario.parse({
      name: 'stopped',
      fleet: smallFleet,
      deployment,
      events: stopIn('ObserveEvidence'),
    }),
    met: /^(SettleFunction|UndoRun) /,
  },
  /** A run that is stopped before its first sweep, and no event tells: the sweep finds it. */
  swept: {
    scenario: scenario.parse({ name: 'swept', fleet: smallFleet, deployment, events: stopIn('Drain') }),
    deliveries: event => (event.source === 'aws.events' ? [500] : []),
    met: /^SweepFunction /,
  },
  /** A check is created, proven, included and watched. */
  adopted: {
    scenario: scenario.parse({
      name: 'adopted',
      fleet: { instances: 2, startUpSeconds: 10, autoScaling: { healthChecks: ['EC2'] } },
      deployment: { adopt: { check: { protocol: 'http', port: 8080, graceSeconds: 60 }, watchSeconds: 300 } },
    }),
    met: /^(PlanAdoption|ActOnCheck|ObserveCheck|EndAdoption)Function |^PromoteCheck /,
  },
  /** A check is deleted, its interface waited out, and its group deleted. */
  retired: {
    scenario: scenario.parse({
      name: 'retired',
      fleet: {
        instances: 1,
        zones: ['eu-west-1a'],
        autoScaling: { healthChecks: ['EC2'] },
        checks: [{ port: 8080, ownGroup: 'deleted-when-free' }],
      },
      physics: { interfaceLingerMinutes: [2, 2] },
      deployment: { retire: { limitSeconds: 900 } },
    }),
    met: /^(PlanRetirement|ActOnRetirement|ObserveRetirement|EndRetirement)Function |^RetireCheck /,
  },
  /** CodeDeploy asks through its hooks, instance by instance. */
  hooks: {
    scenario: scenario.parse({
      name: 'hooks',
      fleet: { ...smallFleet, instances: 2, targetGroups: smallFleet.targetGroups.slice(0, 1) },
      deployment: { through: 'codedeploy', downSeconds: 10 },
    }),
    met: /^(Hook|Settle)Function /,
  },
} as const satisfies Record<string, Passage>;
export type PassageName = keyof typeof passages;

export const isPassage = (name: string | undefined): name is PassageName =>
  name !== undefined && name in passages;

/** Simulates a passage, with or without a fault. */
export function pass(
  passage: PassageName,
  settings: Pick<SimulationSettings, 'gates' | 'dies' | 'begun' | 'code'> = {},
): Promise<Simulated> {
  const { scenario, deliveries }: Passage = passages[passage];
  return simulate({ scenario, ...(deliveries && { deliveries }), ...settings });
}

/** What a passage without any fault calls. @throws Error when it breaks an invariant by itself: then it proves nothing */
export async function callSitesOf(passage: PassageName): Promise<readonly CallSite[]> {
  const sites = new CallSites();
  const { violations } = await pass(passage, { gates: () => [sites.gate] });
  if (violations.length > 0)
    throw new Error(`${passage} breaks an invariant without a fault: ${JSON.stringify(violations)}`);
  return sites.all;
}

/** The faults that a passage is to meet, one at a time. */
export async function faultsIn(
  passage: PassageName,
  choose: (sites: readonly CallSite[]) => readonly Fault[],
): Promise<readonly Fault[]> {
  const sites = await callSitesOf(passage);
  return choose(sites.filter(({ caller, action }) => passages[passage].met.test(`${caller} ${action}`)));
}
