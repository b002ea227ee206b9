import type { Metrics } from './neighbours.ts';
import type { TargetGroup } from './target-groups.ts';
import type { World } from './world.ts';

/** UG, "CloudWatch metrics for your Application Load Balancer": measured and sent in 60-second intervals, if there are requests. */
const PERIOD_MS = 60_000;

type Counted = 'RequestCount' | 'HTTPCode_Target_5XX_Count' | 'HTTPCode_ELB_5XX_Count';

interface Count {
  readonly name: Counted;
  readonly dimensions: Readonly<Record<string, string>>;
  value: number;
}

/** What Application Load Balancers tell CloudWatch of the requests that they have sent on. */
export class LoadBalancerMetrics {
  readonly #world: World;
  readonly #metrics: Metrics;
  #counts = new Map<string, Count>();
  #begun = false;

  constructor(world: World, metrics: Metrics) {
    this.#world = world;
    this.#metrics = metrics;
  }

  /** @param zone - of the target; undefined when none was found */
  count(
    name: Counted,
    { type, arn, loadBalancer }: TargetGroup,
    zone: string | undefined,
    value: number,
  ): void {
    if (type !== 'application' || !loadBalancer) return;
    const ofLoadBalancer = { LoadBalancer: loadBalancer.arn.split(':loadbalancer/')[1] ?? '' };
    const ofGroup = { ...ofLoadBalancer, TargetGroup: arn.split(':').at(-1) ?? '' };
    // UG: what the load balancer answers itself is no target group's.
    const dimensions = name === 'HTTPCode_ELB_5XX_Count' ? ofLoadBalancer : ofGroup;
    this.#add(name, dimensions, value);
    if (zone !== undefined) this.#add(name, { ...dimensions, AvailabilityZone: zone }, value);
    if (this.#begun) return;
    this.#begun = true;
    const { clock } = this.#world;
    clock.every(PERIOD_MS, () => this.#publish(), PERIOD_MS - (clock.now() % PERIOD_MS));
  }

  #add(name: Counted, dimensions: Count['dimensions'], value: number): void {
    const key = `${name} ${Object.values(dimensions).join(' ')}`;
    const known = this.#counts.get(key);
    if (known) known.value += value;
    else this.#counts.set(key, { name, dimensions, value });
  }

  #publish(): void {
    // By the beginning of the minute that they are of.
    const at = this.#world.clock.now() - PERIOD_MS;
    for (const { name, dimensions, value } of this.#counts.values())
      this.#metrics.put({ namespace: 'AWS/ApplicationELB', name, dimensions, value, at });
    this.#counts = new Map();
  }
}
