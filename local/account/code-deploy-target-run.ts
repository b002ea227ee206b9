import { type DeploymentAgent, type EventOutcome, type Revision, unknownError } from './code-deploy-agent.ts';
import type { Deployment, DeploymentTarget } from './code-deploy-deployment.ts';
import { isOfThePreviousRevision } from './code-deploy-lifecycle.ts';
import type { DeploymentTraffic } from './code-deploy-traffic.ts';
import type { Instances } from './neighbours.ts';
import type { World } from './world.ts';

/** The agent asks for its next command every second (its setting `wait_between_runs`). */
const BETWEEN_EVENTS_MS = 1000;
/** The guide: a lifecycle event has to begin within five minutes of the one before it. */
const SILENCE_MS = 300_000;

export interface TargetRunContext {
  readonly world: World;
  readonly instances: Instances;
  readonly agent: DeploymentAgent;
  readonly traffic: DeploymentTraffic;
}

/**
 * Takes one instance through its lifecycle events, as long as the deployment is live. An event that runs when the
 * deployment is stopped runs to its end.
 */
export async function runTarget(
  context: TargetRunContext,
  deployment: Deployment,
  target: DeploymentTarget,
  revision: Revision,
): Promise<void> {
  const { clock } = context.world;
  target.begin();
  for (const event of target.events) {
    if (!deployment.isLive) return target.end('Skipped');
    target.enter(event);
    const outcome = await perform(context, deployment, { target, event, revision });
    if (outcome.kind === 'failed') target.leave(event, 'Failed', outcome.diagnostics);
    else target.leave(event, 'Succeeded');
    const ignored = deployment.facts.ignoreApplicationStopFailures && isOfThePreviousRevision(event);
    if (outcome.kind === 'failed' && !ignored) return target.end('Failed');
    await clock.sleep(BETWEEN_EVENTS_MS);
  }
  target.end('Succeeded');
}

interface Step {
  readonly target: DeploymentTarget;
  readonly event: string;
  readonly revision: Revision;
}

async function perform(
  context: TargetRunContext,
  deployment: Deployment,
  { target: { instanceId }, event, revision }: Step,
): Promise<Exclude<EventOutcome, { kind: 'lost' }>> {
  const { agent, traffic, instances, world } = context;
  const { id: deploymentId, group } = deployment;
  const act = (): Promise<EventOutcome> => {
    if (instances.instance(instanceId)?.state !== 'running') return Promise.resolve({ kind: 'lost' });
    if (event === 'BlockTraffic') return traffic.block(group, instanceId);
    if (event === 'AllowTraffic') return traffic.allow(group, instanceId);
    return agent.perform({ instanceId, deploymentId, group, lifecycleEvent: event, revision });
  };
  const outcome = await act();
  if (outcome.kind !== 'lost') return outcome;
  await world.clock.sleep(SILENCE_MS);
  return unknownError('CodeDeploy agent was not able to receive the lifecycle event.');
}
