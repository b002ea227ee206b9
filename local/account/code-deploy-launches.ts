import type { AutoScaling } from './auto-scaling.ts';
import type { Deployment, DeploymentGroup } from './code-deploy-deployment.ts';
import type { ServiceEvent } from './neighbours.ts';
import type { World } from './world.ts';

/** The guide: CodeDeploy sends a heartbeat every five minutes. INF: the heartbeat timeout of its hook. */
const HEARTBEAT_MS = 300_000;
const HEARTBEAT_TIMEOUT_SECONDS = 600;

export interface LaunchesContext {
  readonly world: World;
  readonly autoScaling: AutoScaling;
  readonly onEvent: (hear: (event: ServiceEvent) => void) => void;
  /** Deploys the group's last successful revision; undefined when there is none. Resolves when it has ended. */
  readonly deployTo: (group: DeploymentGroup, instanceId: string) => Promise<Deployment> | undefined;
}

/**
 * CodeDeploy's own launch hooks: an instance that an Auto Scaling group launches is deployed to before it enters service,
 * and its launch is abandoned when that fails.
 */
export class Launches {
  readonly #context: LaunchesContext;
  readonly #groups = new Map<string, DeploymentGroup>();

  constructor(context: LaunchesContext) {
    this.#context = context;
    context.onEvent(event => {
      if (event['detail-type'] !== 'EC2 Instance-launch Lifecycle Action') return;
      const { LifecycleHookName: hook, AutoScalingGroupName: name, EC2InstanceId: id } = event.detail;
      const group = this.#groups.get(String(hook));
      if (!group) return;
      const launch = {
        group,
        hookName: String(hook),
        autoScalingGroup: String(name),
        instanceId: String(id),
      };
      this.#deploy(launch).catch((error: unknown) => context.world.clock.fail(error));
    });
  }

  /** Installs the hook in the deployment group's Auto Scaling groups. */
  install(group: DeploymentGroup): void {
    const { autoScaling } = this.#context;
    const hookName = `CodeDeploy-managed-automatic-launch-deployment-hook-${group.deploymentGroupName}-${group.id}`;
    this.#groups.set(hookName, group);
    for (const name of group.autoScalingGroupNames)
      autoScaling.hooks.put(autoScaling.group(name), hookName, {
        transition: 'autoscaling:EC2_INSTANCE_LAUNCHING',
        heartbeatTimeoutSeconds: HEARTBEAT_TIMEOUT_SECONDS,
        defaultResult: 'ABANDON',
      });
  }

  async #deploy({ group, hookName, autoScalingGroup, instanceId }: Launch): Promise<void> {
    const { world, autoScaling, deployTo } = this.#context;
    const launching = autoScaling.group(autoScalingGroup);
    const action = { hookName, instanceId, token: undefined };
    const beats = world.clock.every(HEARTBEAT_MS, () => autoScaling.hooks.heartbeat(launching, action));
    const ended = await deployTo(group, instanceId);
    beats.cancel();
    const isWaiting = autoScaling.memberOf(instanceId)?.member.lifecycle === 'Pending:Wait';
    if (isWaiting)
      autoScaling.hooks.complete(launching, action, ended?.status === 'Failed' ? 'ABANDON' : 'CONTINUE');
  }
}

interface Launch {
  readonly group: DeploymentGroup;
  readonly hookName: string;
  readonly autoScalingGroup: string;
  readonly instanceId: string;
}
