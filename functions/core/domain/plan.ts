import type { Budgets } from './budgets.ts';
import type { Bystander } from './fleet.ts';
import type { FloorSettings } from './floors.ts';

/** A target group of the fleet, with the settings that decide how it is drained and filled. */
export interface PlannedGroup {
  readonly arn: string;
  readonly name: string;
  readonly targetType: string;
  readonly deregistrationDelaySeconds: number;
  readonly slowStartSeconds: number;
  /** Interval x healthy threshold + time-out of its health check. */
  readonly inServiceSeconds: number;
  /** False for a group without a load balancer: nothing is served from it, so no floor holds. */
  readonly serves: boolean;
  readonly floor: FloorSettings;
}

/** What is done about one Auto Scaling group's own health verdicts. */
export interface PlannedHolding {
  readonly group: string;
  readonly mode: 'hold' | 'standby';
  readonly processes: readonly string[];
  /** The groups that Auto Scaling itself registers its instances in. */
  readonly targetGroupArns: readonly string[];
}

/** Everything decided before anything is touched. Ids and settings only; what concerns one instance is in its claim. */
export interface Plan {
  readonly instanceIds: readonly string[];
  readonly bystanders: readonly Bystander[];
  readonly groups: readonly PlannedGroup[];
  readonly holdings: readonly PlannedHolding[];
  readonly budgets: Budgets;
  readonly suppressing: number;
  readonly draining: number;
  /** Suppression has to last until then (seconds since the epoch). */
  readonly suppressUntil: number;
  /** The run over the whole fleet to which this one leaves its instances once they are in service. */
  readonly coveredBy?: string;
  /** What a person should know: things skipped, lifted, or found. */
  readonly remarks: readonly string[];
}
