import type { Account } from '../account/account.ts';
import type { Instance } from '../account/neighbours.ts';
import type { Stack } from '../stack/deploy.ts';
import type { Execution } from '../states/execution.ts';
import type { Json } from '../states/json.ts';
import type { BuiltFleet } from './build-fleet.ts';
import type { Scenario } from './scenario.ts';

/** One passage of a batch through the bracket, or past it. */
export interface Batch {
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
 * An in-place deployment: batch after batch the application is stopped, installed and started again on each instance.
 * With a stack each batch passes through before-deploy and after-deploy; without one nothing protects it.
 */
export async function deploy(
  account: Account,
  fleet: BuiltFleet,
  scenario: Scenario,
  stack: Stack | undefined,
): Promise<DeploymentResult> {
  const { journal } = account.world;
  const all = fleet.instances.map(instance => instance.id);
  const batches: Batch[] = [];
  journal.record({ type: 'deployment', state: 'started', instanceIds: all, detail: '' });
  try {
    for (const [index, batch] of batchesOf(fleet.instances, scenario).entries()) {
      const instanceIds = batch.map(instance => instance.id);
      const executions: Execution[] = [];
      batches.push({ instanceIds, executions });
      const deploymentId = startCodeDeploy(account, fleet, instanceIds);
      const install = () => installOn(account, batch, scenario);
      if (stack)
        await bracketed(stack, scenario, { index, instanceIds, deploymentId, executions, account, install });
      else await install();
      account.codeDeploy.endDeployment(deploymentId, 'Succeeded');
    }
  } catch (error) {
    if (!(error instanceof BatchFailed)) throw error;
    journal.record({ type: 'deployment', state: 'failed', instanceIds: all, detail: error.error });
    return { outcome: error.outcome, error: error.error, cause: error.message, batches };
  }
  journal.record({ type: 'deployment', state: 'succeeded', instanceIds: all, detail: '' });
  return { outcome: 'succeeded', error: '', cause: '', batches };
}

function batchesOf(instances: readonly Instance[], { deployment: { batches } }: Scenario): Instance[][] {
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

const APPLICATION = { applicationName: 'shop', deploymentGroupName: 'web' };

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
  readonly index: number;
  readonly instanceIds: readonly string[];
  readonly deploymentId: string;
  readonly executions: Execution[];
  readonly account: Account;
  readonly install: () => Promise<void>;
}

async function bracketed(stack: Stack, scenario: Scenario, batch: Bracketed): Promise<void> {
  const { journal } = batch.account.world;
  const runId = `${scenario.name}-${batch.index + 1}`;
  const request = { runId, fleet: nameFleet(scenario, batch), ...scenario.deployment.request };
  const before = stack.startExecution('BeforeDeploy', { name: `before-${runId}`, input: request as Json });
  batch.executions.push(before);
  await before.ended;
  refuseUnlessSucceeded(before);
  journal.record({ type: 'deployment', state: 'go-ahead', instanceIds: batch.instanceIds, detail: runId });
  await batch.install();
  const after = stack.startExecution('AfterDeploy', { name: `after-${runId}`, input: { runId } });
  batch.executions.push(after);
  await after.ended;
  refuseUnlessSucceeded(after);
}

function nameFleet({ deployment }: Scenario, { instanceIds, deploymentId }: Bracketed): Json {
  switch (deployment.fleet) {
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

/** Stops, installs and starts; an instance that was terminated meanwhile is lost and fails the deployment. */
async function installOn(
  { world, ec2 }: Account,
  batch: readonly Instance[],
  scenario: Scenario,
): Promise<void> {
  const { clock, journal } = world;
  const instanceIds = batch.map(instance => instance.id);
  const { downSeconds, neverReady } = scenario.deployment;
  journal.record({ type: 'deployment', state: 'installing', instanceIds, detail: '' });
  for (const instance of batch) instance.application.stop();
  await clock.sleep(downSeconds * 1000);
  const left = batch.filter(instance => ec2.instance(instance.id)?.state === 'running');
  for (const instance of left) {
    instance.application.suffer(undefined);
    if (!neverReady) instance.application.start(scenario.fleet.startUpSeconds);
  }
  await clock.sleep(scenario.fleet.startUpSeconds * 1000);
  journal.record({ type: 'deployment', state: 'installed', instanceIds, detail: '' });
  const lost = batch.length - left.length;
  if (lost > 0)
    throw new BatchFailed(
      'failed',
      'InstanceLost',
      `${lost} instances were terminated while they were deployed to.`,
    );
}
