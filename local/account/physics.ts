/**
 * How the simulated account behaves: every number once, with where it was measured or documented.
 *
 * SEED: a hands-on verification of EC2 Application Status Checks, 2026-08-13, ap-northeast-2.
 * UG: the EC2, Elastic Load Balancing and Auto Scaling user guides. SWITCH: AWS leaves it undocumented, so it is a
 * setting, and the product has to pass under each value.
 */
export interface Physics {
  /** SEED 3.4: from Enable to a described `suppressed`. */
  readonly suppressionSpreadSeconds: readonly [least: number, most: number];
  /** SEED 3.4: from Disable to a described release. */
  readonly releaseSpreadSeconds: readonly [least: number, most: number];
  /** SEED 5.1: how far DescribeApplicationStatus lies behind the service. */
  readonly describeLagSeconds: readonly [least: number, most: number];
  /** SEED 1.1: the probe interval, fixed. */
  readonly probeIntervalSeconds: number;
  /** SEED 4: two requests 0.73 s apart, presumably two checkers. */
  readonly checkerOffsetMs: number;
  /** SEED 3.2: from `impaired` to the start of the termination by Auto Scaling. */
  readonly autoScalingActsAfterImpairedSeconds: number;
  /** SWITCH (the polling period of ELB verdicts is unpublished). */
  readonly autoScalingElbPollSeconds: number;
  /** UG: EC2 Auto Scaling replaces about a tenth of the desired capacity at a time. */
  readonly replacedAtATimeShare: number;
  /** SEED 3.2 (replacement took about 3 minutes from its launch to `ok`): from launch to `running`. */
  readonly bootSeconds: readonly [least: number, most: number];
  /** SEED 4, aws.md 3: managed interfaces linger after their last use. */
  readonly interfaceLingerMinutes: readonly [least: number, most: number];
  /** INF: how long a network round trip and a service's answer take. */
  readonly callLatencyMs: readonly [least: number, most: number];
  /** SWITCH: what a second Enable does to an instance that is suppressed already. */
  readonly secondEnable: 'extends' | 'replaces' | 'fails';
  /** SWITCH: on connection errors SEED saw StatusCode 0 where the guide says that it is absent. */
  readonly connectionErrorStatusCode: 'zero' | 'absent';
  /** SWITCH: structured reason codes, codes nobody knows yet, or the legacy producer error types. */
  readonly reasonCodes: 'structured' | 'unknown' | 'legacy';
  /** SWITCH: what suppression shows on an instance without an included check. */
  readonly suppressedWithoutIncludedCheck: 'suppressed' | 'not-applicable' | 'absent';
  /** SWITCH: one article says that a target is unhealthy only when all nodes agree. */
  readonly unhealthyNeedsAllNodes: boolean;
  /** INF: how long a terminated instance stays listed as a target (`unused`, Target.InvalidState). */
  readonly terminatedTargetLingersSeconds: number;
  /** SWITCH: does Auto Scaling's ELB check take `draining` for unhealthy? (`unused` it does, by the ALB guide.) */
  readonly autoScalingCountsDraining: boolean;
  /** SWITCH: does suspending HealthCheck also keep application status from marking instances? */
  readonly suspendingCoversApplicationStatus: boolean;
  /** SWITCH: the greatest DurationSeconds that Enable accepts; undefined means no limit. */
  readonly longestSuppressionSeconds: number | undefined;
  /** INF: CodeDeploy's status is eventually consistent; how far Get and List lie behind it. */
  readonly deploymentStatusLagSeconds: number;
  /** INF: how long after the end of a minute CloudWatch evaluates the alarms, so that its points have arrived. */
  readonly alarmDelaySeconds: number;
  /**
   * SWITCH: how many periods beyond its evaluation periods an alarm looks back for points that replace missing ones. CloudWatch's
   * guide says 2 for three evaluation periods, where it is always 2, and nothing of others.
   */
  readonly alarmRangeBeyondPeriods: number;
  /** SWITCH: what an alarm does whose few points all breach and are too young to decide. The guide only says: not ALARM. */
  readonly alarmTooFewBreaching: 'ok' | 'retained';
  /** INF: from a call to its event by CloudTrail and EventBridge. */
  readonly trailSeconds: readonly [least: number, most: number];
  /** INF: how long the CodeDeploy agent needs for DownloadBundle, and for Install. */
  readonly deploymentStepSeconds: readonly [least: number, most: number];
}

export const measuredPhysics: Physics = {
  suppressionSpreadSeconds: [188, 196],
  releaseSpreadSeconds: [120, 150],
  describeLagSeconds: [40, 60],
  probeIntervalSeconds: 60,
  checkerOffsetMs: 730,
  autoScalingActsAfterImpairedSeconds: 190,
  autoScalingElbPollSeconds: 30,
  replacedAtATimeShare: 0.1,
  bootSeconds: [25, 40],
  interfaceLingerMinutes: [20, 60],
  callLatencyMs: [15, 60],
  secondEnable: 'replaces',
  connectionErrorStatusCode: 'zero',
  reasonCodes: 'structured',
  suppressedWithoutIncludedCheck: 'not-applicable',
  unhealthyNeedsAllNodes: true,
  terminatedTargetLingersSeconds: 60,
  autoScalingCountsDraining: false,
  suspendingCoversApplicationStatus: true,
  longestSuppressionSeconds: undefined,
  deploymentStatusLagSeconds: 2,
  alarmDelaySeconds: 10,
  alarmRangeBeyondPeriods: 2,
  alarmTooFewBreaching: 'ok',
  trailSeconds: [5, 90],
  deploymentStepSeconds: [2, 5],
};
