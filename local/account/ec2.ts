import type { Random } from '../clock/random.ts';
import { ServiceError } from '../wire/contract.ts';
import { Application } from './application.ts';
import { type IngressRule, Network, type SecurityGroup, type Subnet } from './ec2-network.ts';
import { instanceNotFound } from './ec2-request.ts';
import type { Instance, InstanceState, Instances, LaunchSpec } from './neighbours.ts';
import { resourceId } from './resource-id.ts';
import type { World } from './world.ts';

/** An instance as EC2's own operations see it. */
export interface Ec2Instance extends Instance {
  readonly reservationId: string;
  readonly interfaceId: string;
  readonly stateReason: string | undefined;
}

interface MutableInstance extends Ec2Instance {
  state: InstanceState;
  stateReason: string | undefined;
  readonly tags: Map<string, string>;
}

const USER_INITIATED = 'User initiated';
/** INF: shutting down takes about half a minute. */
const SHUTDOWN_MS = 30_000;
/** UG: a terminated instance remains visible for a short while, about an hour. */
const TERMINATED_VISIBLE_MS = 3_600_000;
/** A seasoned instance is older than any grace period. */
const SEASONED_AGE_MS = 86_400_000;

/** The instances of the account, in one VPC. */
export class Ec2 implements Instances {
  readonly network: Network;
  readonly world: World;
  readonly #random: Random;
  readonly #instances = new Map<string, MutableInstance>();
  readonly #byAddress = new Map<string, MutableInstance>();
  readonly #stateListeners: ((instance: Instance) => void)[] = [];
  readonly #tagListeners: ((instance: Instance) => void)[] = [];

  constructor(world: World) {
    this.world = world;
    this.network = new Network(world);
    this.#random = world.random.fork('ec2-instances');
  }

  addSubnet(zone: string): Subnet {
    return this.network.addSubnet(zone);
  }

  addSecurityGroup(spec?: {
    readonly name?: string;
    readonly ingress?: readonly IngressRule[];
    readonly tags?: Readonly<Record<string, string>>;
  }): SecurityGroup {
    return this.network.addSecurityGroup(spec);
  }

  /** Also a terminated instance, for as long as it is visible. */
  instance(id: string): Ec2Instance | undefined {
    return this.#instances.get(id);
  }

  byAddress(address: string): Ec2Instance | undefined {
    return this.#byAddress.get(address);
  }

  /** All that the Describe operations list: terminated ones too, for as long as they are visible. */
  visible(): Iterable<Ec2Instance> {
    return this.#instances.values();
  }

  *live(): Iterable<Ec2Instance> {
    for (const instance of this.#instances.values()) if (instance.state !== 'terminated') yield instance;
  }

  launch(spec: LaunchSpec): Ec2Instance {
    const { clock } = this.world;
    const id = resourceId('i', this.#random);
    const attached = this.network.addInterface({
      subnetId: spec.subnetId,
      groupIds: spec.securityGroupIds,
      addressCount: 1 + (spec.extraAddresses ?? 0),
      description: '',
      owner: { kind: 'instance', instanceId: id },
    });
    const { subnet } = attached;
    const instance: MutableInstance = {
      id,
      state: 'pending',
      stateReason: undefined,
      zone: subnet.zone,
      zoneId: subnet.zoneId,
      vpcId: subnet.vpcId,
      subnetId: subnet.id,
      privateAddresses: attached.addresses,
      interfaceId: attached.id,
      reservationId: resourceId('r', this.#random),
      securityGroupIds: spec.securityGroupIds,
      launchedAt: clock.now() - (spec.seasoned ? SEASONED_AGE_MS : 0),
      tags: new Map(Object.entries(spec.tags)),
      application: new Application(clock, spec.listensOn),
    };
    this.#instances.set(id, instance);
    for (const address of attached.addresses) this.#byAddress.set(address, instance);
    if (spec.seasoned) {
      instance.application.start(0);
      this.#enter(instance, 'running');
    } else {
      this.#boot(instance, spec.startUpSeconds);
    }
    return instance;
  }

  /** @throws ServiceError InvalidInstanceID.NotFound, or IncorrectInstanceState unless it is stopped */
  start(id: string, startUpSeconds: number): void {
    const instance = this.#known(id);
    if (instance.state !== 'stopped')
      throw new ServiceError('IncorrectInstanceState', `The instance '${id}' is not in the state 'stopped'`);
    instance.stateReason = undefined;
    this.#boot(instance, startUpSeconds);
  }

  /** Idempotent, as in EC2. @throws ServiceError InvalidInstanceID.NotFound */
  terminate(id: string): void {
    const instance = this.#known(id);
    if (instance.state === 'shutting-down' || instance.state === 'terminated') return;
    instance.application.stop();
    instance.stateReason = USER_INITIATED;
    this.#enter(instance, 'shutting-down');
    this.world.clock.after(SHUTDOWN_MS, () => {
      for (const address of instance.privateAddresses) this.#byAddress.delete(address);
      this.network.removeInterface(instance.interfaceId);
      this.#enter(instance, 'terminated');
      this.world.clock.after(TERMINATED_VISIBLE_MS, () => this.#instances.delete(id));
    });
  }

  /** @throws ServiceError InvalidInstanceID.NotFound, or IncorrectInstanceState unless it is running */
  stop(id: string): void {
    const instance = this.#known(id);
    if (instance.state !== 'running')
      throw new ServiceError('IncorrectInstanceState', `The instance '${id}' is not in the state 'running'`);
    instance.application.stop();
    instance.stateReason = USER_INITIATED;
    this.#enter(instance, 'stopping');
    this.world.clock.after(SHUTDOWN_MS, () => {
      if (instance.state === 'stopping') this.#enter(instance, 'stopped');
    });
  }

  /** Adds or replaces tags, system tags included. @throws ServiceError InvalidInstanceID.NotFound */
  tag(id: string, tags: Readonly<Record<string, string>>): void {
    const instance = this.#known(id);
    for (const [key, value] of Object.entries(tags)) instance.tags.set(key, value);
    for (const hear of this.#tagListeners) hear(instance);
  }

  onState(hear: (instance: Instance) => void): void {
    this.#stateListeners.push(hear);
  }

  onTags(hear: (instance: Instance) => void): void {
    this.#tagListeners.push(hear);
  }

  /** @param fromSubnetId where the connection comes from; without it, from anywhere in the VPC */
  reachable(
    instance: Instance,
    port: number,
    fromSecurityGroupIds: readonly string[],
    fromSubnetId?: string,
  ): boolean {
    return (
      instance.state === 'running' &&
      this.network.admits(instance.securityGroupIds, port, fromSecurityGroupIds, fromSubnetId)
    );
  }

  #boot(instance: MutableInstance, startUpSeconds: number): void {
    const { clock, physics } = this.world;
    this.#enter(instance, 'pending');
    const [least, most] = physics.bootSeconds;
    clock.after(this.#random.whole(least, most) * 1000, () => {
      if (instance.state !== 'pending') return;
      instance.application.start(startUpSeconds);
      this.#enter(instance, 'running');
    });
  }

  #known(id: string): MutableInstance {
    const instance = this.#instances.get(id);
    if (!instance) throw instanceNotFound([id]);
    return instance;
  }

  #enter(instance: MutableInstance, state: InstanceState): void {
    instance.state = state;
    this.world.journal.record({ type: 'instance', instanceId: instance.id, state });
    for (const hear of this.#stateListeners) hear(instance);
  }
}
