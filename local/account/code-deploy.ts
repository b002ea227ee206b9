import type {
  DeploymentCreator,
  LifecycleEventStatus,
  TargetLabel,
  TargetStatus,
} from '@aws-sdk/client-codedeploy';
import * as client from '@aws-sdk/client-codedeploy';
import type { Service } from '../wire/contract.ts';
import { codeDeployActs, type Deployer } from './code-deploy-acts.ts';
import type { Revision } from './code-deploy-agent.ts';
import { type DeploymentConfig, predefinedConfigs } from './code-deploy-configs.ts';
import {
  type AutoRollback,
  Deployment,
  type DeploymentEnd,
  type DeploymentGroup,
  DeploymentTarget,
} from './code-deploy-deployment.ts';
import { lifecycleOf } from './code-deploy-lifecycle.ts';
import { LifecycleEventHooks } from './code-deploy-lifecycle-hooks.ts';
import { codeDeployOperations } from './code-deploy-operations.ts';
import type { ServiceEvent } from './neighbours.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

export interface NewDeploymentGroup {
  /** `Server`, which is EC2, unless given. */
  readonly computePlatform?: DeploymentGroup['computePlatform'];
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  readonly deploymentConfigName?: string;
  readonly autoScalingGroupNames?: readonly string[];
  readonly targetGroupNames?: readonly string[];
  readonly instanceTags?: Readonly<Record<string, string>>;
  readonly autoRollback?: AutoRollback;
  readonly blueGreen?: { readonly terminateAfterMinutes: number };
}

export interface NewDeployment {
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  readonly instanceIds: readonly string[];
  readonly creator?: DeploymentCreator;
  /** Blue or Green, by instance; absent in an in-place deployment. */
  readonly labels?: Readonly<Record<string, TargetLabel>>;
  readonly rollbackOf?: string;
  readonly revision?: Revision;
  readonly previousRevision?: Revision;
  readonly deploymentConfigName?: string;
  readonly ignoreApplicationStopFailures?: boolean;
  readonly autoRollback?: AutoRollback;
}

const EVENT_STATES: Record<DeploymentEnd, string> = {
  Succeeded: 'SUCCESS',
  Failed: 'FAILURE',
  Stopped: 'STOP',
};
const TARGET_ENDS: Record<DeploymentEnd, TargetStatus> = {
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Stopped: 'Skipped',
};
const EVENT_ENDS: Record<DeploymentEnd, LifecycleEventStatus> = {
  Succeeded: 'Succeeded',
  Failed: 'Skipped',
  Stopped: 'Skipped',
};

/**
 * What CodeDeploy knows: applications' groups, configurations, revisions and deployments.
 *
 * A deployment is carried out by a `Deployer`, or by somebody who calls `startDeployment` and `endDeployment`.
 */
export class CodeDeploy {
  readonly world: World;
  readonly lifecycleEventHooks: LifecycleEventHooks;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #random;
  readonly #groups = new Map<string, DeploymentGroup>();
  readonly #deployments = new Map<string, Deployment>();
  readonly #configs = new Map<string, DeploymentConfig>();
  readonly #revisions = new Map<string, Revision>();
  #deployer: Deployer | undefined;

  constructor(world: World, onEvent: (event: ServiceEvent) => void) {
    this.world = world;
    this.#onEvent = onEvent;
    this.#random = world.random.fork('code-deploy');
    this.lifecycleEventHooks = new LifecycleEventHooks(this);
    for (const config of predefinedConfigs()) this.#configs.set(config.name, config);
  }

