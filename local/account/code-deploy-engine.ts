import type { ErrorInformation } from '@aws-sdk/client-codedeploy';
import { ServiceError } from '../wire/contract.ts';
import type { CodeDeploy, NewDeployment } from './code-deploy.ts';
import type { Deployer, DeploymentRequest } from './code-deploy-acts.ts';
import type { DeploymentAgent, Revision } from './code-deploy-agent.ts';
import { runBlueGreen } from './code-deploy-blue-green.ts';
import { healthyFloor } from './code-deploy-configs.ts';
import type { Deployment, DeploymentGroup, DeploymentTarget } from './code-deploy-deployment.ts';
import { Launches } from './code-deploy-launches.ts';
import { runTarget, type TargetRunContext } from './code-deploy-target-run.ts';
import { DeploymentTraffic, type TrafficContext } from './code-deploy-traffic.ts';
import { runWaves } from './code-deploy-waves.ts';
import type { Instance, ServiceEvent } from './neighbours.ts';

/** The guide: an in-place deployment ends after 12 hours. */
const LONGEST_DEPLOYMENT_MS = 12 * 3_600_000;
/** INF: how soon after a launch CodeDeploy sees that the instance got a revision that is no longer the last. */
const UPDATE_AFTER_LAUNCH_MS = 60_000;

export interface EngineContext extends TrafficContext {
  readonly codeDeploy: CodeDeploy;
  readonly agent: DeploymentAgent;
  readonly onEvent: (hear: (event: ServiceEvent) => void) => void;
}

/** What of the deployment group's past decides about its next deployment. */
interface Past {
  lastSuccessful: Revision | undefined;
  /** By instance: what was last deployed to it. */
  readonly deployed: Map<string, { readonly revision: Revision; readonly failed: boolean }>;
}

/**
 * Carries CodeDeploy's deployments out: in-place and blue/green ones, rollbacks, and those to instances that are launched.
 */
export class CodeDeployEngine implements Deployer {
  readonly #context: EngineContext;
  readonly #targetRuns: TargetRunContext;
  readonly #launches: Launches;
  readonly #pasts = new Map<string, Past>();
  readonly #ended = new Map<string, Promise<Deployment>>();

