import type { ApplicationStatusFacts } from '../aws/application-status.ts';
import { type Member, type Membership, membershipKey } from '../domain/fleet.ts';
import type { InstanceRecord } from '../ledger/items.ts';
import type { RunRequest } from '../request.ts';
import type { Candidate } from './discover-fleet.ts';
import type { Traffic } from './discover-traffic.ts';

/** What of the bracket applies to an instance: by its checks, its targets, and what runs have done to it already. */
export function toMember(
  { facts, autoScalingGroup }: Candidate,
  status: ApplicationStatusFacts | undefined,
  record: InstanceRecord | undefined,
  traffic: Traffic,
  request: RunRequest,
): Member {
  const claims = [...(record?.claims.values() ?? [])].map(claim => claim.member);
  const checks = status?.checks ?? [];
  const included = checks.filter(check => check.aggregation === 'included').map(check => check.checkId);
  const excluded = checks.filter(check => check.aggregation !== 'included').map(check => check.checkId);
  const memberships = request.traffic === 'drain' ? membershipsOf(facts.id, record, traffic) : [];
  const ours = new Set(memberships.map(membershipKey));
  const draining = traffic.drainingOf(facts.id).filter(membership => !ours.has(membershipKey(membership)));
  return {
    instanceId: facts.id,
    zone: facts.zone,
    addresses: facts.privateAddresses,
    ...(autoScalingGroup ? { autoScalingGroup } : {}),
    includedChecks: included,
    excludedChecks: excluded,
    ...suppressionOf(status, claims),
    memberships,
    ...(draining.length > 0 && { draining }),
  };
}

/** Does it have connections, of its own or left, that are waited for? */
export const isInTraffic = ({ memberships, draining = [] }: Member): boolean =>
  memberships.length + draining.length > 0;

/** Whose suppression it is: what another run found there, or keeps there, is that still. */
function suppressionOf(
  status: ApplicationStatusFacts | undefined,
  claims: readonly Member[],
): Pick<Member, 'suppression' | 'othersUntil'> {
  const others = claims.find(member => member.suppression === 'others');
  if (others) {
    const { suppression, othersUntil } = others;
    return { suppression, ...(othersUntil !== undefined && { othersUntil }) };
  }
  const ours = claims.some(member => member.suppression === 'ours');
  if (status?.status !== 'suppressed' || ours)
    // Also without a check: one that was deleted meanwhile leaves what a run of ours has suppressed for it.
    return { suppression: ours || (status?.checks ?? []).length > 0 ? 'ours' : 'none' };
  const ends = status.resumesAt;
  return { suppression: 'others', ...(ends && { othersUntil: Math.ceil(ends.getTime() / 1000) }) };
}

/** What is listed, and what a live run has taken out and will put back: that traffic is the run's, not nobody's. */
function membershipsOf(
  instanceId: string,
  record: InstanceRecord | undefined,
  traffic: Traffic,
): readonly Membership[] {
  const listed = traffic.membershipsOf(instanceId);
  const known = new Set(listed.map(membershipKey));
  const out = record?.traffic === undefined ? [] : record.memberships;
  return [...listed, ...out.filter(membership => !known.has(membershipKey(membership)))];
}