  addDeploymentGroup(spec: NewDeploymentGroup): DeploymentGroup {
    const group: DeploymentGroup = {
      computePlatform: 'Server',
      deploymentConfigName: 'CodeDeployDefault.OneAtATime',
      autoScalingGroupNames: [],
      targetGroupNames: [],
      instanceTags: {},
      autoRollback: { enabled: false, events: [] },
      blueGreen: undefined,
      ...spec,
      id: uuid(this.#random),
    };
    this.#groups.set(keyOf(spec.applicationName, spec.deploymentGroupName), group);
    this.#deployer?.adopt(group);
    return group;
  }

  addDeploymentConfig(
    name: string,
    minimumHealthyHosts: DeploymentConfig['minimumHealthyHosts'],
  ): DeploymentConfig {
    const config = { name, minimumHealthyHosts, createdAt: this.world.clock.now() };
    this.#configs.set(name, config);
    return config;
  }

  /** A revision that CreateDeployment may name by its bucket and key. */
  addRevision(revision: Revision): void {
    this.#revisions.set(keyOf(revision.bucket, revision.key), revision);
  }

  /** From now on CreateDeployment and StopDeployment work, by what `deployer` does. */
  carriedOutBy(deployer: Deployer): void {
    this.#deployer = deployer;
    for (const group of this.#groups.values()) deployer.adopt(group);
  }

  get deployer(): Deployer | undefined {
    return this.#deployer;
  }

  /** Starts a deployment to the instances and answers its id. */
  startDeployment(spec: NewDeployment): string {
    return this.begin(spec).id;
  }

  begin(spec: NewDeployment): Deployment {
    const group = this.deploymentGroup(spec.applicationName, spec.deploymentGroupName);
    if (!group)
      throw new Error(`there is no deployment group ${spec.applicationName}/${spec.deploymentGroupName}`);
    const shownWith = this.#shownWith();
    const targets = spec.instanceIds.map(id => [id, this.#target(group, id, spec.labels?.[id])] as const);
    const deployment = new Deployment(
      {
        id: this.#deploymentId(),
        group,
        creator: spec.creator ?? (spec.rollbackOf === undefined ? 'user' : 'codeDeployRollback'),
        deploymentConfigName: spec.deploymentConfigName ?? group.deploymentConfigName,
        revision: spec.revision,
        previousRevision: spec.previousRevision,
        ignoreApplicationStopFailures: spec.ignoreApplicationStopFailures ?? false,
        autoRollback: spec.autoRollback ?? group.autoRollback,
        targets: new Map(targets),
        rollbackOf: spec.rollbackOf,
      },
      shownWith,
    );
    if (spec.rollbackOf !== undefined) {
      const failed = this.#deployments.get(spec.rollbackOf);
      if (!failed) throw new Error(`there is no deployment ${spec.rollbackOf} to roll back`);
      failed.rollbackInfo = { rollbackDeploymentId: deployment.id };
    }
    this.#deployments.set(deployment.id, deployment);
    this.announce(deployment, 'START');
    return deployment;
  }

  /** The instances of the copied group, which a blue/green deployment has only after it has begun. */
  addGreen(deployment: Deployment, instanceIds: readonly string[]): readonly DeploymentTarget[] {
    const targets = instanceIds.map(id => this.#target(deployment.group, id, 'Green'));
    for (const target of targets) deployment.add(target);
    return targets;
  }

  /** From the end of a blue/green deployment on, the group deploys to the copy of its Auto Scaling group. */
  moveGroup(group: DeploymentGroup, autoScalingGroupName: string): void {
    const moved = { ...group, autoScalingGroupNames: [autoScalingGroupName] };
    this.#groups.set(keyOf(group.applicationName, group.deploymentGroupName), moved);
    this.#deployer?.adopt(moved);
  }

  #target(group: DeploymentGroup, instanceId: string, label: TargetLabel | undefined): DeploymentTarget {
    return new DeploymentTarget(instanceId, label, lifecycleOf(group, label), this.#shownWith());
  }

  #shownWith() {
    const { clock, physics } = this.world;
    return { clock, lagMs: physics.deploymentStatusLagSeconds * 1000 };
  }

  /** Ends a deployment, and with it every target: when it is stopped, by skipping them. */
  endDeployment(id: string, status: DeploymentEnd): void {
    const deployment = this.#deployments.get(id);
    if (!deployment?.isLive) throw new Error(`${id} is not a deployment in progress`);
    for (const target of deployment.targets.values()) {
      target.end(TARGET_ENDS[status], EVENT_ENDS[status]);
      const isInstance = deployment.group.computePlatform === 'Server';
      if (status !== 'Stopped' && isInstance) this.announce(deployment, EVENT_STATES[status], target);
    }
    deployment.end(status);
    this.announce(deployment, EVENT_STATES[status]);
  }

  deployment(id: string): Deployment | undefined {
    return this.#deployments.get(id);
  }

  deployments(): Iterable<Deployment> {
    return this.#deployments.values();
  }

  deploymentGroup(applicationName: string, deploymentGroupName: string): DeploymentGroup | undefined {
    return this.#groups.get(keyOf(applicationName, deploymentGroupName));
  }

  deploymentsOf(group: DeploymentGroup): readonly Deployment[] {
    return [...this.#deployments.values()].filter(deployment => deployment.group.id === group.id);
  }

  hasApplication(name: string): boolean {
    return [...this.#groups.values()].some(group => group.applicationName === name);
  }

  config(name: string): DeploymentConfig | undefined {
    return this.#configs.get(name);
  }

  revision(bucket: string, key: string): Revision | undefined {
    return this.#revisions.get(keyOf(bucket, key));
  }

  /** Tells the event bus about a deployment, or about one instance of it. `state` is START, SUCCESS, FAILURE or STOP. */
  announce(deployment: Deployment, state: string, target?: DeploymentTarget): void {
    const { partition, region, accountId } = this.world;
    const { id: instanceGroupId, applicationName, deploymentGroupName } = deployment.group;
    const arn = (resource: string) => `arn:${partition}:codedeploy:${region}:${accountId}:${resource}`;
    this.#onEvent({
      source: 'aws.codedeploy',
      'detail-type': `CodeDeploy ${target ? 'Instance' : 'Deployment'} State-change Notification`,
      resources: [
        arn(`deploymentgroup:${applicationName}/${deploymentGroupName}`),
        arn(`application:${applicationName}`),
      ],
      detail: {
        region,
        deploymentId: deployment.id,
        instanceGroupId,
        deploymentGroup: deploymentGroupName,
        application: applicationName,
        state,
        ...(target && { instanceId: target.instanceId }),
      },
    });
  }

  /** `d-` and nine capital letters and digits. */
  #deploymentId(): string {
    const draw = () => this.#random.whole(0, 35).toString(36).toUpperCase();
    return `d-${Array.from({ length: 9 }, draw).join('')}`;
  }
}

/** The API of CodeDeploy, as far as deployments to EC2 instances and hooks of others go. */
export const codeDeployService = (codeDeploy: CodeDeploy): Service => ({
  name: 'codedeploy',
  client,
  protocol: { kind: 'json', target: 'CodeDeploy_20141006', jsonVersion: '1.1' },
  operations: { ...codeDeployOperations(codeDeploy), ...codeDeployActs(codeDeploy) },
});

const keyOf = (owner: string, name: string): string => `${owner}/${name}`;
