import type { CodeDeploy } from './code-deploy.ts';
import type { Deployment, DeploymentTarget } from './code-deploy-deployment.ts';
import type { TrafficContext } from './code-deploy-traffic.ts';

/** INF: CodeDeploy publishes no polling period. */
const POLL_MS = 5000;

export interface BlueGreenSettings extends Pick<TrafficContext, 'world' | 'autoScaling' | 'loadBalancing'> {
  readonly codeDeploy: CodeDeploy;
  /** Takes some targets through their lifecycle events; false when too many have failed, or the deployment was ended. */
  readonly through: (targets: readonly DeploymentTarget[]) => Promise<boolean>;
}

/**
 * The steps of a blue/green deployment with a copied Auto Scaling group, in the guide's order: the copy is launched, installed
 * and put into traffic, then the original leaves traffic and, after a wait, is deleted. INF: the copy is attached to the target
 * groups at the end, so that CodeDeploy's AllowTraffic registers its instances.
 *
 * @returns whether all of it went well
 */
export async function runBlueGreen(settings: BlueGreenSettings, deployment: Deployment): Promise<boolean> {
  const { world, autoScaling, loadBalancing, codeDeploy, through } = settings;
  const { group } = deployment;
  const { blueGreen, autoScalingGroupNames } = group;
  const [originalName, ...others] = autoScalingGroupNames;
  if (!blueGreen || !originalName || others.length > 0)
    throw new Error('a blue/green deployment copies one Auto Scaling group');
  if (deployment.facts.autoRollback.enabled)
    throw new Error('the rollback of a blue/green deployment is not simulated');
  const blue = [...deployment.targets.values()];
  const original = autoScaling.group(originalName);
  const copy = autoScaling.copyGroup(original, `CodeDeploy_${group.deploymentGroupName}_${deployment.id}`);
  while (copy.inService.length < copy.desiredCapacity && deployment.isLive) await world.clock.sleep(POLL_MS);
  const ids = copy.inService.map(({ instanceId }) => instanceId);
  if (!deployment.isLive || !(await through(codeDeploy.addGreen(deployment, ids)))) return false;
  if (!(await through(blue))) return false;
  for (const name of group.targetGroupNames) {
    const arn = loadBalancing.groups().find(one => one.name === name)?.arn;
    if (arn) autoScaling.attachTargetGroup(copy.name, arn);
  }
  await world.clock.sleep(blueGreen.terminateAfterMinutes * 60_000);
  codeDeploy.moveGroup(group, copy.name);
  autoScaling.deleteGroup(originalName);
  return true;
}
