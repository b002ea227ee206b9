import type { Deployment } from '../../../local/account/code-deploy-deployment.ts';
import { type Scenario, scenario } from '../../../local/simulate/scenario.ts';
import { type Simulated, type SimulationSettings, simulate } from '../../../local/simulate/simulation.ts';

type Given = Readonly<Record<string, unknown>>;

/** Three instances behind a load balancer, deployed to through CodeDeploy one at a time, unless told otherwise. */
export function throughCodeDeploy(deployment: Given = {}, more: Given = {}, fleet: Given = {}): Scenario {
  return scenario.parse({
    name: 'hooks',
    fleet: {
      instances: 3,
      startUpSeconds: 10,
      targetGroups: [
        {
          name: 'web',
          port: 8080,
          attributes: { 'deregistration_delay.timeout_seconds': '30' },
          traffic: { requestsPerSecond: 5 },
        },
      ],
      checks: [{ port: 8080 }],
      ...fleet,
    },
    deployment: { through: 'codedeploy', downSeconds: 10, ...deployment },
    ...more,
  });
}

export interface Deployed extends Simulated {
  /** In the order they began. */
  readonly deployments: readonly Deployment[];
  /** What became of each lifecycle event that has run, over all deployments. */
  readonly events: readonly Ran[];
  readonly errors: readonly string[];
}

export interface Ran {
  readonly event: string;
  readonly status: string;
  readonly seconds: number;
  readonly log: string;
}

export async function deployed(settings: SimulationSettings): Promise<Deployed> {
  const simulated = await simulate(settings);
  const deployments = [...simulated.account.codeDeploy.deployments()];
  const targets = deployments.flatMap(deployment => [...deployment.targets.values()]);
  const lifecycle = targets.flatMap(({ shown }) => shown.lifecycleEvents);
  return {
    ...simulated,
    deployments,
    events: lifecycle
      .filter(({ startTime }) => startTime !== undefined)
      .map(({ lifecycleEventName, status, startTime, endTime, diagnostics }) => ({
        event: lifecycleEventName ?? '',
        status: status ?? '',
        seconds: ((endTime?.getTime() ?? Number.POSITIVE_INFINITY) - (startTime?.getTime() ?? 0)) / 1000,
        log: diagnostics?.logTail ?? '',
      })),
    errors: (simulated.stack?.lambda.logs ?? [])
      .map(({ line }) => line)
      .filter(line => line.includes('AccessDenied')),
  };
}

/** Executions of a machine, with how they ended. */
export const executionsOf = ({ stack }: Simulated, machine: string) =>
  [...(stack?.executions.all() ?? [])].filter(execution => execution.machine.name.includes(machine));
