import { Application } from '../../../local/account/application.ts';
import type { Instance, InstanceState, Instances, LaunchSpec } from '../../../local/account/neighbours.ts';
import type { World } from '../../../local/account/world.ts';

/** How long an instance shuts down or stops, in milliseconds. */
const SHUT_DOWN_MS = 20_000;

interface Held extends Instance {
  state: InstanceState;
}

export interface TestInstances extends Instances {
  /** Every port of the instance refuses connections from now on, or accepts them again. */
  block(id: string, blocked: boolean): void;
}

/** Instances in memory, with boot and shut-down times: `subnet-a` lies in `eu-west-1a`, and so on. */
export function createInstances(world: World): TestInstances {
  const held = new Map<string, Held>();
  const blocked = new Set<string>();
  const listeners: ((instance: Instance) => void)[] = [];
  const random = world.random.fork('test-instances');
  let launched = 0;

  const become = (instance: Held, state: InstanceState) => {
    instance.state = state;
    world.journal.record({ type: 'instance', instanceId: instance.id, state });
    for (const hear of listeners) hear(instance);
  };

  const boot = (instance: Held, startUpSeconds: number) => {
    if (instance.state !== 'pending') return;
    instance.application.start(startUpSeconds);
    become(instance, 'running');
  };

  const leave = (id: string, first: InstanceState, last: InstanceState) => {
    const instance = held.get(id);
    if (!instance) throw new Error(`there is no instance ${id}`);
    if (instance.state === first || instance.state === last || instance.state === 'terminated') return;
    instance.application.stop();
    become(instance, first);
    world.clock.after(SHUT_DOWN_MS, () => {
      if (instance.state === first) become(instance, last);
    });
  };

  return {
    instance: id => held.get(id),
    byAddress: address => [...held.values()].find(instance => instance.privateAddresses.includes(address)),
    live: () => [...held.values()].filter(instance => instance.state !== 'terminated'),
    launch(spec: LaunchSpec) {
      const letter = spec.subnetId.at(-1) ?? 'a';
      const zoneNumber = letter.charCodeAt(0) - 'a'.charCodeAt(0) + 1;
      const number = ++launched;
      const instance: Held = {
        id: `i-${number.toString(16).padStart(17, '0')}`,
        state: 'pending',
        zone: `${world.region}${letter}`,
        zoneId: `euw1-az${zoneNumber}`,
        vpcId: 'vpc-1',
        subnetId: spec.subnetId,
        privateAddresses: [
          `10.${zoneNumber}.${Math.floor(number / 250)}.${number % 250}`,
          ...Array.from(
            { length: spec.extraAddresses ?? 0 },
            (_, extra) => `10.${100 + extra}.${Math.floor(number / 250)}.${number % 250}`,
          ),
        ],
        securityGroupIds: spec.securityGroupIds,
        launchedAt: world.clock.now(),
        tags: new Map(Object.entries(spec.tags)),
        application: new Application(world.clock),
      };
      held.set(instance.id, instance);
      if (spec.seasoned) boot(instance, 0);
      else {
        become(instance, 'pending');
        const bootSeconds = random.between(...world.physics.bootSeconds);
        world.clock.after(bootSeconds * 1000, () => boot(instance, spec.startUpSeconds));
      }
      return instance;
    },
    terminate: id => leave(id, 'shutting-down', 'terminated'),
    stop: id => leave(id, 'stopping', 'stopped'),
    start(id, startUpSeconds) {
      const instance = held.get(id);
      if (!instance) return;
      become(instance, 'pending');
      boot(instance, startUpSeconds);
    },
    onState: hear => {
      listeners.push(hear);
    },
    reachable: instance => !blocked.has(instance.id),
    block(id, isBlocked) {
      if (isBlocked) blocked.add(id);
      else blocked.delete(id);
    },
  };
}
