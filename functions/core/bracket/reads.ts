import { applicationStatusChecks, applicationStatuses } from '../aws/application-status.ts';
import { groupMemberships, groups, refreshInProgress } from '../aws/auto-scaling.ts';
import {
  loadBalancerAttributes,
  loadBalancerTypes,
  tagsOf,
  targetGroupAttributes,
  targetGroups,
  targetGroupsOfVpc,
  targetHealth,
} from '../aws/elastic-load-balancing.ts';
import { describeInstances } from '../aws/instances.ts';
import { HEALTH, type Sharing, sharingOf } from './sharing.ts';

/** Everything that a plan reads of AWS. */
export type Reads = ReturnType<typeof readsThrough>;

const readsThrough = ({ state, settings, instances }: Sharing) => ({
  describeInstances: instances('instances', describeInstances),
  applicationStatuses: instances('statuses', applicationStatuses),
  groupMemberships: instances('memberships', groupMemberships),
  groups: state('groups', groups),
  refreshInProgress: state('refresh', refreshInProgress),
  targetHealth: state(HEALTH, targetHealth),
  applicationStatusChecks: settings('checks', applicationStatusChecks),
  targetGroups: settings('target-groups', targetGroups),
  targetGroupsOfVpc: settings('target-groups-of-vpc', targetGroupsOfVpc),
  targetGroupAttributes: settings('target-group-attributes', targetGroupAttributes),
  loadBalancerTypes: settings('load-balancers', loadBalancerTypes),
  loadBalancerAttributes: settings('load-balancer-attributes', loadBalancerAttributes),
  tagsOf: settings('tags', tagsOf),
});

/** The reads of a plan, as old as `notBefore` at the most (milliseconds since the epoch). */
export const readsFor = async (observer: string | undefined, notBefore: number): Promise<Reads> =>
  readsThrough(await sharingOf(observer, notBefore));
