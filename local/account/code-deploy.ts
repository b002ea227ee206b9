import type {
  DeploymentCreator,
  DeploymentInfo,
  LifecycleEvent,
  TargetLabel,
  TargetStatus,
} from '@aws-sdk/client-codedeploy';
import * as client from '@aws-sdk/client-codedeploy';
import type { Service } from '../wire/contract.ts';
import { codeDeployOperations } from './code-deploy-operations.ts';
import type { ServiceEvent } from './neighbours.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

export interface DeploymentGroup {
  readonly id: string;
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  readonly deploymentConfigName: string;
  readonly autoScalingGroupNames: readonly string[];
  /** CodeDeploy knows target groups by name. With any, its own steps block and allow traffic. */
  readonly targetGroupNames: readonly string[];
}

export interface DeploymentTargetState {
  readonly instanceId: string;
  readonly label: TargetLabel | undefined;
  status: TargetStatus;
  updatedAt: number;
  lifecycleEvents: readonly LifecycleEvent[];
}

export type DeploymentEnd = 'Succeeded' | 'Failed' | 'Stopped';

export interface Deployment {
  readonly id: string;
  readonly group: DeploymentGroup;
  readonly creator: DeploymentCreator;
  readonly startedAt: number;
  readonly targets: ReadonlyMap<string, DeploymentTargetState>;
  /** The deployment that this one rolls back. */
  readonly rollbackOf: string | undefined;
  status: 'InProgress' | DeploymentEnd;
  endedAt: number | undefined;
  rollbackInfo: DeploymentInfo['rollbackInfo'];
}

export interface NewDeployment {
  readonly applicationName: string;
  readonly deploymentGroupName: string;
  readonly instanceIds: readonly string[];
  readonly creator?: DeploymentCreator;
  /** Blue or Green, by instance; absent in an in-place deployment. */
  readonly labels?: Readonly<Record<string, TargetLabel>>;
  readonly rollbackOf?: string;
}

const BLOCK_TRAFFIC = ['BeforeBlockTraffic', 'BlockTraffic', 'AfterBlockTraffic'];
const ALLOW_TRAFFIC = ['BeforeAllowTraffic', 'AllowTraffic', 'AfterAllowTraffic'];
const INSTALL = [
  'ApplicationStop',
  'DownloadBundle',
  'BeforeInstall',
  'Install',
  'AfterInstall',
  'ApplicationStart',
  'ValidateService',
];

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

/** CodeDeploy's deployments to EC2 instances, as its API shows them. They are started and ended from outside. */
export class CodeDeploy {
  readonly world: World;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #random;
  readonly #groups = new Map<string, DeploymentGroup>();
  readonly #deployments = new Map<string, Deployment>();

  constructor(world: World, onEvent: (event: ServiceEvent) => void) {
    this.world = world;
    this.#onEvent = onEvent;
    this.#random = world.random.fork('code-deploy');
  }

