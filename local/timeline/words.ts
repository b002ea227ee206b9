import type { Lane, Mark, Phase, PhaseName, SpanState, Track } from './data.ts';

export const stateWords: Readonly<Record<SpanState, string>> = {
  spreading: 'suppression spreading',
  suppressed: 'suppressed',
  releasing: 'release spreading',
  healthy: 'healthy',
  initial: 'initial',
  unhealthy: 'unhealthy',
  draining: 'draining',
  out: 'out of traffic',
  ready: 'ready (check passed)',
  launching: 'launching',
  initializing: 'check initializing',
  'not-ready': 'check failing',
  impaired: 'impaired',
  deploying: 'deploying',
  replaced: 'replaced by Auto Scaling',
  terminated: 'terminated',
};

export const trackWords: Readonly<Record<Track, string>> = {
  suppression: 'Suppression',
  traffic: 'Traffic',
  application: 'Application',
};

export const phaseWords: Readonly<Record<PhaseName, string>> = {
  queue: 'Waiting for its turn',
  before: 'Before',
  lead: 'Lead',
  traffic: 'Out of traffic',
  deployment: 'Deployment',
  ready: 'Ready',
  inService: 'In service',
  readyAgain: 'Ready again',
  release: 'Release',
  undo: 'Undo',
};

export const roleWords: Readonly<Record<Lane['role'], string>> = {
  fleet: '',
  launched: 'launched meanwhile',
  bystander: 'bystander',
};

export const markWords: Readonly<Record<Mark['kind'], string>> = {
  'go-ahead': 'go-ahead',
  'marked-unhealthy': 'marked Unhealthy',
  'ended-by-auto-scaling': 'ended by Auto Scaling',
  violation: 'violation',
  ended: 'deployment ended',
};

/** `4:05`, or `1:04:05` from an hour on; fractions of a second are cut off. */
export function duration(ms: number): string {
  const whole = Math.floor(ms / 1000);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const padded = hours > 0 ? String(minutes).padStart(2, '0') : String(minutes);
  return `${hours > 0 ? `${hours}:` : ''}${padded}:${String(whole % 60).padStart(2, '0')}`;
}

/** A phase's time and what it was allowed, both as `4:05`. */
export function phaseUse({ from, to, budgetSeconds, completed }: Phase): string {
  const allowed = budgetSeconds === undefined ? '' : ` of ${duration(budgetSeconds * 1000)}`;
  return `${duration(to - from)}${allowed}${completed ? '' : ', broken off'}`;
}

/** `1 instance`, `2 instances`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** With commas between thousands. */
export const grouped = (count: number): string => count.toLocaleString('en-US');
