import { runOfInstance } from '../../functions/core/naming.ts';
import type { Deployment, DeploymentGroup } from '../account/code-deploy-deployment.ts';
import { CodeDeployEngine } from '../account/code-deploy-engine.ts';
import type { Instance } from '../account/neighbours.ts';
import { ImitatedScripts } from '../agent/imitated-scripts.ts';
import { installAgents } from '../agent/installed-agents.ts';
import type { ApplicationControl } from '../agent/machine.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Execution } from '../states/execution.ts';
import type { Json } from '../states/json.ts';
import type { BuiltFleet } from './build-fleet.ts';
import type { Batch, DeploymentResult, NamedDeployment, Site } from './deployment.ts';
import { exampleRevision } from './example-revision.ts';
import type { DeploymentSpec } from './scenario.ts';

const NAMES = { applicationName: 'shop', deploymentGroupName: 'web' };
/** The revision that is deployed. */
const AFTER = 'after';

/**
 * An in-place deployment that CodeDeploy carries out, instance by instance through the AppSpec of examples/codedeploy. With
 * hooks each instance has a run of its own; `fleetWide` puts one run over all of them around it, as a pipeline would.
 */
export async function deployThroughCodeDeploy(
  site: Site,
  { name, spec }: NamedDeployment,
): Promise<DeploymentResult> {
  const { account, fleet, stack } = site;
  const { journal } = account.world;
  const instanceIds = fleet.instances.map(instance => instance.id);
  const hooks = stack !== undefined && (spec.hooks ?? true);
  const directory = exampleRevision({ hooks });
  const scripts = await standUpScripts(site, spec);
  const group = addDeploymentGroup(site, spec);
  const revision = (key: string) => ({ bucket: 'bundles', key, eTag: key, directory });
  scripts.settle(group, revision('before'), instanceIds);
  const around = spec.fleetWide && stack ? fleetRun(stack, spec, { name, fleet }) : undefined;
  journal.record({ type: 'deployment', state: 'started', instanceIds, detail: '' });
  if (around) journal.record({ type: 'deployment', state: 'batch', instanceIds, detail: name });
  if (hooks) announceRuns(site);
  try {
    const refused = await around?.before();
    if (refused)
      return told(site, { outcome: 'refused', ...errorOf(refused), batches: around?.batches ?? [] });
    const { id } = scripts.engine.create({ ...NAMES, revision: revision(AFTER) });
    const deployment = await scripts.engine.ended(id);
    await settled(site);
    const failed = await around?.after();
    const batches = [...(around?.batches ?? []), ...(stack ? runsOf(stack, deployment) : [])];
    if (deployment.status !== 'Succeeded')
      return told(site, { outcome: 'failed', ...failureOf(deployment), batches });
    if (failed) return told(site, { outcome: 'failed', ...errorOf(failed), batches });
    return told(site, { outcome: 'succeeded', error: '', cause: '', batches });
  } finally {
    await scripts.close();
  }
}

/** With hooks each instance of the fleet is a batch of its own, from when CodeDeploy begins with it. */
function announceRuns({ account, fleet }: Site): void {
  const ids = new Set(fleet.instances.map(instance => instance.id));
  account.onEvent(({ source, detail }) => {
    const { deploymentId, instanceId, state } = detail;
    if (source !== 'aws.codedeploy' || state !== 'START' || !ids.has(String(instanceId))) return;
    account.world.journal.record({
      type: 'deployment',
      state: 'batch',
      instanceIds: [String(instanceId)],
      detail: runOfInstance(String(deploymentId), String(instanceId)),
    });
  });
}

/** Until CodeDeploy shows what has become of it, launches and rollbacks included, and every run has ended. */
async function settled({ account: { codeDeploy, world }, stack }: Site): Promise<void> {
  const isBusy = () =>
    [...codeDeploy.deployments()].some(({ isLive }) => isLive) ||
    [...(stack?.executions.all() ?? [])].some(({ status }) => status === 'RUNNING');
  await world.clock.sleep(world.physics.deploymentStatusLagSeconds * 1000);
  while (isBusy()) await world.clock.sleep(5000);
}

interface Scripts {
  readonly engine: CodeDeployEngine;
  settle: CodeDeployEngine['settle'];
  close(): Promise<void>;
}

async function standUpScripts(site: Site, spec: DeploymentSpec): Promise<Scripts> {
  const { account, stack } = site;
  const { world, ec2, codeDeploy, autoScaling, loadBalancing, onEvent } = account;
  const application = applicationOf(site, spec);
  const served = stack?.template.functions.get('HookFunction');
  const hook = stack && served && { lambda: stack.lambda, function: served };
  if (spec.scripts === 'real') return installAgents({ account, application, ...(hook && { hook }) });
  const agent = new ImitatedScripts({ world, instances: ec2, application, ...(hook && { hook }) });
  const engine = new CodeDeployEngine({
    world,
    instances: ec2,
    autoScaling,
    loadBalancing,
    codeDeploy,
    onEvent,
    agent,
  });
  return { engine, settle: (...told) => engine.settle(...told), close: async () => undefined };
}

