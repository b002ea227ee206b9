import type { Goal } from '../../functions/core/domain/goals.ts';
import {
  AUTO_SCALING_INSTANCES,
  BATCH_GET_ITEMS,
  DEPLOYMENT_TARGETS,
  STATUS_INSTANCES,
  SUPPRESSION_INSTANCES,
  TARGETS_PER_CALL,
} from '../../functions/core/limits.ts';

/** One act or look of a run: what one function of the machines is asked for. */
export type Step =
  | {
      readonly kind:
        | 'plan'
        | 'suppress'
        | 'deregister'
        | 'go-ahead'
        | 'resume'
        | 'register'
        | 'release'
        | 'succeed';
    }
  | { readonly kind: 'look'; readonly goals: readonly Goal[] };

/** What the bound depends on: a fleet in which each instance is registered once in each target group. */
export interface FleetSize {
  /** Of one run. */
  readonly instances: number;
  readonly targetGroups: number;
  readonly loadBalancers: number;
  /** Auto Scaling groups whose health processes are held. */
  readonly autoScalingGroups: number;
  /** The request names a CodeDeploy deployment, not instances. */
  readonly byDeployment: boolean;
}

/** Calls by `service:action`. */
export type Calls = ReadonlyMap<string, number>;

/**
 * The fewest calls that AWS's batch limits allow for these acts and looks, done one after the other by functions that
 * share nothing but the ledger. Each step reads its run and its members once; every act on a batch is preceded by one read
 * of the run (D5: the fence); a look reads what its goals rest on once. DynamoDB has no conditional batch write, and its
 * transactions hold 100 items at twice the price, so claiming, releasing and ending cost one write an instance each.
 */
export function callBound(steps: readonly Step[], fleet: FleetSize): Calls {
  const sum = new Map<string, number>();
  // Suspending, like each target group's entry in the ledger, is done by the first of repeated acts alone.
  const seen = new Set<string>();
  for (const step of steps) {
    const repeated = seen.has(step.kind);
    seen.add(step.kind);
    for (const [name, count] of Object.entries(callsOf(step, fleet, repeated)))
      if (count > 0) sum.set(name, (sum.get(name) ?? 0) + count);
  }
  return sum;
}

/** Values in one filter of DescribeInstances. GUIDE: "List and filter using the CLI and API". */
const FILTER_VALUES = 200;
/** Resources in one DescribeTargetGroups, DescribeTags or DescribeLoadBalancers of Elastic Load Balancing. SDK. */
const ELB_RESOURCES = 20;
/** Targets in one page of ListDeploymentTargets, as the simulated account pages them: the SDK names no size. */
const LISTED_DEPLOYMENT_TARGETS = 100;

