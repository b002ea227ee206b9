import type { AutoScaling } from './auto-scaling.ts';
import { type EventOutcome, SUCCEEDED, unknownError } from './code-deploy-agent.ts';
import type { DeploymentGroup } from './code-deploy-deployment.ts';
import type { ElasticLoadBalancing } from './elastic-load-balancing.ts';
import type { Instance, Instances, TargetState } from './neighbours.ts';
import type { TargetGroup } from './target-groups.ts';
import type { World } from './world.ts';

/** INF: CodeDeploy publishes no polling period. */
const POLL_MS = 5000;
/** The guide: CodeDeploy waits up to an hour for the load balancer. */
const LONGEST_WAIT_MS = 3_600_000;

export interface TrafficContext {
  readonly world: World;
  readonly instances: Instances;
  readonly autoScaling: AutoScaling;
  readonly loadBalancing: ElasticLoadBalancing;
}

/** CodeDeploy's own load balancer step: BlockTraffic and AllowTraffic. */
export class DeploymentTraffic {
  readonly #context: TrafficContext;

  constructor(context: TrafficContext) {
    this.#context = context;
  }

  /** Deregisters the instance from the group's target groups and waits until it has drained. */
  async block(group: DeploymentGroup, instanceId: string): Promise<EventOutcome> {
    if (!this.#takesTraffic(instanceId)) return SUCCEEDED;
    for (const { arn, instance } of this.#places(group, instanceId))
      this.#context.loadBalancing.deregister(
        arn,
        this.#context.loadBalancing.statesOf(arn, instance).map(({ target }) => target),
      );
    return this.#wait(group, instanceId, states => states.every(state => state !== 'draining'));
  }

  /** Registers the instance on the target groups' default ports and waits until each finds it healthy. */
  async allow(group: DeploymentGroup, instanceId: string): Promise<EventOutcome> {
    if (!this.#takesTraffic(instanceId)) return SUCCEEDED;
    for (const { arn } of this.#places(group, instanceId))
      this.#context.loadBalancing.register(arn, [{ id: instanceId }]);
    return this.#wait(group, instanceId, states => states.includes('healthy'));
  }

  /** Auto Scaling itself registers a member that it puts in service, and deregisters one that leaves. */
  #takesTraffic(instanceId: string): boolean {
    const lifecycle = this.#context.autoScaling.memberOf(instanceId)?.member.lifecycle;
    return lifecycle === undefined || lifecycle === 'InService';
  }

  async #wait(
    group: DeploymentGroup,
    instanceId: string,
    met: (states: readonly TargetState[]) => boolean,
  ): Promise<EventOutcome> {
    const { world, loadBalancing } = this.#context;
    const givesUpAt = world.clock.now() + LONGEST_WAIT_MS;
    while (world.clock.now() < givesUpAt) {
      const places = this.#places(group, instanceId);
      if (places.length === 0) return { kind: 'lost' };
      if (places.every(({ arn, instance }) => met(loadBalancing.statesOf(arn, instance).map(at => at.state))))
        return SUCCEEDED;
      await world.clock.sleep(POLL_MS);
    }
    return unknownError('The load balancer did not move the traffic of the instance within one hour.');
  }

  /** The target groups by ARN, while the instance runs; none afterwards. @throws Error on an unknown target group */
  #places({ targetGroupNames }: DeploymentGroup, instanceId: string): readonly Place[] {
    const instance = this.#context.instances.instance(instanceId);
    if (instance?.state !== 'running') return [];
    return targetGroupNames.map(name => ({ arn: this.#targetGroup(name).arn, instance }));
  }

  #targetGroup(name: string): TargetGroup {
    const found = this.#context.loadBalancing.groups().find(group => group.name === name);
    if (!found) throw new Error(`there is no target group ${name}`);
    if (found.targetType !== 'instance')
      throw new Error(`CodeDeploy's traffic step for ${found.targetType} targets (${name}) is not simulated`);
    return found;
  }
}

interface Place {
  readonly arn: string;
  readonly instance: Instance;
}
