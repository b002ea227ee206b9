/** The caller of a hook as Lambda's IAM authorizer names it. */
export interface Caller {
  /** `AROA...:i-0123...` for the credentials of an instance profile. */
  readonly userId: string;
}

/** The instance whose own credentials signed the call; undefined for every other kind of caller (D9). */
export function callingInstance({ userId }: Caller): string | undefined {
  const [role, session, ...rest] = userId.split(':');
  if (!role?.startsWith('AROA') || rest.length > 0) return undefined;
  return session && /^i-[0-9a-f]{8,17}$/.test(session) ? session : undefined;
}

export type EventStanding = 'in-progress' | 'not-yet' | 'over';

/** What CodeDeploy says of one target of a deployment. */
export interface TargetStanding {
  readonly deploymentStatus: string;
  readonly targetStatus: string;
  /** Status by lifecycle event name. */
  readonly events: Readonly<Record<string, string>>;
}

/** Has the deployment, or this target of it, come to its end? Then none of its events will run again. */
export const hasEnded = ({ deploymentStatus, targetStatus }: TargetStanding): boolean =>
  isOver(deploymentStatus) || isOver(targetStatus);

/** Is a deployment, or a target, of this status at its end? */
export const isOver = (status: string): boolean => ENDED.has(status);

const ENDED = new Set(['Succeeded', 'Failed', 'Stopped', 'Skipped']);
const BEGINNING = new Set(['Created', 'Queued', 'Pending']);

/**
 * Is this lifecycle event of this target really running? What is over is refused (a replayed call); what has not begun yet
 * may only be late to show, since CodeDeploy's status is eventually consistent.
 */
export function standingOf(
  { deploymentStatus, targetStatus, events }: TargetStanding,
  event: string,
): EventStanding {
  const all = [deploymentStatus, targetStatus, events[event] ?? 'Pending'];
  if (all.every(status => status === 'InProgress')) return 'in-progress';
  return all.every(status => status === 'InProgress' || BEGINNING.has(status)) ? 'not-yet' : 'over';
}
