import type { Account } from '../account/account.ts';
import type { Instance } from '../account/neighbours.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Execution } from '../states/execution.ts';
import type { Json } from '../states/json.ts';
import { adopt } from './adoption.ts';
import type { BuiltFleet } from './build-fleet.ts';
import { deployThroughCodeDeploy } from './code-deploy-deployment.ts';
import { retire } from './retirement.ts';
import type { DeploymentSpec, Scenario } from './scenario.ts';

/** One passage of a batch through the bracket, or past it. */
export interface Batch {
  readonly runId: string;
  readonly instanceIds: readonly string[];
  /** The executions of before-deploy and after-deploy; empty without Quiesce. */
  readonly executions: readonly Execution[];
}

export interface DeploymentResult {
  readonly outcome: 'succeeded' | 'refused' | 'failed';
  /** The named error and its sentence; empty when it succeeded. */
  readonly error: string;
  readonly cause: string;
  readonly batches: readonly Batch[];
}

/** Where a deployment takes place. */
export interface Site {
  readonly account: Account;
  readonly fleet: BuiltFleet;
  readonly scenario: Scenario;
  /** Undefined without Quiesce. */
  readonly stack: Stack | undefined;
}

export interface NamedDeployment {
  /** The first part of its runs' ids. */
  readonly name: string;
  readonly spec: DeploymentSpec;
}

/** A batch did not go through. */
class BatchFailed extends Error {
  readonly outcome: 'refused' | 'failed';
  readonly error: string;

  constructor(outcome: 'refused' | 'failed', error: string, cause: string) {
    super(cause);
    this.outcome = outcome;
    this.error = error;
  }
}

/**
 * An in-place deployment, unless the adoption or retirement of a check: batch after batch the application is stopped, installed and started again on each instance.
 * With a stack each batch passes through before-deploy and after-deploy; without one nothing protects it.
 */
export async function deploy(site: Site, { name, spec }: NamedDeployment): Promise<DeploymentResult> {
  if (spec.idleMinutes !== undefined) return leaveAlone(site, spec.idleMinutes);
  if (spec.adopt) return adopt(site, name, spec.adopt);
  if (spec.retire) return retire(site, name, spec.retire);
  if (spec.through === 'codedeploy') return deployThroughCodeDeploy(site, { name, spec });
  const { account, fleet, stack } = site;
  const { journal } = account.world;
  const instances = chosen(fleet, spec);
  const all = instances.map(instance => instance.id);
  const batches: Batch[] = [];
  journal.record({ type: 'deployment', state: 'started', instanceIds: all, detail: '' });
  try {
    for (const [index, batch] of batchesOf(instances, spec).entries()) {
      const instanceIds = batch.map(instance => instance.id);
      const runId = `${name}-${index + 1}`;
      journal.record({ type: 'deployment', state: 'batch', instanceIds, detail: runId });
      const executions: Execution[] = [];
      batches.push({ runId, instanceIds, executions });
      const deploymentId = startCodeDeploy(account, fleet, instanceIds);
      const install = () => installOn(site, runId, batch, spec);
      let status: 'Succeeded' | 'Failed' = 'Failed';
      try {
        if (stack)
          await bracketed(stack, spec, { runId, instanceIds, deploymentId, executions, account, install });
        else await install();
        status = 'Succeeded';
      } finally {
        account.codeDeploy.endDeployment(deploymentId, status);
      }
    }
  } catch (error) {
    if (!(error instanceof BatchFailed)) throw error;
    journal.record({ type: 'deployment', state: 'failed', instanceIds: all, detail: error.error });
    return { outcome: error.outcome, error: error.error, cause: error.message, batches };
  }
  journal.record({ type: 'deployment', state: 'succeeded', instanceIds: all, detail: '' });
  return { outcome: 'succeeded', error: '', cause: '', batches };
}

/** What happens meanwhile is up to the scenario's events. */
async function leaveAlone({ account: { world } }: Site, minutes: number): Promise<DeploymentResult> {
  await world.clock.sleep(minutes * 60_000);
  return { outcome: 'succeeded', error: '', cause: '', batches: [] };
}

function chosen({ instances }: BuiltFleet, { instances: numbers }: DeploymentSpec): readonly Instance[] {
  if (!numbers) return instances;
  return numbers.map(number => {
    const instance = instances[number];
    if (!instance) throw new Error(`the fleet has no instance number ${number}`);
    return instance;
  });
}

function batchesOf(instances: readonly Instance[], { batches = 'half' }: DeploymentSpec): Instance[][] {
  const size =
    batches === 'all'
      ? instances.length
      : batches === 'half'
        ? Math.ceil(instances.length / 2)
        : batches === 'one-at-a-time'
          ? 1
          : batches;
  const cut: Instance[][] = [];
  for (let from = 0; from < instances.length; from += size) cut.push(instances.slice(from, from + size));
  return cut;
}

