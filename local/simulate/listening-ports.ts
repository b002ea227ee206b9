import { adoptionRequest } from '../../functions/core/adoption-request.ts';
import { readOrFaults } from '../../functions/core/faults.ts';
import { deploymentsOf } from './runs.ts';
import type { DeploymentSpec, Scenario } from './scenario.ts';

/** The ports on which a scenario says that the application answers: empty where it leaves that open. */
export const saidPorts = ({ targetGroups, alsoListensOn }: Scenario['fleet']): ReadonlySet<number> =>
  new Set([...targetGroups.flatMap(group => [group.port, ...group.alsoOnPorts]), ...alsoListensOn]);

/** The port of a check that is to be created and adopted. */
export function adoptedPort({ adopt }: DeploymentSpec): number | undefined {
  if (!adopt) return undefined;
  const read = readOrFaults(adoptionRequest, { autoScalingGroupName: 'web', ...adopt });
  return read.faults || 'id' in read.data.check ? undefined : read.data.check.port;
}

/** The ports on which a scenario's application answers; undefined for all of them, where it names none at all. */
export function listeningPorts(scenario: Scenario): ReadonlySet<number> | undefined {
  const adopted = deploymentsOf(scenario).flatMap(spec => adoptedPort(spec) ?? []);
  const ports = new Set([
    ...saidPorts(scenario.fleet),
    ...scenario.fleet.checks.map(({ port }) => port),
    ...adopted,
  ]);
  return ports.size === 0 ? undefined : ports;
}
