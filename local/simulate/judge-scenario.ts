import { adoptionRequest } from '../../functions/core/adoption-request.ts';
import { type Fault, readOrFaults } from '../../functions/core/faults.ts';
import { runRequest } from '../../functions/core/request.ts';
import { TargetGroupAttributes } from '../account/target-group-attributes.ts';
import { ServiceError } from '../wire/contract.ts';
import { saidPorts } from './listening-ports.ts';
import type { DeploymentSpec, Scenario, ScenarioEvent } from './scenario.ts';

/** What is wrong with a scenario whose members are right one by one. */
export function judgeScenario({ fleet, deployment, rivals, events }: Scenario): Fault[] {
  const beyond = (path: Fault['path'], numbers: readonly number[] | undefined): Fault[] =>
    (numbers ?? [])
      .filter(number => number >= fleet.instances)
      .map(number => ({
        path,
        message: `must be below ${fleet.instances}, not ${number}: the fleet's instances are counted from 0`,
      }));
  const deployments = [
    { spec: deployment, path: ['deployment'] },
    ...rivals.map((spec, index) => ({ spec, path: ['rivals', index] })),
  ];
  return [
    ...attributeFaults(fleet),
    ...fleet.checks.flatMap(({ port }, index) => portFault(fleet, port, ['fleet', 'checks', index, 'port'])),
    ...(typeof fleet.broken === 'boolean' ? [] : beyond(['fleet', 'broken'], fleet.broken)),
    ...beyond(['fleet', 'flaky'], fleet.flaky),
    ...deployments.flatMap(({ spec, path }) =>
      [
        ...foreignMembers(spec),
        ...requestFaults(spec),
        ...adoptionFaults(spec, fleet),
        ...retirementFaults(spec, fleet),
        ...beyond(['instances'], spec.instances),
      ].map(fault => ({ ...fault, path: [...path, ...fault.path] })),
    ),
    ...sizeFaults(fleet),
    ...events.flatMap((event, index) => [
      ...beyond(['events', index, 'instance'], [event.instance]),
      ...eventFaults(event, fleet, deployment).map(fault => ({
        ...fault,
        path: ['events', index, ...fault.path],
      })),
    ]),
  ];
}

/** As the account itself judges them, one by one and then together. */
function attributeFaults({ targetGroups, loadBalancer }: Scenario['fleet']): Fault[] {
  return targetGroups.flatMap(({ attributes, targetType }, index) => {
    const path = ['fleet', 'targetGroups', index, 'attributes'];
    const judged = (some: Readonly<Record<string, string>>, at: Fault['path']): Fault[] => {
      try {
        new TargetGroupAttributes(loadBalancer.type, targetType, some);
        return [];
      } catch (error) {
        if (error instanceof ServiceError) return [{ path: at, message: error.message }];
        throw error;
      }
    };
    const known = new TargetGroupAttributes(loadBalancer.type, targetType, {}).list().map(({ Key }) => Key);
    const faults = Object.entries(attributes).flatMap(([key, value]) =>
      known.includes(key)
        ? judged({ [key]: value }, [...path, key])
        : [{ path: [...path, key], message: `is no attribute of such a group: use ${known.join(', ')}` }],
    );
    return faults.length > 0 ? faults : judged(attributes, path);
  });
}

function sizeFaults({ autoScaling, instances }: Scenario['fleet']): Fault[] {
  const { minSize = 0 } = autoScaling ?? {};
  if (minSize <= instances) return [];
  return [
    {
      path: ['fleet', 'autoScaling', 'minSize'],
      message: `must not be above the fleet's ${instances} instances, not ${minSize}`,
    },
  ];
}

const OF_A_GROUP: ReadonlySet<ScenarioEvent['do']> = new Set([
  'enter-standby',
  'exit-standby',
  'mark-unhealthy',
  'refresh-instances',
  'replace-instance',
  'scale-in',
  'scale-out',
]);

