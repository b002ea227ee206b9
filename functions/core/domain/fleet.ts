/** A target exactly as DescribeTargetHealth lists it (D27): what is listed is what is acted on, and what is put back. */
export interface ListedTarget {
  readonly id: string;
  readonly port?: number;
  readonly availabilityZone?: string;
  readonly quicServerId?: string;
}

/** One target group that an instance is registered in, on one port. */
export interface Membership {
  readonly targetGroupArn: string;
  readonly target: ListedTarget;
}

/** What of the bracket applies to one instance of the fleet, decided at plan time. */
export interface Member {
  readonly instanceId: string;
  readonly zone: string;
  readonly addresses: readonly string[];
  readonly autoScalingGroup?: string;
  /** Checks whose failure reaches Auto Scaling. */
  readonly includedChecks: readonly string[];
  readonly excludedChecks: readonly string[];
  /** `ours` is enabled and released by the run; `others` was found and stays; `none` has no check to suppress. */
  readonly suppression: 'ours' | 'others' | 'none';
  /** When the suppression that somebody else had set ends by itself (seconds since the epoch); absent when it does not. */
  readonly othersUntil?: number;
  /** Where the run takes it out of traffic; empty when somebody else moves the traffic or there is none. */
  readonly memberships: readonly Membership[];
  /** What somebody else was taking out when the run began: its connections are waited for, and it is not put back. */
  readonly draining?: readonly Membership[];
}

/** An instance of the request that the bracket does not apply to, and why (D1, D30, D35). */
export interface Bystander {
  readonly instanceId: string;
  readonly reason: string;
}

/** Key of a target within its group. */
export const targetKey = (target: { readonly id: string; readonly port?: number | undefined }): string =>
  `${target.id}:${target.port ?? ''}`;

/** Key of a target among those of all groups. */
export const membershipKey = ({ targetGroupArn, target }: Membership): string =>
  `${targetGroupArn} ${targetKey(target)}`;
