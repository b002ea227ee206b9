import type { MarkedBy } from './auto-scaling-group.ts';

/** The texts of scaling activities, as AWS writes them. The application status one is measured, the others documented. */

const OUT_OF_SERVICE: Record<MarkedBy, string> = {
  ec2: 'an EC2 health check indicating it has been terminated or stopped.',
  'application-status': 'an EC2 Application Status check failure.',
  elb: 'an ELB system health check failure.',
  custom: 'a user health-check.',
};

/** An instant in whole seconds, as activities show it: `2026-11-30T09:00:00Z`. */
const at = (now: number): string => `At ${new Date(now).toISOString().slice(0, 19)}Z`;

export const causes = {
  unhealthy: (now: number, by: MarkedBy) =>
    `${at(now)} an instance was taken out of service in response to ${OUT_OF_SERVICE[by]}`,
  replacement: (now: number) =>
    `${at(now)} an instance was launched in response to an unhealthy instance needing to be replaced.`,
  grow: (now: number, from: number, to: number) =>
    `${at(now)} an instance was started in response to a difference between desired and actual capacity, increasing the capacity from ${from} to ${to}.`,
  shrink: (now: number, from: number, to: number, instanceId: string) =>
    `${at(now)} an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from ${from} to ${to}. ${at(now)} instance ${instanceId} was selected for termination.`,
  refresh: (now: number) =>
    `${at(now)} an instance was taken out of service in response to an instance refresh.`,
  rebalance: (now: number, subnetId: string) =>
    `${at(now)} an instance was launched to balance instances in subnet ${subnetId} with other zones, resulting in more than the desired number of instances in the group.`,
  userTermination: (now: number, instanceId: string) =>
    `${at(now)} instance ${instanceId} was taken out of service in response to a user request.`,
  enterStandby: (now: number, instanceId: string, shrinking: string) =>
    `${at(now)} instance ${instanceId} was moved to standby in response to a user request${shrinking}.`,
  exitStandby: (now: number, instanceId: string) =>
    `${at(now)} instance ${instanceId} was moved out of standby in response to a user request.`,
} as const;

/** Has a group ended an instance because it took it for unhealthy, and not to shrink, to refresh or because it was asked to? */
export const isForHealth = (cause: string): boolean =>
  Object.values(OUT_OF_SERVICE).some(text => cause.endsWith(text));
