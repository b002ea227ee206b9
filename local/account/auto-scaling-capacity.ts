import { causes } from './auto-scaling-causes.ts';
import { type Group, isPending, isWarm, type Member } from './auto-scaling-group.ts';
import type { Lifecycle } from './auto-scaling-lifecycle.ts';
import type { World } from './world.ts';

/** Launches and terminates until a group is what it is meant to be: healthy, of the desired size, balanced over its zones. */
export class Capacity {
  readonly #world: World;
  readonly #lifecycle: Lifecycle;
  readonly #due = new Set<Group>();

  constructor(world: World, lifecycle: Lifecycle) {
    this.#world = world;
    this.#lifecycle = lifecycle;
  }

  /** Looks at the group once everything that happens at this instant has happened. */
  reconcile(group: Group): void {
    if (this.#due.has(group)) return;
    this.#due.add(group);
    this.#world.clock.after(0, () => {
      this.#due.delete(group);
      this.#replaceUnhealthy(group);
      this.#shrink(group);
      this.#grow(group);
      this.#rebalance(group);
      this.#fillPool(group);
    });
  }

  #replaceUnhealthy(group: Group): void {
    if (group.suspends('ReplaceUnhealthy') || group.suspends('Terminate')) return;
    const unhealthy = group.inService.filter(member => member.unhealthy);
    for (const member of unhealthy.slice(0, this.#replaceableNow(group))) {
      if (!member.unhealthy) continue;
      group.owedReplacements++;
      this.#lifecycle.terminate(group, member, causes.unhealthy(this.#world.clock.now(), member.unhealthy));
    }
  }

  #replaceableNow(group: Group): number {
    const floor = healthyFloor(group);
    if (floor !== undefined) return Math.max(0, group.inService.length - floor);
    const share = Math.floor(group.desiredCapacity * this.#world.physics.replacedAtATimeShare);
    const underWay = group.owedReplacements + group.pending.filter(member => member.replacesUnhealthy).length;
    return Math.max(0, Math.max(1, share) - underWay);
  }

  #grow(group: Group): void {
    if (!group.suspends('Launch')) {
      const from = capacityOf(group);
      const missing = Math.min(group.desiredCapacity - from, launchRoom(group));
      for (let launched = 0; launched < missing; launched++) {
        const replaces = group.owedReplacements > 0 || launchesFirst(group);
        const now = this.#world.clock.now();
        const cause = replaces ? causes.replacement(now) : causes.grow(now, from, group.desiredCapacity);
        this.#launch(group, cause, replaces);
        group.owedReplacements = Math.max(0, group.owedReplacements - 1);
      }
    }
    if (capacityOf(group) >= group.desiredCapacity) group.owedReplacements = 0;
  }

  #shrink(group: Group): void {
    if (group.suspends('Terminate')) return;
    const from = capacityOf(group);
    for (let surplus = from - group.desiredCapacity; surplus > 0; surplus--) {
      const victim = oldestInFullestSubnet(group);
      if (!victim) return;
      const now = this.#world.clock.now();
      this.#lifecycle.terminate(
        group,
        victim,
        causes.shrink(now, from, group.desiredCapacity, victim.instanceId),
      );
    }
  }

  /** Launches in the emptiest zone; once that instance is in service, `#shrink` takes one from the fullest. */
  #rebalance(group: Group): void {
    if (group.suspends('AZRebalance') || group.suspends('Launch')) return;
    if (!group.isSettled || capacityOf(group) !== group.desiredCapacity) return;
    const sizes = [...membersBySubnet(group).values()].map(members => members.length);
    if (Math.max(...sizes) - Math.min(...sizes) < 2) return;
    this.#launch(group, causes.rebalance(this.#world.clock.now(), emptiestSubnet(group)), false);
  }

  #launch(group: Group, cause: string, replacesUnhealthy: boolean): void {
    // The guide: what is warm is taken first; once the pool is empty, instances are launched directly.
    const warm = [...group.members.values()].find(member => WARM_AND_READY.has(member.lifecycle));
    if (warm) this.#lifecycle.launchFromPool(group, warm, cause, replacesUnhealthy);
    else this.#lifecycle.launch(group, emptiestSubnet(group), cause, replacesUnhealthy);
  }

  /** Keeps the pool as large as it was given: by default AWS sizes it by the group's maximum, which no scenario needs. */
  #fillPool(group: Group): void {
    if (!group.warmPool || group.suspends('Launch')) return;
    const { size, state } = group.warmPool;
    for (let warm = [...group.members.values()].filter(isWarm).length; warm < size; warm++)
      this.#lifecycle.launchIntoPool(group, emptiestSubnet(group), state);
  }
}

const WARM_AND_READY: ReadonlySet<string> = new Set(['Warmed:Running', 'Warmed:Stopped']);

/** Members that count for the desired capacity. Those to be replaced do not, where their replacement comes first. */
function capacityOf(group: Group): number {
  const counted = launchesFirst(group)
    ? group.inService.filter(member => !member.unhealthy)
    : group.inService;
  return counted.length + group.pending.length;
}

/** The guide: above a maximum of 100 %, instance maintenance launches a replacement before it terminates. */
const launchesFirst = (group: Group): boolean =>
  (group.maintenancePolicy?.MaxHealthyPercentage ?? 100) > 100 &&
  !group.suspends('ReplaceUnhealthy') &&
  group.inService.some(member => member.unhealthy);

/** How many members a maintenance policy keeps in service; where it leaves no room at all, one at a time may go. */
function healthyFloor(group: Group): number | undefined {
  const { MinHealthyPercentage, MaxHealthyPercentage = 100 } = group.maintenancePolicy ?? {};
  if (MinHealthyPercentage === undefined) return undefined;
  const floor = Math.ceil((group.desiredCapacity * MinHealthyPercentage) / 100);
  return MaxHealthyPercentage > 100 ? floor : Math.min(floor, group.desiredCapacity - 1);
}

/** How many more instances the group may have, with those that it is about to replace. */
function launchRoom(group: Group): number {
  const { MaxHealthyPercentage } = group.maintenancePolicy ?? {};
  if (!launchesFirst(group) || MaxHealthyPercentage === undefined) return Number.POSITIVE_INFINITY;
  const ceiling = Math.max(
    Math.floor((group.desiredCapacity * MaxHealthyPercentage) / 100),
    group.desiredCapacity + 1,
  );
  return ceiling - group.inService.length - group.pending.length;
}

function membersBySubnet(group: Group): ReadonlyMap<string, readonly Member[]> {
  const counted = [...group.members.values()].filter(
    member => isPending(member) || member.lifecycle === 'InService',
  );
  const { subnetIds } = group.settings;
  return new Map(subnetIds.map(id => [id, counted.filter(member => member.subnetId === id)]));
}

function emptiestSubnet(group: Group): string {
  const bySubnet = membersBySubnet(group);
  const size = (subnetId: string) => bySubnet.get(subnetId)?.length ?? 0;
  return group.settings.subnetIds.reduce((least, next) => (size(next) < size(least) ? next : least));
}

/** Members are kept in the order of their launch. */
function oldestInFullestSubnet(group: Group): Member | undefined {
  const inService = (members: readonly Member[]) => members.find(member => member.lifecycle === 'InService');
  return [...membersBySubnet(group).values()]
    .toSorted((one, other) => other.length - one.length)
    .map(inService)
    .find(member => member !== undefined);
}
