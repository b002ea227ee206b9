import { CHECK_PRICES } from '../limits.ts';
import type { CheckRoute, PathEnd } from './ingress.ts';

/** An interface from which AWS asks application status checks. */
export interface CheckInterface {
  readonly id: string;
  readonly subnetId: string;
  readonly securityGroupIds: readonly string[];
}

/** A check that exists, and the instances that it is associated with. */
export interface CheckInUse {
  readonly id: string;
  readonly route: CheckRoute;
  readonly instances: readonly PathEnd[];
}

/** Which checks need an interface: one is made for each subnet and security group (GUIDE), whoever needs it. */
export class InterfaceUse {
  readonly #users = new Map<string, Set<string>>();

  constructor(checks: readonly CheckInUse[]) {
    for (const check of checks)
      for (const { subnetId, groupIds } of check.instances.flatMap(end => sourcesFor(check.route, end)))
        for (const groupId of groupIds) this.#add(`${subnetId} ${groupId}`, check.id);
  }

  /** The checks that need this interface, or one like it. */
  usersOf({ subnetId, securityGroupIds }: Omit<CheckInterface, 'id'>): string[] {
    const users = securityGroupIds.flatMap(groupId => [...(this.#users.get(`${subnetId} ${groupId}`) ?? [])]);
    return [...new Set(users)].sort();
  }

  #add(place: string, checkId: string): void {
    const known = this.#users.get(place) ?? new Set();
    this.#users.set(place, known.add(checkId));
  }
}

/** From where an instance is asked. On paths that AWS manages, AWS does not say from which of its groups: from any (INF). */
function sourcesFor({ paths }: CheckRoute, instance: PathEnd): readonly PathEnd[] {
  if (paths.length === 0) return [instance];
  return paths
    .filter(({ destinations }) =>
      destinations.some(end => end.subnetId === instance.subnetId && instance.groupIds.includes(end.groupId)),
    )
    .map(({ source }) => ({ subnetId: source.subnetId, groupIds: [source.groupId] }));
}

/** US dollars an hour for so many interfaces, whether a check needs them or not. */
export const hourlyCost = (interfaces: number): number =>
  Math.round(interfaces * CHECK_PRICES.interfaceHour * 100) / 100;
