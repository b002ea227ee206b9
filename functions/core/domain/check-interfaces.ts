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
  /** Is it associated with anything, be there an instance now or not? */
  readonly isAssociated: boolean;
}

/** Which checks need an interface: one is made for each subnet and security group (GUIDE), whoever needs it. */
export class InterfaceUse {
  readonly #byPlace = new Map<string, Set<string>>();
  readonly #byGroup = new Map<string, Set<string>>();
  readonly #awaited: ReadonlySet<string>;

  constructor(checks: readonly CheckInUse[]) {
    const isManaged = ({ paths }: CheckRoute) => paths.length === 0;
    this.#awaited = new Set(
      checks.filter(one => one.isAssociated && isManaged(one.route)).map(({ id }) => id),
    );
    for (const { id, route, instances } of checks) {
      for (const { subnetId, groupIds } of instances.flatMap(end => sourcesFor(route, end)))
        for (const groupId of groupIds) {
          add(this.#byPlace, `${subnetId} ${groupId}`, id);
          add(this.#byGroup, groupId, id);
        }
      for (const { source, destinations } of route.paths)
        for (const { groupId } of [source, ...destinations]) add(this.#byGroup, groupId, id);
    }
  }

  /** The checks that need this interface, or one like it. */
  usersOf({ subnetId, securityGroupIds }: Omit<CheckInterface, 'id'>): string[] {
    const users = securityGroupIds.flatMap(groupId => [
      ...(this.#byPlace.get(`${subnetId} ${groupId}`) ?? []),
    ]);
    return [...new Set(users)].sort();
  }

  /** The checks that are asked from this group, and those whose paths name it although they are on no instance now. */
  usersOfGroup(groupId: string): string[] {
    return [...(this.#byGroup.get(groupId) ?? [])].sort();
  }

  /**
   * May one of the checks that needed an interface last need it again? It is still associated, be it with no instance now: a
   * fleet that is scaled to none comes back, and its launch template names the group, which EC2 would delete all the same.
   * Paths that somebody has written name their groups themselves.
   */
  isAwaited(lastUsers: readonly string[]): boolean {
    return lastUsers.some(id => this.#awaited.has(id));
  }
}

function add(users: Map<string, Set<string>>, key: string, checkId: string): void {
  const known = users.get(key) ?? new Set();
  users.set(key, known.add(checkId));
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
