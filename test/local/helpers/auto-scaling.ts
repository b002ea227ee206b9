import { AutoScaling, type NewGroup } from '../../../local/account/auto-scaling.ts';
import { autoScalingActs } from '../../../local/account/auto-scaling-acts.ts';
import { autoScalingDescriptions } from '../../../local/account/auto-scaling-descriptions.ts';
import type { Group, Member } from '../../../local/account/auto-scaling-group.ts';
import type { ServiceEvent } from '../../../local/account/neighbours.ts';
import { createWorld, type WorldSettings } from '../../../local/account/world.ts';
import { createInstances } from './instances.ts';
import { createStatuses, createTargetGroups } from './neighbours.ts';

export const WEB = 'arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/0123456789abcdef';

type Settings = WorldSettings & { readonly delaySeconds?: number; readonly group?: Partial<NewGroup> };

/** A seasoned group `fleet` of four instances over two zones, registered with one target group, and all that it stands on. */
export function scaled({ delaySeconds, group: changes, ...settings }: Settings = {}) {
  const world = createWorld(settings);
  const events: ServiceEvent[] = [];
  const instances = createInstances(world);
  const statuses = createStatuses(world);
  const targetGroups = createTargetGroups(world, delaySeconds);
  const autoScaling = new AutoScaling({
    world,
    instances,
    statuses,
    targetGroups,
    onEvent: event => events.push(event),
  });
  const group = autoScaling.addGroup({
    name: 'fleet',
    minSize: 2,
    maxSize: 8,
    desiredCapacity: 4,
    subnetIds: ['subnet-a', 'subnet-b'],
    targetGroupArns: [WEB],
    launchSpec: { securityGroupIds: ['sg-app'], startUpSeconds: 5, tags: { Application: 'shop' } },
    seasoned: true,
    ...changes,
  });
  return {
    world,
    events,
    instances,
    statuses,
    targetGroups,
    autoScaling,
    group,
    api: { ...autoScalingDescriptions(autoScaling), ...autoScalingActs(autoScaling) },
    pass: (seconds: number) => world.clock.pass(seconds * 1000),
    get first() {
      return firstOf(group);
    },
    /** Every lifecycle state that the instance has entered. */
    path: (instanceId: string) =>
      world.journal.entries.flatMap(entry =>
        entry.type === 'lifecycle' && entry.instanceId === instanceId ? [entry.state] : [],
      ),
    /** The kind and cause of every launch and termination, without the instants. */
    happened: () =>
      world.journal.entries.flatMap(entry =>
        entry.type === 'activity' ? [{ kind: entry.kind, id: entry.instanceId, cause: entry.cause }] : [],
      ),
  };
}

/** The member of the group that was launched first. */
export function firstOf(group: Group): Member {
  const [first] = group.members.values();
  if (!first) throw new Error(`${group.name} has no instance`);
  return first;
}
