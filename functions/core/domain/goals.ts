import type { Member, Membership } from './fleet.ts';
import { isRegistered, receives } from './floors.ts';
import { type CheckResult, judgeCheck } from './readiness.ts';

/** What a loop waits for. */
export const goals = [
  'suppressed',
  'drained',
  'earlier-ready',
  'in-service',
  'ready',
  'released',
  'undone',
] as const;
export type Goal = (typeof goals)[number];

/** What one look at one instance or one of its targets says about a goal. */
export type Sighting =
  | { readonly verdict: 'met' }
  /** `absent` when nothing at all was seen where something should be: the instance may be gone. */
  | { readonly verdict: 'waiting'; readonly reason: string; readonly absent: boolean }
  /** The instance is terminated: it is finished, not failed (R-GONE). */
  | { readonly verdict: 'gone' }
  /** Waiting cannot help. */
  | { readonly verdict: 'refused'; readonly reason: string };

const MET: Sighting = { verdict: 'met' };
const waiting = (reason: string): Sighting => ({ verdict: 'waiting', reason, absent: false });
const absent = (reason: string): Sighting => ({ verdict: 'waiting', reason, absent: true });

export interface StatusSeen {
  readonly status: string;
  readonly resumesAt?: Date;
  readonly checks: readonly CheckResult[];
}

/**
 * Suppressed until at least `until` (milliseconds since the epoch). An instance without an included check may never
 * show `suppressed`: there, an overall status that Auto Scaling does not act on is as good, in two reads (D13).
 */
export function judgeSuppressed(member: Member, seen: StatusSeen | undefined, until: number): Sighting {
  if (member.suppression === 'none') return MET;
  const included = seen?.checks.some(check => check.aggregation === 'included') ?? false;
  if (seen?.status === 'suppressed') {
    if (seen.resumesAt === undefined || seen.resumesAt.getTime() >= until) return MET;
    return waiting('its suppression ends before the deployment may be over');
  }
  if (member.includedChecks.length === 0 && !included && seen?.status !== 'impaired') return MET;
  if (seen === undefined) return absent('no application status is reported');
  return waiting(`its application status is ${seen.status}`);
}

/** The suppression is over: any other overall status. */
export function judgeReleased(member: Member, seen: StatusSeen | undefined): Sighting {
  const lengthened = member.suppression === 'others' && member.othersUntil !== undefined;
  if (seen === undefined || !(member.suppression === 'ours' || lengthened)) return MET;
  return seen.status === 'suppressed' ? waiting('it is still suppressed') : MET;
}

/** Every included check of the instance passed in an evaluation newer than `newerThan` (milliseconds since the epoch). */
export function judgeReady(member: Member, seen: StatusSeen | undefined, newerThan: number): Sighting {
  for (const checkId of member.includedChecks) {
    const result = seen?.checks.find(check => check.checkId === checkId);
    // D47: a target over the account's quota is not monitored and reports nothing.
    if (!result)
      return absent(`check ${checkId} reports nothing: is the account's quota of targets used up?`);
    const verdict = judgeCheck(result, newerThan);
    if (verdict !== 'passed') return waiting(describe(checkId, verdict, result));
  }
  return MET;
}

function describe(checkId: string, verdict: ReturnType<typeof judgeCheck>, result: CheckResult): string {
  if (verdict === 'failing') return `check ${checkId} fails with ${result.code ?? 'no reason'}`;
  if (verdict === 'starting') return `check ${checkId} is ${result.status}`;
  if (verdict === 'unknown-reason') return `check ${checkId} gives the unknown reason ${result.code}`;
  return `check ${checkId} has no newer evaluation yet`;
}

/** Every included check of the instance passed in its newest evaluation, however old. */
export const passesUnbroken = (member: Member, seen: StatusSeen | undefined): boolean =>
  judgeReady(member, seen, Number.NEGATIVE_INFINITY).verdict === 'met';

export interface TargetSeen {
  readonly state: string;
  readonly reason?: string | undefined;
}

/** Drained is `unused` or absent, never a time that has passed (R-STATE). */
export function judgeDrained(membership: Membership, seen: TargetSeen | undefined): Sighting {
  if (seen === undefined || seen.state === 'unused') return MET;
  return waiting(`target ${where(membership)} is ${seen.state}`);
}

