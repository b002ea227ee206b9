import type {
  ApplicationStatuses,
  Instance,
  OverallStatus,
  TargetGroups,
  TargetState,
} from '../../../local/account/neighbours.ts';
import type { World } from '../../../local/account/world.ts';

export interface TestStatuses extends ApplicationStatuses {
  become(instanceId: string, status: OverallStatus): void;
}

/** Application statuses that a test sets; an instance without one has no check. */
export function createStatuses(world: World): TestStatuses {
  const known = new Map<string, { readonly status: OverallStatus; readonly since: number }>();
  const listeners: ((instanceId: string, status: OverallStatus) => void)[] = [];
  return {
    overall: id => known.get(id) ?? { status: 'not-applicable', since: 0 },
    hasIncludedCheck: id => known.has(id),
    onOverall: hear => {
      listeners.push(hear);
    },
    become(instanceId, status) {
      known.set(instanceId, { status, since: world.clock.now() });
      for (const hear of listeners) hear(instanceId, status);
    },
  };
}

const DEFAULT_PORT = 80;

export interface TestTargetGroups extends TargetGroups {
  /** What the health checks of one registered target find. */
  become(targetGroupArn: string, id: string, state: TargetState): void;
  /** The port of every target of the instance, and its state: `80 healthy`. */
  shown(targetGroupArn: string, instance: Instance): readonly string[];
}

interface HeldTarget {
  readonly port: number;
  state: TargetState;
}

/** Target groups of one deregistration delay, in which a new target is healthy at once. */
export function createTargetGroups(world: World, delaySeconds = 60): TestTargetGroups {
  const groups = new Map<string, Map<string, HeldTarget[]>>();
  const targetsOf = (arn: string, id: string): readonly HeldTarget[] => groups.get(arn)?.get(id) ?? [];
  const keep = (arn: string, id: string, targets: HeldTarget[]) => {
    groups.set(arn, (groups.get(arn) ?? new Map<string, HeldTarget[]>()).set(id, targets));
  };
  const statesOf: TargetGroups['statesOf'] = (arn, { id }) =>
    targetsOf(arn, id).map(({ port, state }) => ({ target: { id, port }, state }));
  return {
    register(arn, targets) {
      for (const { id, port = DEFAULT_PORT } of targets) {
        const others = targetsOf(arn, id).filter(target => target.port !== port);
        keep(arn, id, [...others, { port, state: 'healthy' }]);
      }
    },
    deregister(arn, targets) {
      for (const { id, port = DEFAULT_PORT } of targets) {
        const leaving = targetsOf(arn, id).find(target => target.port === port);
        if (!leaving || leaving.state === 'draining') continue;
        leaving.state = 'draining';
        world.clock.after(delaySeconds * 1000, () =>
          keep(
            arn,
            id,
            targetsOf(arn, id).filter(target => target !== leaving),
          ),
        );
      }
    },
    statesOf,
    deregistrationDelaySeconds: () => delaySeconds,
    become(arn, id, state) {
      const target = targetsOf(arn, id).find(({ port }) => port === DEFAULT_PORT);
      if (!target) throw new Error(`${id} is not registered with ${arn}`);
      target.state = state;
    },
    shown: (arn, instance) => statesOf(arn, instance).map(({ target, state }) => `${target.port} ${state}`),
  };
}
