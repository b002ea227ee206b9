import { type BudgetFacts, computeBudgets } from './budgets.ts';
import type { Membership } from './fleet.ts';
import type { Plan, PlannedGroup, PlannedHolding } from './plan.ts';

/** What the ledger holds for a run that it has no record of. */
export interface LostRun {
  readonly instanceIds: readonly string[];
  readonly memberships: readonly Membership[];
  /** Target groups in which targets of it count as taken out. */
  readonly targetGroupArns: readonly string[];
  readonly holds: readonly {
    readonly group: string;
    readonly suspended: readonly string[];
    readonly alone?: boolean;
  }[];
}

/** What a usual fleet may take: the record that knew better is gone. AWS's and this product's own defaults, in seconds. */
const USUAL: BudgetFacts = {
  leadSeconds: 0,
  suppressing: true,
  drainDelaySeconds: 300,
  holding: true,
  floorWaitSeconds: 0,
  covered: false,
  deploymentSeconds: 0,
  readySeconds: 900,
  readyBeforeTraffic: false,
  readyEvaluations: 2,
  checked: true,
  checkIntervalSeconds: 60,
  provesAfterFailure: false,
  inServiceSeconds: 300,
};

/** A plan by which all of it can be undone, worked out from what is held. */
export function planOfLost({ instanceIds, memberships, targetGroupArns, holds }: LostRun): Plan {
  const arns = [...new Set([...memberships.map(one => one.targetGroupArn), ...targetGroupArns])];
  return {
    instanceIds,
    bystanders: [],
    groups: arns.map(arn => groupOf(arn, memberships)),
    holdings: holds.map(
      ({ group, suspended, alone = false }): PlannedHolding => ({
        group,
        mode: alone ? 'standby' : 'hold',
        processes: suspended,
        targetGroupArns: arns,
      }),
    ),
    budgets: computeBudgets(USUAL),
    suppressing: instanceIds.length,
    draining: arns.length > 0 ? instanceIds.length : 0,
    suppressUntil: 0,
    remarks: ['The record of this run was lost, and written again from what the ledger still held for it.'],
  };
}

function groupOf(arn: string, memberships: readonly Membership[]): PlannedGroup {
  const ids = memberships.filter(one => one.targetGroupArn === arn).map(one => one.target.id);
  return {
    arn,
    name: arn.split('/')[1] ?? arn,
    targetType: ids.every(id => id.startsWith('i-')) ? 'instance' : 'ip',
    deregistrationDelaySeconds: 300,
    slowStartSeconds: 0,
    inServiceSeconds: 300,
    serves: true,
    floor: { crossZone: true, minHealthyPercent: 0, minHealthyCount: 0, minHealthyShareOfRegistered: 0 },
  };
}
