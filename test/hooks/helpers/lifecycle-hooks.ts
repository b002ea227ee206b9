import { scenario } from '../../../local/simulate/scenario.ts';
import {
  type SimulationSettings,
  type Standing,
  settleEnd,
  standUp,
} from '../../../local/simulate/simulation.ts';
import type { Stack } from '../../../local/stack/deploy.ts';

const NAMES = { applicationName: 'shop', deploymentGroupName: 'tasks' };
const HOUR = 3_600_000;

export interface HookedSettings extends Omit<SimulationSettings, 'scenario'> {
  readonly platform?: 'ECS' | 'Lambda';
  /** Lifecycle events at which the AppSpec names the hook. */
  readonly at?: readonly string[];
  /** How often CodeDeploy calls the function for one event. */
  readonly calls?: number;
  /** The fleet behind the deployment has nothing that the bracket would change. */
  readonly bare?: boolean;
  /** Happens while the deployment is on its way. */
  readonly meanwhile?: (running: Running) => Promise<void>;
}

export interface Running extends Standing {
  readonly stack: Stack;
  readonly deploymentId: string;
}

const AROUND = ['BeforeAllowTraffic', 'AfterAllowTraffic'];

/** A deployment to ECS or Lambda over a fleet of two, with the stack's lifecycle event hook in its AppSpec. */
export async function hookedDeployment(settings: HookedSettings = {}) {
  const { platform = 'ECS', at = AROUND, calls = 1, bare = false, meanwhile, ...more } = settings;
  const answers: string[] = [];
  let attempts = 0;
  const standing = await standUp({
    scenario: scenario.parse({
      name: 'hooked',
      fleet: { instances: 2, autoScaling: { healthChecks: ['EC2'] }, checks: bare ? [] : [{ port: 8080 }] },
    }),
    parameters: { HookFleet: '{"autoScalingGroupName":"web"}' },
    ...more,
    gates: account => [
      ...(more.gates?.(account) ?? []),
      {
        before({ action }) {
          if (action === 'PutLifecycleEventHookExecutionStatus') attempts++;
        },
        after({ action }, { status }) {
          if (action === 'PutLifecycleEventHookExecutionStatus') answers.push(String(status));
        },
      },
    ],
  });
  const { account, stack, invariants } = standing;
  if (!stack) throw new Error('nothing is deployed');
  const { clock } = account.world;
  const name = stack.template.functions.get('LifecycleHookFunction')?.name ?? '';
  account.codeDeploy.addDeploymentGroup({ ...NAMES, computePlatform: platform });
  const { deployment, ended } = account.codeDeploy.lifecycleEventHooks.begin(
    { ...NAMES, targetId: 'cluster:service', hooks: Object.fromEntries(at.map(event => [event, name])) },
    (functionName, event) => {
      for (let n = 0; n < calls; n++) stack.invokeLater(functionName, { ...event });
    },
  );
  const startedAt = clock.now();
  const all = Promise.all([ended, meanwhile?.({ ...standing, stack, deploymentId: deployment.id })]);
  await clock.runFor(all, 3 * HOUR);
  const seconds = (clock.now() - startedAt) / 1000;
  await settleEnd(standing);
  return {
    deployment,
    /** The answers that CodeDeploy accepted. */
    answers,
    /** How often it was given one: an answered hook is forgotten. */
    attempts,
    seconds,
    stack,
    violations: invariants.violations,
    executions: [...stack.executions.all()],
    denied: stack.lambda.logs.filter(({ line }) => line.includes('AccessDenied')),
    unused: stack.unusedPermissions(),
  };
}
