import type { Account } from '../account/account.ts';
import type { Instance } from '../account/neighbours.ts';
import type { BuiltFleet } from './build-fleet.ts';

/** The fleet that a deployment is judged by, in the account's true state: also what its group has launched since. */
export class JudgedFleet {
  readonly built: BuiltFleet;
  readonly #account: Account;
  /** Every instance that the fleet's group has had. */
  readonly #members = new Set<string>();
  /** By instance id, and by each private address. */
  readonly #byTargetId: ReadonlyMap<string, Instance>;

  constructor(account: Account, built: BuiltFleet) {
    this.#account = account;
    this.built = built;
    this.#byTargetId = new Map(
      built.instances.flatMap(instance =>
        [instance.id, ...instance.privateAddresses].map(id => [id, instance] as const),
      ),
    );
    for (const group of account.autoScaling.groups())
      if (group.name === built.groupName) for (const id of group.members.keys()) this.#members.add(id);
    account.world.journal.listen(entry => {
      if (entry.type === 'lifecycle' && entry.group === built.groupName) this.#members.add(entry.instanceId);
    });
  }

  /** The instance that a target's id, or its address, belongs to. */
  behind(targetId: string | undefined): Instance | undefined {
    if (targetId === undefined) return undefined;
    return this.#byTargetId.get(targetId) ?? this.#launched(targetId);
  }

  /** What runs now and was not there in the beginning. */
  launchedSince(): readonly Instance[] {
    const first = new Set(this.built.instances.map(({ id }) => id));
    return [...this.#account.ec2.live()].filter(({ id }) => !first.has(id) && this.isRunning(id));
  }

  isRunning(instanceId: string): boolean {
    return this.#account.ec2.instance(instanceId)?.state === 'running';
  }

  /** Auto Scaling keeps what is on its way out running for a while, and has taken it out of its target groups itself. */
  isServing(instanceId: string): boolean {
    const member = this.#account.autoScaling.memberOf(instanceId)?.member;
    const inGroup = this.built.groupName === undefined || member?.lifecycle === 'InService';
    return this.isRunning(instanceId) && inGroup;
  }

  /** The instance of each target that is registered, by `group id:port`. */
  memberships(): Map<string, string> {
    const found = new Map<string, string>();
    for (const group of this.built.targetGroups)
      for (const instance of this.built.instances)
        for (const { target, state } of this.#account.loadBalancing.statesOf(group.arn, instance))
          if (!state.endsWith('draining'))
            found.set(`${group.name} ${target.id}:${target.port}`, instance.id);
    return found;
  }

  /** What is suspended of Auto Scaling, as `process of group`. */
  suspended(): Set<string> {
    return new Set(
      [...this.#account.autoScaling.groups()].flatMap(group =>
        [...group.suspended.keys()].map(process => `${process} of ${group.name}`),
      ),
    );
  }

  /** What the fleet's group has launched since belongs to the fleet too, also when it is gone. */
  #launched(targetId: string): Instance | undefined {
    const { ec2 } = this.#account;
    const instance = ec2.instance(targetId) ?? ec2.byAddress(targetId);
    return instance && this.#members.has(instance.id) ? instance : undefined;
  }
}