/** Receives traffic again; the states in which a target never will are answers of their own (R-NOTINUSE). */
export function judgeInService(membership: Membership, seen: TargetSeen | undefined): Sighting {
  const at = where(membership);
  if (!isListed(seen)) return absent(`target ${at} is not registered`);
  switch (`${seen.state} ${seen.reason ?? ''}`.trim()) {
    case 'healthy':
    case 'unused Target.NotInUse':
    case 'unavailable Target.HealthCheckDisabled':
      return MET;
    // Stopped or terminated: which of the two, the instance itself tells.
    case 'unused Target.InvalidState':
      return absent(`the instance of target ${at} does not run`);
    case 'unused Target.IpUnusable':
      return { verdict: 'refused', reason: `target ${at} has an address that the load balancer cannot use` };
    default:
      return waiting(`target ${at} is ${seen.state}${seen.reason ? ` (${seen.reason})` : ''}`);
  }
}

/**
 * Was the act not taken, or has somebody reversed it? A target that should be out is registered, or one that should be back
 * is not: waiting cannot help, the act is repeated (D36).
 */
export function isReversed(goal: Goal, seen: TargetSeen | undefined): boolean {
  if (goal === 'drained') return seen !== undefined && isRegistered(seen);
  return goal === 'in-service' && (!isListed(seen) || seen.state === 'draining');
}

/** Registered again, whatever its health: what undo promises. */
export function judgePutBack(membership: Membership, seen: TargetSeen | undefined): Sighting {
  if (seen?.state === 'unused' && seen.reason === 'Target.InvalidState')
    return absent(`the instance of target ${where(membership)} does not run`);
  if (!isListed(seen)) return absent(`target ${where(membership)} is not registered`);
  // An `unhealthy.draining` target is registered: it keeps the connections that it has.
  if (seen.state === 'draining') return waiting(`target ${where(membership)} is ${seen.state}`);
  return MET;
}

/** Out of traffic, as a held instance is; one that receives traffic is left in it (D38). */
export function judgeKeptOut(membership: Membership, seen: TargetSeen | undefined): Sighting {
  if (seen === undefined || seen.state === 'unused' || receives({ ...seen, shifted: false })) return MET;
  return waiting(`target ${where(membership)} is ${seen.state}`);
}

/** A target that was asked for by name and is in no group is described all the same, as not registered. */
const isListed = (seen: TargetSeen | undefined): seen is TargetSeen =>
  seen !== undefined && !(seen.state === 'unused' && seen.reason === 'Target.NotRegistered');

const where = ({ targetGroupArn, target }: Membership): string =>
  `${target.id}:${target.port ?? '-'} of ${targetGroupArn.split('/')[1] ?? targetGroupArn}`;

/** The sum of one look over the fleet. Small, whatever the size of the fleet (R-PAYLOAD). */
export interface Verdict {
  readonly verdict: 'met' | 'waiting' | 'refused';
  readonly met: number;
  readonly waiting: number;
  readonly gone: number;
  /** The first few reasons, for people. */
  readonly reasons: readonly string[];
}

const SHOWN_REASONS = 5;

/** An instance meets a goal when each of its sightings does; a gone one counts as finished. Refusals are told first. */
export function sumUp(byInstance: ReadonlyMap<string, readonly Sighting[]>): Verdict {
  let met = 0;
  let gone = 0;
  const waits: string[] = [];
  const refusals: string[] = [];
  for (const [instanceId, sightings] of byInstance) {
    const refused = sightings.find(sighting => sighting.verdict === 'refused');
    const open = refused ?? sightings.find(sighting => sighting.verdict === 'waiting');
    if (sightings.some(sighting => sighting.verdict === 'gone')) gone++;
    else if (!open) met++;
    else (refused ? refusals : waits).push(`${instanceId}: ${open.reason}`);
  }
  const waitingCount = refusals.length + waits.length;
  return {
    verdict: refusals.length > 0 ? 'refused' : waitingCount > 0 ? 'waiting' : 'met',
    met,
    waiting: waitingCount,
    gone,
    reasons: [...refusals, ...waits].slice(0, SHOWN_REASONS),
  };
}
