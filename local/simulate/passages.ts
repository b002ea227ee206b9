import { CallSites } from './call-sites.ts';
import type { CallSite, Fault } from './faults.ts';
import { type Scenario, scenario } from './scenario.ts';
import { simulate } from './simulation.ts';

const DELAY = { 'deregistration_delay.timeout_seconds': '30' };

/** Checks, two target groups and an Auto Scaling group whose verdicts are held: half of it is deployed to. */
const fleet = {
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

/** The small deployments whose every call to AWS is made to fail, one at a time. */
export const passages = {
  /** One run through the whole bracket. */
  bracket: scenario.parse({ name: 'bracket', fleet, deployment }),
  /** A run whose suppression somebody lifts, which fails in its lead: fence, wait, undo. */
  undone: scenario.parse({
    name: 'undone',
    fleet,
    deployment,
    events: [{ atSeconds: 60, do: 'release-suppression' }],
  }),
  /** A run that is stopped in mid-way, and undone by UndoRun. */
  stopped: scenario.parse({
    name: 'stopped',
    fleet,
    deployment,
    events: [{ after: 'ObserveEvidence', atSeconds: 5, do: 'stop-execution' }],
  }),
  /** CodeDeploy asks through its hooks, instance by instance. */
  hooks: scenario.parse({
    name: 'hooks',
    fleet: { ...fleet, instances: 2, targetGroups: fleet.targetGroups.slice(0, 1) },
    deployment: { through: 'codedeploy', downSeconds: 10 },
  }),
} as const satisfies Record<string, Scenario>;
export type PassageName = keyof typeof passages;

export const isPassage = (name: string | undefined): name is PassageName =>
  name !== undefined && name in passages;

/** What a passage without any fault calls. @throws Error when it breaks an invariant by itself: then it proves nothing */
export async function callSitesOf(passage: PassageName): Promise<readonly CallSite[]> {
  const sites = new CallSites();
  const { violations } = await simulate({ scenario: passages[passage], gates: () => [sites.gate] });
  if (violations.length > 0)
    throw new Error(`${passage} breaks an invariant without a fault: ${JSON.stringify(violations)}`);
  return sites.all;
}

/** The calls that are new in a passage, by caller and action: the others are the bracket's. */
const NEW_IN: Readonly<Record<PassageName, RegExp>> = {
  bracket: /./,
  undone: /^(Fence|Undo)Function |\/(Fence|Undo)Function$/,
  stopped: /^(SettleFunction|UndoRun) /,
  hooks: /^(Hook|Settle)Function /,
};

/** The faults that a passage is to meet, one at a time. */
export async function faultsIn(
  passage: PassageName,
  choose: (sites: readonly CallSite[]) => readonly Fault[],
): Promise<readonly Fault[]> {
  const sites = await callSitesOf(passage);
  return choose(sites.filter(({ caller, action }) => NEW_IN[passage].test(`${caller} ${action}`)));
}
