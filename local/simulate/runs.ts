import type { DeploymentSpec, Scenario } from './scenario.ts';

/** The first part of the ids of a rival's runs; rivals are counted from 0. */
export const rivalName = ({ name }: Pick<Scenario, 'name'>, index: number): string =>
  `${name}-rival-${index + 1}`;

/** Which of a scenario's deployments has begun this run? */
export function deploymentOfRun(scenario: Scenario, runId: string): DeploymentSpec {
  const rival = scenario.rivals.find((_, index) => runId.startsWith(`${rivalName(scenario, index)}-`));
  return rival ?? scenario.deployment;
}

export const deploymentsOf = ({ deployment, rivals }: Scenario): readonly DeploymentSpec[] => [
  deployment,
  ...rivals,
];

/** Does somebody else move the traffic, or nobody? One run around a deployment through CodeDeploy leaves it, unless told. */
export const leavesTraffic = ({ request, fleetWide, loadBalancerStep }: DeploymentSpec): boolean =>
  (request.traffic ?? (fleetWide && !loadBalancerStep ? 'leave' : 'drain')) === 'leave';

export const isEmergency = ({ request }: DeploymentSpec): boolean => request.emergency !== undefined;

export function policyOf({ request: { policy } }: DeploymentSpec): Readonly<Record<string, unknown>> {
  return policy && typeof policy === 'object' ? { ...policy } : {};
}

/** Is a run told of a target group that Auto Scaling does not attach, as of one of addresses (D11)? */
export const findsDetached = (scenario: Scenario, spec: DeploymentSpec): boolean =>
  scenario.fleet.autoScaling === null || policyOf(spec).discover === 'vpc';
