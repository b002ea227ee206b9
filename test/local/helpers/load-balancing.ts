import { ElasticLoadBalancing, type TargetGroupSpec } from '../../../local/account/elastic-load-balancing.ts';
import type { Instance } from '../../../local/account/neighbours.ts';
import type { LoadBalancerType } from '../../../local/account/target-groups.ts';
import { createWorld, type World, type WorldSettings } from '../../../local/account/world.ts';
import { createInstances, type TestInstances } from './instances.ts';

export interface Balanced {
  readonly world: World;
  readonly instances: TestInstances;
  readonly elb: ElasticLoadBalancing;
  readonly loadBalancerArn: string;
  readonly groupArn: string;
  readonly fleet: readonly [Instance, ...Instance[]];
  /** Every state and reason that the journal has of a target, in order. */
  history(id: string): string[];
  state(id: string): string | undefined;
  register(...instances: readonly Instance[]): void;
}

interface Settings extends WorldSettings {
  /** One seasoned instance for each letter, in that zone. */
  readonly fleet?: string;
  /** One enabled zone for each letter. */
  readonly zones?: string;
  readonly type?: LoadBalancerType;
  readonly crossZone?: boolean;
  readonly group?: Partial<TargetGroupSpec>;
}

/** A load balancer with one target group (port 80, a probe of /health every 10 s) and instances not registered yet. */
export function balanced({
  fleet = 'abc',
  zones = 'abc',
  type,
  crossZone,
  group,
  ...settings
}: Settings = {}): Balanced {
  const world = createWorld(settings);
  const instances = createInstances(world);
  const elb = new ElasticLoadBalancing(world, instances);
  const launch = (letter: string) =>
    instances.launch({
      subnetId: `subnet-${letter}`,
      securityGroupIds: ['sg-app'],
      tags: {},
      startUpSeconds: 0,
      seasoned: true,
    });
  const [first, ...others] = [...fleet].map(launch);
  if (!first) throw new Error('a fleet needs an instance');
  const loadBalancer = elb.addLoadBalancer({
    name: 'front',
    type: type ?? 'application',
    zones: [...zones].map(letter => ({
      zone: `eu-west-1${letter}`,
      zoneId: `euw1-az${'abc'.indexOf(letter) + 1}`,
    })),
    ...(crossZone !== undefined && { crossZone }),
  });
  const { arn } = elb.addTargetGroup({
    name: 'web',
    port: 80,
    targetType: 'instance',
    protocol: type === 'network' ? 'TCP' : 'HTTP',
    vpcId: 'vpc-1',
    loadBalancer: loadBalancer.arn,
    healthCheck: {
      path: '/health',
      port: 'traffic-port',
      intervalSeconds: 10,
      timeoutSeconds: 5,
      healthyThreshold: 3,
      unhealthyThreshold: 2,
      matcher: '200',
    },
    ...group,
  });
  return {
    world,
    instances,
    elb,
    loadBalancerArn: loadBalancer.arn,
    groupArn: arn,
    fleet: [first, ...others],
    history: id =>
      world.journal.entries.flatMap(entry =>
        entry.type === 'target' && entry.id === id ? [`${entry.state} ${entry.reason ?? ''}`.trim()] : [],
      ),
    state: id => [...elb.group(arn).targets.of(id)][0]?.health.state,
    register: (...given) =>
      elb.register(
        arn,
        given.map(({ id }) => ({ id })),
      ),
  };
}