  addDeploymentGroup(spec: {
    readonly applicationName: string;
    readonly deploymentGroupName: string;
    readonly deploymentConfigName?: string;
    readonly autoScalingGroupNames?: readonly string[];
    readonly targetGroupNames?: readonly string[];
  }): DeploymentGroup {
    const group = {
      deploymentConfigName: 'CodeDeployDefault.OneAtATime',
      autoScalingGroupNames: [],
      targetGroupNames: [],
      ...spec,
      id: uuid(this.#random),
    };
    this.#groups.set(keyOf(spec.applicationName, spec.deploymentGroupName), group);
    return group;
  }

  /** Starts a deployment to the instances and answers its id. */
  startDeployment(spec: NewDeployment): string {
    const group = this.deploymentGroup(spec.applicationName, spec.deploymentGroupName);
    if (!group)
      throw new Error(`there is no deployment group ${spec.applicationName}/${spec.deploymentGroupName}`);
    const now = this.world.clock.now();
    const deployment: Deployment = {
      id: this.#deploymentId(),
      group,
      creator: spec.creator ?? (spec.rollbackOf === undefined ? 'user' : 'codeDeployRollback'),
      startedAt: now,
      targets: new Map(
        spec.instanceIds.map(instanceId => {
          const label = spec.labels?.[instanceId];
          const lifecycleEvents = lifecycleOf(group, label).map(lifecycleEventName => ({
            lifecycleEventName,
            status: 'Pending' as const,
          }));
          return [instanceId, { instanceId, label, status: 'Pending', updatedAt: now, lifecycleEvents }];
        }),
      ),
      rollbackOf: spec.rollbackOf,
      status: 'InProgress',
      endedAt: undefined,
      rollbackInfo:
        spec.rollbackOf === undefined ? undefined : { rollbackTriggeringDeploymentId: spec.rollbackOf },
    };
    if (spec.rollbackOf !== undefined) {
      const failed = this.#deployments.get(spec.rollbackOf);
      if (!failed) throw new Error(`there is no deployment ${spec.rollbackOf} to roll back`);
      failed.rollbackInfo = { rollbackDeploymentId: deployment.id };
    }
    this.#deployments.set(deployment.id, deployment);
    this.#announce(deployment, 'START');
    return deployment.id;
  }

  /** Ends a deployment, and with it every target: when it is stopped, by skipping them. */
  endDeployment(id: string, status: DeploymentEnd): void {
    const deployment = this.#deployments.get(id);
    if (deployment?.status !== 'InProgress') throw new Error(`${id} is not a deployment in progress`);
    const now = this.world.clock.now();
    for (const target of deployment.targets.values()) {
      target.status = TARGET_ENDS[status];
      target.updatedAt = now;
      const eventStatus = status === 'Succeeded' ? 'Succeeded' : 'Skipped';
      target.lifecycleEvents = target.lifecycleEvents.map(event => ({
        ...event,
        status: eventStatus,
        endTime: new Date(now),
      }));
    }
    deployment.status = status;
    deployment.endedAt = now;
    if (status !== 'Stopped')
      for (const instanceId of deployment.targets.keys())
        this.#announce(deployment, EVENT_STATES[status], { instanceId });
    this.#announce(deployment, EVENT_STATES[status]);
  }

  deployment(id: string): Deployment | undefined {
    return this.#deployments.get(id);
  }

  deploymentGroup(applicationName: string, deploymentGroupName: string): DeploymentGroup | undefined {
    return this.#groups.get(keyOf(applicationName, deploymentGroupName));
  }

  hasApplication(name: string): boolean {
    return [...this.#groups.values()].some(group => group.applicationName === name);
  }

  /** `d-` and nine capital letters and digits. */
  #deploymentId(): string {
    const draw = () => this.#random.whole(0, 35).toString(36).toUpperCase();
    return `d-${Array.from({ length: 9 }, draw).join('')}`;
  }

  #announce(deployment: Deployment, state: string, instance: { readonly instanceId?: string } = {}): void {
    const { partition, region, accountId } = this.world;
    const { id: instanceGroupId, applicationName, deploymentGroupName } = deployment.group;
    const arn = (resource: string) => `arn:${partition}:codedeploy:${region}:${accountId}:${resource}`;
    this.#onEvent({
      source: 'aws.codedeploy',
      'detail-type': `CodeDeploy ${instance.instanceId ? 'Instance' : 'Deployment'} State-change Notification`,
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
        ...instance,
      },
    });
  }
}

/** The API of CodeDeploy, as far as a fleet is found by its deployment. */
export const codeDeployService = (codeDeploy: CodeDeploy): Service => ({
  name: 'codedeploy',
  client,
  protocol: { kind: 'json', target: 'CodeDeploy_20141006', jsonVersion: '1.1' },
  operations: codeDeployOperations(codeDeploy),
});

const keyOf = (applicationName: string, deploymentGroupName: string): string =>
  `${applicationName}/${deploymentGroupName}`;

/** The guide's order. In a blue/green deployment an original instance only leaves traffic, a replacement only enters it. */
function lifecycleOf(group: DeploymentGroup, label: TargetLabel | undefined): readonly string[] {
  if (label === 'Blue') return BLOCK_TRAFFIC;
  if (label === 'Green') return [...INSTALL, ...ALLOW_TRAFFIC];
  return group.targetGroupNames.length > 0 ? [...BLOCK_TRAFFIC, ...INSTALL, ...ALLOW_TRAFFIC] : INSTALL;
}
