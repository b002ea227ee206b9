import type { Instance } from '../account/neighbours.ts';
import type { Scene } from '../simulate/simulation.ts';
import type { Span } from './picture.ts';

/** One instance as it truly is now, in the words of a person who watches. */
export interface Lane {
  readonly instanceId: string;
  readonly zone: string;
  readonly suppression: 'spreading' | 'suppressed' | 'releasing' | '';
  readonly traffic: 'out of traffic' | 'draining' | 'unhealthy' | 'initial' | 'healthy';
  readonly application: 'deploying' | 'down' | 'up' | 'ready' | Instance['state'];
}

/** The fleet's instances in its order, then those that were launched since. */
export function lanes({ account, fleet }: Scene, deploying: ReadonlySet<string>): Lane[] {
  const { ec2, checks } = account;
  const ids = new Set([
    ...fleet.instances.map(instance => instance.id),
    ...[...ec2.live()].map(({ id }) => id),
  ]);
  return [...ids].flatMap(id => {
    const instance = ec2.instance(id);
    if (!instance) return [];
    const passed = checks.results(id).every(result => result.status === 'passed');
    const { state, application } = instance;
    const running = deploying.has(id) ? 'deploying' : !application.isUp ? 'down' : passed ? 'ready' : 'up';
    return [
      {
        instanceId: id,
        zone: instance.zone,
        suppression: checks.suppression(id)?.state ?? '',
        traffic: trafficOf(account, fleet, instance),
        application: state === 'running' ? running : state,
      },
    ];
  });
}

/** Over all target groups and ports: the first of these states that any target of the instance is in. */
const WORST_FIRST = ['draining', 'unhealthy', 'initial', 'healthy'] as const;

function trafficOf(
  { loadBalancing }: Scene['account'],
  { targetGroups }: Scene['fleet'],
  instance: Instance,
): Lane['traffic'] {
  const states = targetGroups.flatMap(group =>
    loadBalancing.statesOf(group.arn, instance).map(target => target.state),
  );
  return WORST_FIRST.find(worst => states.some(state => state.endsWith(worst))) ?? 'out of traffic';
}

const styles: Partial<Record<Lane['suppression'] | Lane['traffic'] | Lane['application'], Span['style']>> = {
  suppressed: 'cyan',
  spreading: 'dim',
  releasing: 'dim',
  'out of traffic': 'cyan',
  draining: 'dim',
  initial: 'dim',
  healthy: 'green',
  unhealthy: 'red',
  deploying: 'yellow',
  ready: 'green',
  down: 'red',
  'shutting-down': 'red',
  terminated: 'red',
};

export function drawLane({ instanceId, zone, suppression, traffic, application }: Lane): Span[] {
  const span = (text: keyof typeof styles, width: number): Span => {
    const style = styles[text];
    return { text: text.padEnd(width), ...(style && { style }) };
  };
  return [
    { text: `  ${instanceId}  ${zone}  ` },
    span(suppression, 12),
    span(traffic, 16),
    span(application, 0),
  ];
}