function callsOf(step: Step, fleet: FleetSize, repeated: boolean): Readonly<Record<string, number>> {
  const { instances, targetGroups, autoScalingGroups } = fleet;
  const readMembers = Math.ceil(instances / BATCH_GET_ITEMS);
  const readStatuses = Math.ceil(instances / STATUS_INSTANCES);
  const suppressions = Math.ceil(instances / SUPPRESSION_INSTANCES);
  const moves = targetGroups * Math.ceil(instances / TARGETS_PER_CALL);
  switch (step.kind) {
    case 'plan':
      return {
        ...(fleet.byDeployment && {
          'codedeploy:GetDeployment': 1,
          'codedeploy:ListDeploymentTargets': Math.ceil(instances / LISTED_DEPLOYMENT_TARGETS),
          'codedeploy:BatchGetDeploymentTargets': Math.ceil(instances / DEPLOYMENT_TARGETS),
        }),
        'ec2:DescribeInstances': Math.ceil(instances / FILTER_VALUES),
        'ec2:DescribeApplicationStatus': readStatuses,
        'ec2:DescribeApplicationStatusChecks': 1,
        'autoscaling:DescribeAutoScalingInstances': Math.ceil(instances / AUTO_SCALING_INSTANCES),
        'autoscaling:DescribeAutoScalingGroups': Math.min(1, autoScalingGroups),
        'autoscaling:DescribeInstanceRefreshes': autoScalingGroups,
        'elasticloadbalancing:DescribeTargetGroups': Math.ceil(targetGroups / ELB_RESOURCES),
        'elasticloadbalancing:DescribeTags': Math.ceil(targetGroups / ELB_RESOURCES),
        'elasticloadbalancing:DescribeTargetGroupAttributes': targetGroups,
        'elasticloadbalancing:DescribeTargetHealth': targetGroups,
        'elasticloadbalancing:DescribeLoadBalancers': Math.ceil(fleet.loadBalancers / ELB_RESOURCES),
        'elasticloadbalancing:DescribeLoadBalancerAttributes': fleet.loadBalancers,
        'dynamodb:GetItem': 2,
        'dynamodb:BatchGetItem': Math.ceil((instances + targetGroups) / BATCH_GET_ITEMS),
        'dynamodb:UpdateItem': 1 + instances,
      };
    case 'suppress':
      return {
        'dynamodb:GetItem': suppressions,
        'dynamodb:BatchGetItem': readMembers,
        'dynamodb:UpdateItem': 1,
        'ec2:DescribeApplicationStatus': readStatuses,
        'ec2:EnableApplicationStatusCheckSuppression': suppressions,
      };
    case 'deregister':
      return {
        'dynamodb:GetItem': repeated ? 1 : moves,
        'dynamodb:BatchGetItem': readMembers,
        // The hold and the mark that something is done; then each group's guard: taken, written, given back.
        'dynamodb:UpdateItem': autoScalingGroups + 1 + 3 * targetGroups,
        'autoscaling:DescribeAutoScalingGroups': autoScalingGroups,
        'autoscaling:SuspendProcesses': repeated ? 0 : autoScalingGroups,
        'elasticloadbalancing:DescribeTargetHealth': targetGroups,
        'elasticloadbalancing:DeregisterTargets': repeated ? 0 : moves,
      };
    case 'register':
      return {
        'dynamodb:GetItem': repeated ? 1 : moves,
        'dynamodb:BatchGetItem': readMembers,
        'dynamodb:UpdateItem': repeated ? 0 : targetGroups,
        'dynamodb:DeleteItem': repeated ? 0 : targetGroups,
        // Which members their groups are ending: those are put back nowhere (R-GONE).
        'autoscaling:DescribeAutoScalingGroups': autoScalingGroups,
        'elasticloadbalancing:RegisterTargets': repeated ? 0 : moves,
      };
    case 'release':
      return {
        'dynamodb:GetItem': repeated ? 1 : suppressions + autoScalingGroups,
        'dynamodb:BatchGetItem': readMembers,
        'dynamodb:UpdateItem': repeated ? 0 : instances + autoScalingGroups,
        'dynamodb:DeleteItem': repeated ? 0 : autoScalingGroups,
        'autoscaling:DescribeAutoScalingGroups': autoScalingGroups,
        'autoscaling:ResumeProcesses': repeated ? 0 : autoScalingGroups,
        'elasticloadbalancing:DescribeTargetHealth': autoScalingGroups > 0 ? targetGroups : 0,
        'ec2:DisableApplicationStatusCheckSuppression': repeated ? 0 : suppressions,
      };
    case 'go-ahead':
      return { 'dynamodb:UpdateItem': 1 };
    case 'resume':
      return { 'dynamodb:GetItem': 1, 'dynamodb:BatchGetItem': readMembers, 'dynamodb:UpdateItem': 1 };
    case 'succeed':
      return {
        'dynamodb:GetItem': 1,
        'dynamodb:BatchGetItem': readMembers,
        'dynamodb:DeleteItem': instances,
        'dynamodb:UpdateItem': 1,
      };
    case 'look': {
      const statuses = step.goals.some(goal => goal !== 'drained' && goal !== 'in-service');
      const targets = step.goals.some(goal => goal === 'drained' || goal === 'in-service');
      const leaving = step.goals.some(goal => goal === 'ready' || goal === 'in-service');
      return {
        'dynamodb:GetItem': 1,
        'dynamodb:BatchGetItem': readMembers,
        'ec2:DescribeApplicationStatus': statuses ? readStatuses : 0,
        'autoscaling:DescribeAutoScalingGroups': leaving ? autoScalingGroups : 0,
        'elasticloadbalancing:DescribeTargetHealth': targets ? targetGroups : 0,
      };
    }
  }
}