/** Beside the group that CodeDeploy itself deploys to: a group has one deployment at a time. */
const APPLICATION = { applicationName: 'shop', deploymentGroupName: 'by-hand' };

function startCodeDeploy(account: Account, fleet: BuiltFleet, instanceIds: readonly string[]): string {
  const { codeDeploy } = account;
  if (!codeDeploy.deploymentGroup(APPLICATION.applicationName, APPLICATION.deploymentGroupName))
    codeDeploy.addDeploymentGroup({
      ...APPLICATION,
      autoScalingGroupNames: fleet.groupName ? [fleet.groupName] : [],
    });
  return codeDeploy.startDeployment({ ...APPLICATION, instanceIds });
}

interface Bracketed {
  readonly runId: string;
  readonly instanceIds: readonly string[];
  readonly deploymentId: string;
  readonly executions: Execution[];
  readonly account: Account;
  readonly install: () => Promise<void>;
}

async function bracketed(stack: Stack, spec: DeploymentSpec, batch: Bracketed): Promise<void> {
  const { journal } = batch.account.world;
  const { runId } = batch;
  const request = { runId, fleet: nameFleet(spec, batch), ...spec.request };
  const before = stack.startExecution('BeforeDeploy', { name: `before-${runId}`, input: request as Json });
  batch.executions.push(before);
  await before.ended;
  refuseUnlessSucceeded(before);
  journal.record({ type: 'deployment', state: 'go-ahead', instanceIds: batch.instanceIds, detail: runId });
  const installed = await batch.install().catch(failedBatch);
  const asked = { runId, ...(spec.promotes && { promoteCheckIds: excludedChecks(batch.account) }) };
  const after = stack.startExecution('AfterDeploy', { name: `after-${runId}`, input: asked });
  batch.executions.push(after);
  await after.ended;
  if (installed) throw installed;
  refuseUnlessSucceeded(after);
}

const excludedChecks = ({ checks }: Account): string[] =>
  checks.registry
    .active()
    .filter(({ settings }) => settings.aggregation === 'excluded')
    .map(({ id }) => id);

/** A pipeline closes the bracket also when the deployment has failed. */
function failedBatch(error: unknown): BatchFailed {
  if (error instanceof BatchFailed) return error;
  throw error;
}

function nameFleet({ fleet }: DeploymentSpec, { instanceIds, deploymentId }: Bracketed): Json {
  switch (fleet) {
    case 'instanceIds':
      return { instanceIds: [...instanceIds] };
    case 'autoScalingGroupName':
      return { autoScalingGroupName: 'web' };
    case 'codeDeployDeploymentId':
      return { codeDeployDeploymentId: deploymentId };
    case 'tag':
      return { tag: { key: 'quiesce', value: 'enabled' } };
  }
}

/** A run that ends before its go-ahead was refused; one that ends after it has failed. */
function refuseUnlessSucceeded(execution: Execution): void {
  if (execution.status === 'SUCCEEDED') return;
  const outcome = execution.machine.name.includes('BeforeDeploy') ? 'refused' : 'failed';
  throw new BatchFailed(outcome, execution.error ?? execution.status, execution.cause ?? '');
}

/**
 * Stops, installs and starts. An instance that Auto Scaling has terminated meanwhile is lost, and fails the deployment; one
 * that a person has terminated is not missed.
 */
async function installOn(
  { account: { world, ec2 }, fleet, scenario }: Site,
  runId: string,
  batch: readonly Instance[],
  { downSeconds, neverReady }: DeploymentSpec,
): Promise<void> {
  const { clock, journal } = world;
  const instanceIds = batch.map(instance => instance.id);
  journal.record({ type: 'deployment', state: 'installing', instanceIds, detail: runId });
  for (const instance of batch) instance.application.stop();
  await clock.sleep(downSeconds * 1000);
  const left = batch.filter(instance => ec2.instance(instance.id)?.state === 'running');
  for (const instance of left) {
    instance.application.suffer(undefined);
    if (!neverReady) instance.application.start(scenario.fleet.startUpSeconds);
  }
  await clock.sleep(scenario.fleet.startUpSeconds * 1000);
  journal.record({ type: 'deployment', state: 'installed', instanceIds, detail: runId });
  const ended = new Set(
    scenario.events
      .filter(event => event.do === 'terminate-instance')
      .map(event => fleet.instances[event.instance]),
  );
  const lost = batch.filter(instance => !left.includes(instance) && !ended.has(instance)).length;
  if (lost > 0)
    throw new BatchFailed(
      'failed',
      'InstanceLost',
      `${lost} instances were terminated while they were deployed to.`,
    );
}