/** What stop.sh and start.sh do. To stop the application is what an instance's go-ahead permits. */
function applicationOf(
  { account: { world, codeDeploy }, fleet, scenario }: Site,
  spec: DeploymentSpec,
): ApplicationControl {
  const { clock, journal } = world;
  const say = (state: 'go-ahead' | 'installing' | 'installed', { id }: Instance, deploymentId: string) =>
    journal.record({
      type: 'deployment',
      state,
      instanceIds: [id],
      // Without hooks no run but the one around the deployment has to do with it.
      detail: spec.hooks === false ? scenario.name : runOfInstance(deploymentId, id),
    });
  // Without hooks, what CodeDeploy begins by itself (a rollback, an update of outdated instances) has nothing around it.
  const isBracketed = (deploymentId: string) =>
    spec.hooks !== false ||
    (spec.fleetWide === true && codeDeploy.deployment(deploymentId)?.facts.creator === 'user');
  return {
    stop(instance, deploymentId) {
      // What is launched meanwhile is deployed to before it serves: that needs no go-ahead.
      if (fleet.instances.includes(instance) && isBracketed(deploymentId))
        say('go-ahead', instance, deploymentId);
      say('installing', instance, deploymentId);
      instance.application.stop();
    },
    start(instance, deploymentId) {
      const { startUpSeconds } = scenario.fleet;
      clock.after(spec.downSeconds * 1000, () => {
        instance.application.suffer(undefined);
        const deployed = codeDeploy.deployment(deploymentId)?.facts.revision?.key;
        if (!spec.neverReady || deployed !== AFTER) instance.application.start(startUpSeconds);
      });
      clock.after((spec.downSeconds + startUpSeconds) * 1000, () => say('installed', instance, deploymentId));
    },
  };
}

function addDeploymentGroup({ account, fleet, scenario }: Site, spec: DeploymentSpec): DeploymentGroup {
  const grouped = fleet.groupName !== undefined;
  return account.codeDeploy.addDeploymentGroup({
    ...NAMES,
    deploymentConfigName: `CodeDeployDefault.${spec.config ?? 'OneAtATime'}`,
    ...(grouped ? { autoScalingGroupNames: [fleet.groupName ?? ''] } : { instanceTags: { fleet: 'web' } }),
    ...(spec.autoRollback && { autoRollback: { enabled: true, events: ['DEPLOYMENT_FAILURE'] } }),
    ...(spec.blueGreen && { blueGreen: spec.blueGreen }),
    targetGroupNames: spec.loadBalancerStep ? scenario.fleet.targetGroups.map(group => group.name) : [],
  });
}

/** One run over the whole fleet: before-deploy and after-deploy, as a pipeline starts them. */
function fleetRun(
  stack: Stack,
  spec: DeploymentSpec,
  { name: runId, fleet }: { readonly name: string; readonly fleet: BuiltFleet },
) {
  const executions: Execution[] = [];
  const instanceIds = fleet.instances.map(instance => instance.id);
  const through = async (machine: string, name: string, input: Json) => {
    const execution = stack.startExecution(machine, { name, input });
    executions.push(execution);
    await execution.ended;
    return execution.status === 'SUCCEEDED' ? undefined : execution;
  };
  const request = { runId, fleet: { instanceIds }, traffic: 'leave', ...spec.request } as Json;
  const batches: readonly Batch[] = [{ runId, instanceIds, executions }];
  return {
    batches,
    before: () => through('BeforeDeploy', `before-${runId}`, request),
    after: () => through('AfterDeploy', `after-${runId}`, { runId }),
  };
}

/** The runs that hooks of the deployment have begun, instance by instance. */
function runsOf(stack: Stack, { id, targets }: Deployment): readonly Batch[] {
  const executions = [...stack.executions.all()];
  return [...targets.keys()].flatMap(instanceId => {
    const runId = runOfInstance(id, instanceId);
    const ofRun = executions.filter(({ input }) => isOf(input, runId));
    return ofRun.length > 0 ? [{ runId, instanceIds: [instanceId], executions: ofRun }] : [];
  });
}

const isOf = (input: Json, runId: string): boolean =>
  input !== null && typeof input === 'object' && 'runId' in input && input.runId === runId;

function errorOf(execution: Execution) {
  return { error: execution.error ?? execution.status, cause: execution.cause ?? '' };
}

/** What a person finds in CodeDeploy: the deployment's error, and the end of the log of the first script that failed. */
function failureOf({ status, errorInformation, targets }: Deployment) {
  const failures = [...targets.values()].flatMap(({ shown }) =>
    shown.lifecycleEvents.flatMap(({ diagnostics }) => diagnostics ?? []),
  );
  const log = failures[0] ? `${failures[0].message} ${failures[0].logTail}`.trim() : '';
  return { error: errorInformation?.code ?? status, cause: log || (errorInformation?.message ?? '') };
}

function told({ account, fleet }: Site, result: DeploymentResult): DeploymentResult {
  account.world.journal.record({
    type: 'deployment',
    state: result.outcome === 'succeeded' ? 'succeeded' : 'failed',
    instanceIds: fleet.instances.map(instance => instance.id),
    detail: result.error,
  });
  return result;
}
