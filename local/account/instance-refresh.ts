import type { InstanceRefresh, InstanceRefreshStatus } from '@aws-sdk/client-auto-scaling';
import { causes } from './auto-scaling-causes.ts';
import type { Group } from './auto-scaling-group.ts';
import type { Lifecycle } from './auto-scaling-lifecycle.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

/** The guide, "How an instance refresh works": it keeps so much of the desired capacity in service unless it is told otherwise. */
const MIN_HEALTHY_PERCENT = 90;

/** INF: how often it looks whether what was launched is in service. */
const LOOK_MS = 15_000;

/**
 * Instance refreshes: the instances that a group has in service are ended a few at a time, as its minimum allows, and the group
 * replaces them as it replaces any other. Nothing is skipped, and nothing is rolled back.
 */
export class InstanceRefreshes {
  readonly #world: World;
  readonly #lifecycle: Lifecycle;
  readonly #random;

  constructor(world: World, lifecycle: Lifecycle) {
    this.#world = world;
    this.#lifecycle = lifecycle;
    this.#random = world.random.fork('instance-refreshes');
  }

  /** @returns the refresh's id */
  start(group: Group): string {
    const refresh: InstanceRefresh = {
      InstanceRefreshId: uuid(this.#random),
      AutoScalingGroupName: group.name,
      Status: 'InProgress',
      StartTime: this.#world.clock.date(),
      PercentageComplete: 0,
    };
    group.refreshes.push(refresh);
    this.#replaceAll(group, refresh).catch((error: unknown) => this.#world.clock.fail(error));
    return refresh.InstanceRefreshId ?? '';
  }

  /** Ends it as somebody's cancelling does: what it has begun goes on, nothing more is begun. */
  end(group: Group, id: string, status: InstanceRefreshStatus): void {
    const refresh = group.refreshes.find(({ InstanceRefreshId }) => InstanceRefreshId === id);
    if (!refresh) throw new Error(`${group.name} has no instance refresh ${id}`);
    Object.assign(refresh, { Status: status, EndTime: this.#world.clock.date() });
  }

  async #replaceAll(group: Group, refresh: InstanceRefresh): Promise<void> {
    const { clock } = this.#world;
    const all = group.inService.map(({ instanceId }) => instanceId);
    const left = [...all];
    const isFull = () => group.inService.length >= group.desiredCapacity;
    while (refresh.Status === 'InProgress' && !(left.length === 0 && isFull())) {
      if (isFull() && !group.suspends('InstanceRefresh')) this.#endSome(group, left);
      refresh.PercentageComplete = Math.floor((100 * (all.length - left.length)) / Math.max(1, all.length));
      await clock.sleep(LOOK_MS);
    }
    if (refresh.Status === 'InProgress') this.end(group, refresh.InstanceRefreshId ?? '', 'Successful');
  }

  #endSome(group: Group, left: string[]): void {
    const kept = Math.ceil((group.desiredCapacity * MIN_HEALTHY_PERCENT) / 100);
    for (const id of left.splice(0, Math.max(1, group.desiredCapacity - kept))) {
      const member = group.members.get(id);
      if (member?.lifecycle === 'InService')
        this.#lifecycle.terminate(group, member, causes.refresh(this.#world.clock.now()));
    }
  }
}