  /** From its creation on, the account's CreateDeployment and StopDeployment work. */
  constructor(context: EngineContext) {
    this.#context = context;
    this.#targetRuns = { ...context, traffic: new DeploymentTraffic(context) };
    this.#launches = new Launches({
      ...context,
      deployTo: (group, instanceId) => this.#deployToLaunched(group, instanceId),
    });
    context.codeDeploy.carriedOutBy(this);
  }

  adopt(group: DeploymentGroup): void {
    if (group.autoScalingGroupNames.length > 0) this.#launches.install(group);
  }

  /**
   * Begins a deployment to all instances of its group.
   *
   * @throws ServiceError DeploymentLimitExceededException while another deployment of the group is live
   */
  create(request: DeploymentRequest): Deployment {
    const group = this.#context.codeDeploy.deploymentGroup(
      request.applicationName,
      request.deploymentGroupName,
    );
    if (!group)
      throw new Error(
        `there is no deployment group ${request.applicationName}/${request.deploymentGroupName}`,
      );
    const live = this.#live(group);
    if (live)
      throw new ServiceError(
        'DeploymentLimitExceededException',
        `The Deployment Group '${group.deploymentGroupName}' already has an active Deployment '${live.id}'`,
      );
    const { revision, deploymentConfigName, ignoreApplicationStopFailures, autoRollback } = request;
    const fleet = this.#fleetOf(group);
    const labels = Object.fromEntries(fleet.map(id => [id, 'Blue'] as const));
    return this.#begin(group, revision, fleet, {
      ...(group.blueGreen && { labels }),
      ...(deploymentConfigName && { deploymentConfigName }),
      ...(ignoreApplicationStopFailures && { ignoreApplicationStopFailures }),
      ...(autoRollback && { autoRollback }),
    });
  }

  stop(deployment: Deployment, rollBack: boolean): 'Pending' | 'Succeeded' {
    const targets = [...deployment.targets.values()];
    const running = targets.some(target => target.isRunningAnEvent);
    for (const target of targets) if (target.status === 'Pending') target.end('Skipped');
    this.#end(deployment, 'Stopped');
    // The guide speaks of a rollback once the deployment has stopped: scripts that still run come first.
    if (rollBack) this.#unattended(this.ended(deployment.id).then(() => this.#rollBack(deployment)));
    return running ? 'Pending' : 'Succeeded';
  }

  /** Resolves when the deployment has ended and none of its scripts runs any more. */
  ended(deploymentId: string): Promise<Deployment> {
    const ended = this.#ended.get(deploymentId);
    if (!ended) throw new Error(`the engine has begun no deployment ${deploymentId}`);
    return ended;
  }

  /** Names what runs on instances already, as if it had been deployed with success long ago. */
  settle(group: DeploymentGroup, revision: Revision, instanceIds: readonly string[]): void {
    const past = this.#pastOf(group);
    past.lastSuccessful = revision;
    for (const id of instanceIds) past.deployed.set(id, { revision, failed: false });
  }

  #begin(
    group: DeploymentGroup,
    revision: Revision,
    instanceIds: readonly string[],
    more: Partial<NewDeployment>,
  ): Deployment {
    const { lastSuccessful } = this.#pastOf(group);
    const deployment = this.#context.codeDeploy.begin({
      applicationName: group.applicationName,
      deploymentGroupName: group.deploymentGroupName,
      instanceIds,
      revision,
      ...(lastSuccessful && { previousRevision: lastSuccessful }),
      ...more,
    });
    const ended = this.#run(deployment, revision).then(() => deployment);
    this.#ended.set(deployment.id, ended);
    this.#unattended(ended);
    return deployment;
  }

  async #run(deployment: Deployment, revision: Revision): Promise<void> {
    const { clock } = this.#context.world;
    const targets = [...deployment.targets.values()];
    if (this.#floorOf(deployment, targets) === undefined)
      return this.#fail(deployment, {
        code: 'HEALTH_CONSTRAINTS_INVALID',
        message:
          'The deployment cannot begin: the minimum number of healthy instances leaves none to deploy to.',
      });
    if (targets.length === 0)
      return this.#fail(deployment, {
        code: 'NO_INSTANCES',
        message: 'The deployment failed because no instances were found for the deployment group.',
      });
    const limit = clock.after(LONGEST_DEPLOYMENT_MS, () => {
      if (deployment.isLive) this.#end(deployment, 'Failed', TIMED_OUT);
    });
    const through = (some: readonly DeploymentTarget[]) => this.#through(deployment, some, revision);
    const isBlueGreen = targets.some(({ label }) => label !== undefined);
    const passed = isBlueGreen
      ? await runBlueGreen({ ...this.#context, through }, deployment)
      : await through(targets);
    limit.cancel();
    if (!deployment.isLive) {
      this.#skipLeft(deployment);
      if (deployment.status === 'Failed') this.#rollBackFailed(deployment);
    } else if (passed) {
      this.#pastOf(deployment.group).lastSuccessful = revision;
      this.#end(deployment, 'Succeeded');
      const { applicationName, deploymentGroupName } = deployment.group;
      // A blue/green deployment has moved it.
      const group = this.#context.codeDeploy.deploymentGroup(applicationName, deploymentGroupName);
      if (group) this.#updateOutdated(group);
    } else this.#fail(deployment, TOO_MANY_FAILED);
  }

  /** @returns whether enough of them have succeeded, and none is left */
  async #through(
    deployment: Deployment,
    targets: readonly DeploymentTarget[],
    revision: Revision,
  ): Promise<boolean> {
    const past = this.#pastOf(deployment.group);
    // The guide: blue instances have to leave traffic, every one; the healthy minimum is of the green ones.
    const isBlue = targets.some(({ label }) => label === 'Blue');
    const floor = isBlue ? 0 : (this.#floorOf(deployment, targets) ?? 0);
    const left = await runWaves({
      targets,
      floor,
      isUnhealthy: target => past.deployed.get(target.instanceId)?.failed ?? false,
      isLive: () => deployment.isLive,
      run: target => this.#runTarget(deployment, target, revision),
    });
    const succeeded = targets.filter(target => target.status === 'Succeeded').length;
    return left.length === 0 && succeeded >= Math.max(1, isBlue ? targets.length : floor);
  }

  async #runTarget(deployment: Deployment, target: DeploymentTarget, revision: Revision): Promise<void> {
    const { codeDeploy } = this.#context;
    codeDeploy.announce(deployment, 'START', target);
    await runTarget(this.#targetRuns, deployment, target, revision);
    if (target.status === 'Skipped') return;
    const failed = target.status === 'Failed';
    this.#pastOf(deployment.group).deployed.set(target.instanceId, { revision, failed });
    codeDeploy.announce(deployment, failed ? 'FAILURE' : 'SUCCESS', target);
  }

  /** Of a launch, nothing has to stay healthy. */
  #floorOf({ facts }: Deployment, targets: readonly DeploymentTarget[]): number | undefined {
    const { creator, deploymentConfigName } = facts;
    if (creator === 'autoscaling') return 0;
    const config = this.#context.codeDeploy.config(deploymentConfigName);
    if (!config) throw new Error(`there is no deployment configuration ${deploymentConfigName}`);
    return targets.length === 0 ? 0 : healthyFloor(config, targets.length);
  }

  #skipLeft(deployment: Deployment): void {
    for (const target of deployment.targets.values()) if (target.status === 'Pending') target.end('Skipped');
  }

  #fail(deployment: Deployment, why: ErrorInformation): void {
    this.#skipLeft(deployment);
    this.#end(deployment, 'Failed', why);
    this.#rollBackFailed(deployment);
  }

  #end(deployment: Deployment, status: 'Succeeded' | 'Failed' | 'Stopped', why?: ErrorInformation): void {
    deployment.end(status, why);
    this.#context.codeDeploy.announce(deployment, STATES[status]);
  }

  #rollBackFailed(deployment: Deployment): void {
    const { autoRollback, creator } = deployment.facts;
    const wanted = autoRollback.enabled && autoRollback.events.includes('DEPLOYMENT_FAILURE');
    // A launch is abandoned instead, and a rollback that fails is the end of it.
    if (wanted && creator === 'user') this.#rollBack(deployment);
  }

  /** The guide: a rollback is a new deployment of the last revision that was deployed with success. */
  #rollBack(deployment: Deployment): void {
    const { previousRevision, group } = deployment.facts;
    if (!previousRevision) {
      deployment.rollbackInfo = { rollbackMessage: 'No last successful revision was found to roll back to.' };
      return;
    }
    const live = new Set(this.#fleetOf(group));
    const instanceIds = [...deployment.targets.keys()].filter(id => live.has(id));
    this.#begin(group, previousRevision, instanceIds, {
      rollbackOf: deployment.id,
      deploymentConfigName: deployment.facts.deploymentConfigName,
    });
  }

  #deployToLaunched(group: DeploymentGroup, instanceId: string): Promise<Deployment> | undefined {
    const { lastSuccessful } = this.#pastOf(group);
    if (!lastSuccessful) return undefined;
    const { id } = this.#begin(group, lastSuccessful, [instanceId], { creator: 'autoscaling' });
    this.#context.world.clock.after(0, () =>
      this.#unattended(this.ended(id).then(() => this.#updateLater(group))),
    );
    return this.ended(id);
  }

  async #updateLater(group: DeploymentGroup): Promise<void> {
    await this.#context.world.clock.sleep(UPDATE_AFTER_LAUNCH_MS);
    this.#updateOutdated(group);
  }

  /** An instance that was launched during a deployment got the revision before: it is deployed to once more. */
  #updateOutdated(group: DeploymentGroup): void {
    const { lastSuccessful, deployed } = this.#pastOf(group);
    if (!lastSuccessful || this.#live(group)) return;
    const outdated = this.#fleetOf(group).filter(id => {
      const last = deployed.get(id);
      return last && !last.failed && last.revision !== lastSuccessful;
    });
    if (outdated.length > 0)
      this.#begin(group, lastSuccessful, outdated, { creator: 'CodeDeployAutoUpdate' });
  }

  #live(group: DeploymentGroup): Deployment | undefined {
    return this.#context.codeDeploy
      .deploymentsOf(group)
      .find(deployment => deployment.isLive && deployment.facts.creator !== 'autoscaling');
  }

  /** Members that are in service or in Standby, and other instances that run and have the group's tags. */
  #fleetOf({ autoScalingGroupNames, instanceTags }: DeploymentGroup): readonly string[] {
    const { autoScaling, instances } = this.#context;
    const members = autoScalingGroupNames.flatMap(name =>
      [...autoScaling.group(name).members.values()]
        .filter(({ lifecycle }) => lifecycle === 'InService' || lifecycle === 'Standby')
        .map(({ instanceId }) => instanceId),
    );
    const wanted = Object.entries(instanceTags);
    const isTagged = ({ state, tags }: Instance) =>
      state === 'running' && wanted.every(([key, value]) => tags.get(key) === value);
    const tagged = wanted.length === 0 ? [] : [...instances.live()].filter(isTagged).map(({ id }) => id);
    return [...new Set([...members, ...tagged])];
  }

  #pastOf({ id }: DeploymentGroup): Past {
    const known = this.#pasts.get(id);
    if (known) return known;
    const past: Past = { lastSuccessful: undefined, deployed: new Map() };
    this.#pasts.set(id, past);
    return past;
  }

  #unattended(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#context.world.clock.fail(error));
  }
}

const STATES = { Succeeded: 'SUCCESS', Failed: 'FAILURE', Stopped: 'STOP' } as const;

const TOO_MANY_FAILED: ErrorInformation = {
  code: 'HEALTH_CONSTRAINTS',
  message:
    'The overall deployment failed because too many individual instances failed deployment, too few healthy instances are available for deployment, or some instances in your deployment group are experiencing problems.',
};

const TIMED_OUT: ErrorInformation = {
  code: 'TIMEOUT',
  message: 'The deployment did not end within the 12 hours that an in-place deployment may take.',
};
