import type { Member } from './fleet.ts';
import { isRegistered, receives } from './floors.ts';
import { judgeReady, type StatusSeen } from './goals.ts';

/** What a run's policy wants for an instance that is not proven ready (D38). */
export type AfterFailure = 'put-back' | 'held' | 'replaced';

/**
 * How long the evidence is waited for after a run has failed: two evaluations of each check (60 s apart), a description
 * that lies a minute behind, and two minutes for an application that is just starting.
 */
export const PROOF_SECONDS = 2 * 60 + 60 + 120;

/** One target of a member as it is listed now; a target that is out of traffic has no entry. */
export interface ListedHealth {
  readonly state: string;
  readonly reason?: string | undefined;
  readonly shifted: boolean;
}

export interface FailureFacts {
  readonly policy: AfterFailure;
  /** Without a go-ahead nothing was deployed: everything is put back. */
  readonly deployed: boolean;
  readonly member: Member;
  readonly status: StatusSeen | undefined;
  readonly targets: readonly ListedHealth[];
  /** Evidence is what was evaluated after the run had failed (milliseconds since the epoch). */
  readonly failedAt: number;
  /** Is there no time left to wait for evidence? */
  readonly late: boolean;
}

export type Decision =
  | { readonly verdict: 'put-back' }
  /** Not proven yet: nothing is done with it until it is, or time is up. */
  | { readonly verdict: 'wait'; readonly reason: string }
  | { readonly verdict: 'held' | 'replaced'; readonly reason: string };

/** What becomes of one instance of a failed run, from what is seen of it now (R-STATE). */
export function decideAfterFailure(facts: FailureFacts): Decision {
  const { policy, deployed, member, late } = facts;
  const replaceable = policy !== 'replaced' || member.autoScalingGroup !== undefined;
  if (!deployed || !replaceable || (policy !== 'held' && policy !== 'replaced'))
    return { verdict: 'put-back' };
  const reason = whyUnproven(facts);
  if (reason === undefined) return { verdict: 'put-back' };
  return { verdict: late ? policy : 'wait', reason };
}

/**
 * Why nothing proves that an instance works; undefined when something does. Its included checks do, each by the Code of a
 * fresh evaluation, as long as no target of it fails. Without such a check only targets that receive traffic do.
 */
function whyUnproven({ member, status, targets, failedAt }: FailureFacts): string | undefined {
  const ready = judgeReady(member, status, failedAt);
  if (ready.verdict === 'waiting') return ready.reason;
  const failing = targets.find(target => target.state.startsWith('unhealthy'));
  if (failing) return `a target of it is ${failing.state}${failing.reason ? ` (${failing.reason})` : ''}`;
  if (member.includedChecks.length > 0 || member.memberships.length === 0) return undefined;
  if (targets.length === member.memberships.length && targets.every(receives)) return undefined;
  return 'it has no check that could prove it ready, and does not receive traffic';
}

/**
 * Is a held instance's target where it should be? One that receives traffic stays in it: taking a healthy target out is for a
 * run that watches the floors. Every other one leaves, which makes nothing worse (D37).
 */
export const mayStayListed = (target: ListedHealth): boolean => !isRegistered(target) || receives(target);
