import { type Scenario, scenario } from './scenario.ts';

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
  /** A run that is never ready: fence, wait, undo. */
  undone: scenario.parse({
    name: 'undone',
    fleet,
    deployment: { ...deployment, neverReady: true, request: { policy: { readySeconds: 60 } } },
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
