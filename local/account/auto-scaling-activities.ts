import type { Activity, ScalingActivityStatusCode } from '@aws-sdk/client-auto-scaling';
import type { Group, Member } from './auto-scaling-group.ts';
import type { ServiceEvent } from './neighbours.ts';
import { uuid } from './uuid.ts';
import type { World } from './world.ts';

export type ActivityKind = 'launch' | 'terminate' | 'enter-standby' | 'exit-standby';

/** A scaling activity, still running or ended. Times are milliseconds since the epoch. */
export interface ScalingActivity {
  readonly id: string;
  readonly group: Group;
  readonly kind: ActivityKind;
  readonly member: Member;
  readonly cause: string;
  readonly startedAt: number;
  statusCode: ScalingActivityStatusCode;
  statusMessage: string | undefined;
  endedAt: number | undefined;
}

const DESCRIPTIONS: Record<ActivityKind, string> = {
  launch: 'Launching a new EC2 instance',
  terminate: 'Terminating EC2 instance',
  'enter-standby': 'Moving EC2 instance to Standby',
  'exit-standby': 'Moving EC2 instance out of Standby',
};

/** Auto Scaling shows a coarse progress: AWS documents no steps. */
const PROGRESS: Partial<Record<ScalingActivityStatusCode, number>> = {
  MidLifecycleAction: 50,
  WaitingForELBConnectionDraining: 50,
  Successful: 100,
  Failed: 100,
  Cancelled: 100,
};

/** The history of scaling activities, and the events about launches and terminations. */
export class Activities {
  readonly #history: ScalingActivity[] = [];
  readonly #world: World;
  readonly #onEvent: (event: ServiceEvent) => void;
  readonly #random;

  constructor(world: World, onEvent: (event: ServiceEvent) => void) {
    this.#world = world;
    this.#onEvent = onEvent;
    this.#random = world.random.fork('scaling-activities');
  }

  begin(group: Group, kind: ActivityKind, member: Member, cause: string): ScalingActivity {
    const activity: ScalingActivity = {
      id: uuid(this.#random),
      group,
      kind,
      member,
      cause,
      startedAt: this.#world.clock.now(),
      statusCode: 'InProgress',
      statusMessage: undefined,
      endedAt: undefined,
    };
    this.#history.push(activity);
    if (kind === 'launch' || kind === 'terminate') {
      const { instanceId } = member;
      this.#world.journal.record({ type: 'activity', group: group.name, kind, instanceId, cause });
    }
    return activity;
  }

  succeed(activity: ScalingActivity): void {
    this.#end(activity, 'Successful', undefined);
  }

  fail(activity: ScalingActivity, message: string): void {
    this.#end(activity, 'Failed', message);
  }

  /** Cancels what is under way with this instance: another activity takes it over. */
  cancelOf(member: Member): void {
    const open = this.#history.findLast(activity => activity.member === member && !activity.endedAt);
    if (open) this.#end(open, 'Cancelled', 'Another activity took the instance over.');
  }

  /** The newest first. */
  all(): readonly ScalingActivity[] {
    return this.#history.toReversed();
  }

  #end(activity: ScalingActivity, statusCode: ScalingActivityStatusCode, message: string | undefined): void {
    activity.statusCode = statusCode;
    activity.statusMessage = message;
    activity.endedAt = this.#world.clock.now();
    if (activity.kind === 'launch' || activity.kind === 'terminate') this.#announce(activity);
  }

  #announce(activity: ScalingActivity): void {
    const { group, member } = activity;
    const launches = activity.kind === 'launch';
    const succeeded = activity.statusCode === 'Successful';
    this.#onEvent({
      source: 'aws.autoscaling',
      'detail-type': `EC2 Instance ${launches ? 'Launch' : 'Terminate'} ${succeeded ? 'Successful' : 'Unsuccessful'}`,
      resources: [group.settings.arn, this.#arnOf(member)],
      detail: {
        // The guide's examples of these events show InProgress where the activity has succeeded.
        StatusCode: succeeded ? 'InProgress' : 'Failed',
        Description: descriptionOf(activity),
        AutoScalingGroupName: group.name,
        ActivityId: activity.id,
        Details: placeOf(member),
        RequestId: activity.id,
        StatusMessage: activity.statusMessage ?? '',
        EC2InstanceId: member.instanceId,
        StartTime: new Date(activity.startedAt).toISOString(),
        EndTime: this.#world.clock.date().toISOString(),
        Cause: activity.cause,
        Origin: launches ? 'EC2' : 'AutoScalingGroup',
        Destination: launches ? 'AutoScalingGroup' : 'EC2',
      },
    });
  }

  #arnOf(member: Member): string {
    const { partition, region, accountId } = this.#world;
    return `arn:${partition}:ec2:${region}:${accountId}:instance/${member.instanceId}`;
  }
}

const placeOf = (member: Member) => ({ 'Subnet ID': member.subnetId, 'Availability Zone': member.zone });

const descriptionOf = ({ kind, member }: ScalingActivity): string =>
  `${DESCRIPTIONS[kind]}: ${member.instanceId}`;

/** A scaling activity as the API shows it. */
export function describeActivity(activity: ScalingActivity): Activity {
  return {
    ActivityId: activity.id,
    AutoScalingGroupName: activity.group.name,
    AutoScalingGroupARN: activity.group.settings.arn,
    Description: descriptionOf(activity),
    Cause: activity.cause,
    StartTime: new Date(activity.startedAt),
    EndTime: activity.endedAt === undefined ? undefined : new Date(activity.endedAt),
    StatusCode: activity.statusCode,
    StatusMessage: activity.statusMessage,
    Progress: PROGRESS[activity.statusCode] ?? 0,
    Details: JSON.stringify(placeOf(activity.member)),
  };
}
