import type { Random } from '../clock/random.ts';
import type { Timer } from '../clock/virtual-clock.ts';
import type { CheckSource } from './check-settings.ts';
import type { Network } from './ec2-network.ts';
import type { Trail } from './trail.ts';
import type { World } from './world.ts';

/** The operator of the interfaces, from the condition in AWS's EC2ApplicationStatusChecksServiceRolePolicy. */
export const CHECKS_PRINCIPAL = 'ec2.application-status-checks.amazonaws.com';

interface Kept {
  readonly interfaceId: string;
  readonly users: Set<string>;
  removal: Timer | undefined;
}

/** The interfaces that probes leave from: one for each subnet and security group in use, kept for a while afterwards. */
export class ManagedInterfaces {
  readonly #world: World;
  readonly #network: Network;
  readonly #trail: Trail | undefined;
  readonly #random: Random;
  readonly #kept = new Map<string, Kept>();
  readonly #usedBy = new Map<string, readonly string[]>();

  constructor(world: World, network: Network, trail?: Trail) {
    this.#world = world;
    this.#network = network;
    this.#trail = trail;
    this.#random = world.random.fork('managed-interfaces');
  }

  /** Says which sources a user (an instance under a check) needs from now on; none ends its use. */
  use(user: string, sources: readonly CheckSource[]): void {
    const wanted = new Map(sources.map(source => [`${source.subnetId} ${source.securityGroupId}`, source]));
    for (const [key, source] of wanted) this.#occupy(key, source, user);
    for (const key of this.#usedBy.get(user) ?? []) if (!wanted.has(key)) this.#vacate(key, user);
    if (wanted.size > 0) this.#usedBy.set(user, [...wanted.keys()]);
    else this.#usedBy.delete(user);
  }

  #occupy(key: string, { subnetId, securityGroupId }: CheckSource, user: string): void {
    const kept = this.#kept.get(key) ?? this.#create(key, subnetId, securityGroupId);
    kept.removal?.cancel();
    kept.removal = undefined;
    kept.users.add(user);
  }

  #create(key: string, subnetId: string, securityGroupId: string): Kept {
    const { id } = this.#network.addInterface({
      subnetId,
      groupIds: [securityGroupId],
      addressCount: 1,
      description: 'EC2 application status checks',
      owner: { kind: 'service', principal: CHECKS_PRINCIPAL },
    });
    const kept: Kept = { interfaceId: id, users: new Set(), removal: undefined };
    this.#kept.set(key, kept);
    this.#world.journal.record({ type: 'interface', interfaceId: id, state: 'created' });
    const made = { subnetId, groupSet: { items: [{ groupId: securityGroupId }] } };
    const networkInterface = { networkInterfaceId: id, vpcId: this.#network.vpcId, ...made };
    const service = { kind: 'service', name: CHECKS_PRINCIPAL } as const;
    this.#trail?.record('CreateNetworkInterface', made, service, { networkInterface });
    return kept;
  }

  #vacate(key: string, user: string): void {
    const kept = this.#kept.get(key);
    if (!kept?.users.delete(user) || kept.users.size > 0) return;
    const { clock, journal, physics } = this.#world;
    const [least, most] = physics.interfaceLingerMinutes;
    journal.record({ type: 'interface', interfaceId: kept.interfaceId, state: 'lingering' });
    kept.removal = clock.after(this.#random.between(least, most) * 60_000, () => {
      this.#network.removeInterface(kept.interfaceId);
      this.#kept.delete(key);
      journal.record({ type: 'interface', interfaceId: kept.interfaceId, state: 'removed' });
    });
  }
}