/** What an event does not know, or could never act on, is refused and not left out. */
function eventFaults(event: ScenarioEvent, fleet: Scenario['fleet'], { through }: DeploymentSpec): Fault[] {
  const faults: Fault[] = [];
  if (event.seconds !== undefined && event.do !== 'suppress-instance')
    faults.push({ path: ['seconds'], message: `is for suppress-instance, not for ${event.do}` });
  if (event.machine !== undefined && event.do !== 'stop-execution')
    faults.push({ path: ['machine'], message: `is for stop-execution, not for ${event.do}` });
  if (event.mayMiss) return faults;
  if (OF_A_GROUP.has(event.do) && !fleet.autoScaling)
    faults.push({
      path: ['do'],
      message: `${event.do} needs an Auto Scaling group: fleet.autoScaling must not be null`,
    });
  if (event.do === 'stop-deployment' && through !== 'codedeploy')
    faults.push({ path: ['do'], message: 'stop-deployment needs a deployment with through: codedeploy' });
  return faults;
}

/** A check on a port where nothing listens is a slip of the pen, and never passes. */
function portFault(fleet: Scenario['fleet'], port: number, path: Fault['path']): Fault[] {
  const ports = saidPorts(fleet);
  if (ports.size === 0 || ports.has(port)) return [];
  const message = `nothing listens on ${port}: use a port of a target group (${[...ports].join(', ')}), or name it in fleet.alsoListensOn`;
  return [{ path, message }];
}

const ONLY_THROUGH_CODEDEPLOY = [
  'config',
  'loadBalancerStep',
  'blueGreen',
  'fleetWide',
  'hooks',
  'autoRollback',
  'scripts',
] as const;

/** What one way of deploying does not know is refused, not ignored. */
function foreignMembers(spec: DeploymentSpec): Fault[] {
  const throughCodeDeploy = spec.through === 'codedeploy';
  if (spec.adopt || spec.retire)
    return (['batches', 'instances', 'promotes', 'idleMinutes', ...ONLY_THROUGH_CODEDEPLOY] as const)
      .filter(name => spec[name] !== undefined)
      .map(name => ({
        path: [name],
        message: `is not for ${spec.adopt ? 'an adoption' : 'a retirement'}, which deploys nothing`,
      }));
  const foreign = throughCodeDeploy
    ? (['batches', 'instances', 'promotes', 'idleMinutes'] as const)
    : ONLY_THROUGH_CODEDEPLOY;
  const faults: Fault[] = foreign
    .filter(name => spec[name] !== undefined)
    .map(name => ({ path: [name], message: `is not for a deployment through ${spec.through}` }));
  if (throughCodeDeploy && spec.fleet === 'codeDeployDeploymentId')
    faults.push({ path: ['fleet'], message: 'has to be known before there is a deployment' });
  return faults;
}

/** As the product judges it when the deployment begins, with what the simulation adds. */
function requestFaults({ request }: DeploymentSpec): Fault[] {
  const least = { runId: 'simulated', fleet: { autoScalingGroupName: 'web' } };
  const { faults = [] } = readOrFaults(runRequest, { ...least, ...request });
  return faults.map(fault => ({ ...fault, path: ['request', ...fault.path] }));
}

/** As the product judges it, with the group that the simulation adds. A check that exists has no id that could be known here. */
function adoptionFaults({ adopt }: DeploymentSpec, fleet: Scenario['fleet']): Fault[] {
  if (!adopt) return [];
  const at = (path: Fault['path'], message: string): Fault => ({ path: ['adopt', ...path], message });
  if (!fleet.autoScaling) return [at([], 'needs an Auto Scaling group: fleet.autoScaling must not be null')];
  const read = readOrFaults(adoptionRequest, { autoScalingGroupName: 'web', ...adopt });
  if (read.faults) return read.faults.map(({ path, message }) => at(path, message));
  const { check } = read.data;
  if ('id' in check) return [at(['check'], 'must be one to create: {protocol, port, ...}')];
  return portFault(fleet, check.port, ['adopt', 'check', 'port']);
}

function retirementFaults({ retire, adopt }: DeploymentSpec, { checks }: Scenario['fleet']): Fault[] {
  if (!retire) return [];
  const at = (message: string): Fault[] => [{ path: ['retire'], message }];
  if (adopt) return at('is not for an adoption');
  if (checks.length === 0) return at('needs a check to retire: fleet.checks is empty');
  return retire.namesGroup && checks[0]?.ownGroup === undefined
    ? at('names the own group of a check that has none: fleet.checks[0].ownGroup')
    : [];
}
