import * as autoScaling from '../aws/auto-scaling.ts';
import * as ec2 from '../aws/ec2.ts';
import * as elb from '../aws/elastic-load-balancing.ts';
import { findObserver } from '../ledger/observers.ts';
import { readShared } from '../ledger/shared-reads.ts';

const direct = {
  describeInstances: ec2.describeInstances,
  applicationStatuses: ec2.applicationStatuses,
  applicationStatusChecks: ec2.applicationStatusChecks,
  groupMemberships: autoScaling.groupMemberships,
  groups: autoScaling.groups,
  refreshInProgress: autoScaling.refreshInProgress,
  targetGroups: elb.targetGroups,
  targetGroupsOfVpc: elb.targetGroupsOfVpc,
  targetGroupAttributes: elb.targetGroupAttributes,
  targetHealth: elb.targetHealth,
  loadBalancerTypes: elb.loadBalancerTypes,
  loadBalancerAttributes: elb.loadBalancerAttributes,
  tagsOf: elb.tagsOf,
};

/**
 * Everything that the bracket reads of AWS to decide. A run of its own reads directly; the runs of one deployment share each
 * read (D10), so that hundreds of per-instance runs cost what one run over all their instances would.
 */
export type Reads = Readonly<typeof direct>;

export const directReads: Reads = direct;

/** Instances whose state is kept in one item: 400 KB hold ten times as many, compressed. */
const SHARD = 500;

/** Settings of groups, load balancers and checks: nobody changes them by the minute (D11). */
const SETTINGS_MAX_AGE_MS = 180_000;

/**
 * @param observer the deployment whose runs share their reads; undefined for a run of its own
 * @param notBefore what was read earlier is too old to decide by, in milliseconds since the epoch
 */
export async function readsFor(observer: string | undefined, notBefore: number): Promise<Reads> {
  if (observer === undefined) return direct;
  const known = (await findObserver(observer))?.instanceIds ?? [];
  const settled = Date.now() - SETTINGS_MAX_AGE_MS;

  const shared =
    <A extends readonly unknown[], R>(name: string, age: number, read: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      readShared({ key: `${name} ${JSON.stringify(args)}`, notBefore: age, read: () => read(...args) });

  /** Reads the whole shard that an instance belongs to, and gives each run its own out of it. */
  const ofInstances =
    <R>(name: string, age: number, read: (ids: readonly string[]) => Promise<Map<string, R>>) =>
    async (ids: readonly string[]): Promise<Map<string, R>> => {
      const found = new Map<string, R>();
      const shards = new Set(ids.map(id => Math.floor(known.indexOf(id) / SHARD)));
      for (const shard of shards) {
        const members =
          shard < 0 ? ids.filter(id => !known.includes(id)) : known.slice(shard * SHARD, (shard + 1) * SHARD);
        const seen =
          shard < 0
            ? await read(members)
            : await readShared({
                key: `${name} ${observer} ${shard}`,
                notBefore: age,
                read: () => read(members),
              });
        for (const id of ids) {
          const one = seen.get(id);
          if (one !== undefined) found.set(id, one);
        }
      }
      return found;
    };

  return {
    describeInstances: ofInstances('instances', notBefore, direct.describeInstances),
    applicationStatuses: ofInstances('statuses', notBefore, direct.applicationStatuses),
    groupMemberships: ofInstances('memberships', notBefore, direct.groupMemberships),
    groups: shared('groups', notBefore, direct.groups),
    refreshInProgress: shared('refresh', notBefore, direct.refreshInProgress),
    targetHealth: shared('health', notBefore, direct.targetHealth),
    applicationStatusChecks: shared('checks', settled, direct.applicationStatusChecks),
    targetGroups: shared('target-groups', settled, direct.targetGroups),
    targetGroupsOfVpc: shared('target-groups-of-vpc', settled, direct.targetGroupsOfVpc),
    targetGroupAttributes: shared('target-group-attributes', settled, direct.targetGroupAttributes),
    loadBalancerTypes: shared('load-balancers', settled, direct.loadBalancerTypes),
    loadBalancerAttributes: shared('load-balancer-attributes', settled, direct.loadBalancerAttributes),
    tagsOf: shared('tags', settled, direct.tagsOf),
  };
}
