/**
 * Every number of AWS's that this product depends on, once, with its source, beside the few of our own that follow from them.
 *
 * Sources: SDK is the type documentation of the client package; MODEL the service model with its ranges; GUIDE the service's
 * user guide or quota page; MEASURED a hands-on measurement of application status checks (2026-08-13, ap-northeast-2).
 */

/** Least seconds from suppression to go-ahead. MEASURED: suppression takes about 192 s to spread, and is observed besides. */
export const LEAD_SECONDS = 180;

/** A function that acts ends within this, so that an undo can wait for the longest act that is still in flight. Ours. */
export const ACT_TIMEOUT_SECONDS = 60;

/** Instances in one Enable- or DisableApplicationStatusCheckSuppression. SDK client-ec2, the commands' documentation. */
export const SUPPRESSION_INSTANCES = 100;

/** Instances in one DescribeApplicationStatus. MODEL: MaxResults is 1 to 100; the length of InstanceIds is undocumented. */
export const STATUS_INSTANCES = 100;

/** Checks in one DescribeApplicationStatusChecks. MODEL: MaxResults is 5 to 100. */
export const CHECKS_PER_DESCRIBE = 100;

/** Values in one filter of DescribeInstances: half of what GUIDE "List and filter using the CLI and API" permits (200). */
export const INSTANCES_PER_FILTER = 100;

/** Targets in one RegisterTargets or DeregisterTargets. GUIDE: Elastic Load Balancing API quotas. */
export const TARGETS_PER_CALL = 100;

/** ARNs in one DescribeTargetGroups or DescribeLoadBalancers. SDK client-elastic-load-balancing-v2. */
export const ELB_ARNS_PER_DESCRIBE = 20;

/** Resources in one DescribeTags. SDK client-elastic-load-balancing-v2, DescribeTagsInput. */
export const ELB_RESOURCES_PER_DESCRIBE_TAGS = 20;

/** Instances in one DescribeAutoScalingInstances. SDK client-auto-scaling. */
export const AUTO_SCALING_INSTANCES = 50;

/** Names in one DescribeAutoScalingGroups. SDK client-auto-scaling, AutoScalingGroupNamesType: 50 unless MaxRecords is set. */
export const AUTO_SCALING_GROUPS = 50;

/** Instances in one EnterStandby or ExitStandby. GUIDE says 20; the field keeps to 19, and so does this product. */
export const STANDBY_INSTANCES = 19;

/** Targets in one BatchGetDeploymentTargets. SDK client-codedeploy. */
export const DEPLOYMENT_TARGETS = 25;

/** Keys in one BatchGetItem. SDK client-dynamodb. */
export const BATCH_GET_ITEMS = 100;

/** Executions in one page of ListExecutions. MODEL: maxResults is 0 to 1,000. */
export const EXECUTIONS_PER_LIST = 1000;

/** Queries in one GetMetricData. SDK client-cloudwatch, GetMetricDataInput. */
export const METRIC_QUERIES = 500;

/** Alarms in one DeleteAlarms, and on one page of DescribeAlarms; of composite ones only one in a delete. SDK client-cloudwatch. */
export const ALARMS_PER_CALL = 100;

/** Alarms that one composite alarm's rule may name, and the characters that it may have. SDK client-cloudwatch, PutCompositeAlarmInput. */
export const COMPOSITE_CHILDREN = 100;
export const COMPOSITE_RULE_LENGTH = 10_240;

/**
 * Our changes of alarms, all together: PutMetricAlarm, PutCompositeAlarm and DeleteAlarms take 3 a second each. GUIDE:
 * CloudWatch service quotas. Their burst is not published, so the calls are spread evenly.
 */
export const ALARM_WRITES_PER_SECOND = 2;

/** Changes of alarms of one invocation: at that pace half of its 60 s. Ours. */
export const ALARM_WRITES_PER_TURN = ALARM_WRITES_PER_SECOND * 30;

/** Alarms by instance, over all groups: half of the 5,000 alarms of an account and Region. GUIDE: CloudWatch service quotas. */
export const INSTANCE_ALARMS = 2_500;

/** So long at the most one execution reconciles alarms: at its pace that is twice what INSTANCE_ALARMS takes, made anew. Ours. */
export const RECONCILIATION_SECONDS = (2 * INSTANCE_ALARMS) / ALARM_WRITES_PER_SECOND;

/** Events in the history of one Standard execution, after which it dies uncatchably. GUIDE: Step Functions quotas. */
export const HISTORY_EVENTS = 25_000;

/** Bytes of input or output of one state. GUIDE: Step Functions quotas (262,144). */
export const STATE_PAYLOAD_BYTES = 262_144;

/** Describe calls of one function that may be in flight together. Ours: well within the buckets below. */
export const DESCRIBES_AT_ONCE = 4;

/** Executions, and deployments, that one sweep describes: the rest is the next one's. Ours: some seconds of its 60. */
export const DESCRIBES_PER_SWEEP = 200;

/** A token bucket by which AWS throttles an account in a Region. */
export interface TokenBucket {
  readonly capacity: number;
  readonly refillPerSecond: number;
}

/** EC2's buckets, one for each API of the kind. GUIDE: request throttling for the Amazon EC2 API. */
export const EC2_BUCKETS = {
  nonMutating: { capacity: 100, refillPerSecond: 20 },
  /** DescribeInstances, -InstanceStatus, -NetworkInterfaces, -SecurityGroups with neither a filter nor pagination. */
  unfiltered: { capacity: 50, refillPerSecond: 10 },
  mutating: { capacity: 50, refillPerSecond: 5 },
  createTags: { capacity: 100, refillPerSecond: 10 },
  describeSecurityGroupReferences: { capacity: 20, refillPerSecond: 5 },
} as const satisfies Record<string, TokenBucket>;

/** Elastic Load Balancing's buckets. GUIDE: request throttling for the Elastic Load Balancing API. */
export const ELB_BUCKETS = {
  /** Around the other three: every action of the account draws from it. */
  all: { capacity: 40, refillPerSecond: 10 },
  nonMutating: { capacity: 40, refillPerSecond: 10 },
  /** RegisterTargets and DeregisterTargets together. */
  targets: { capacity: 20, refillPerSecond: 4 },
  mutating: { capacity: 20, refillPerSecond: 3 },
} as const satisfies Record<string, TokenBucket>;

/** CodeDeploy waits so long for one lifecycle event, and for the answer of a lifecycle event hook. GUIDE: AppSpec hooks. */
export const LIFECYCLE_EVENT_SECONDS = 3600;

/** CloudFormation waits at the most, and by default, so long for the answer of a custom resource. GUIDE: ServiceTimeout. */
export const SERVICE_TIMEOUT_SECONDS = 3600;

/**
 * So much of it is kept for the answer: an act in flight ends (D5), and three attempts of a step that Lambda cuts off, and some
 * slack. Ours.
 */
export const ANSWER_ROOM_SECONDS = 420;

/** A custom resource may not be given less: what it waits for shows within DESCRIBE_LAG_SECONDS, and it has to be answered. Ours. */
export const LEAST_SERVICE_TIMEOUT_SECONDS = 600;

/** Deregistration delay of a target group that does not say its own. SDK client-elastic-load-balancing-v2. */
export const DEREGISTRATION_DELAY_SECONDS = 300;

/** Seconds between two probes of an application status check: fixed. GUIDE, MEASURED. */
export const CHECK_INTERVAL_SECONDS = 60;

/** How far DescribeApplicationStatus can lie behind the service. MEASURED: 40-60 s. */
export const DESCRIBE_LAG_SECONDS = 60;

/** And how far at least. MEASURED. */
export const DESCRIBE_LAG_LEAST_SECONDS = 40;

/** Between the two requests of one evaluation, by two checkers. MEASURED. */
export const CHECKERS_APART_SECONDS = 0.73;

/** How long EC2 may report nothing of a check on a running instance: two intervals, the lag, and as much again. Ours (D47). */
export const UNMONITORED_SECONDS = 300;

/** What an account may have of application status checks unless AWS has raised it. GUIDE (quotas); a target is an instance under a check. */
export const CHECK_QUOTAS = { checks: 50, associations: 200, targets: 5_000 } as const;

/** Associations that one check may have. GUIDE (quotas). */
export const ASSOCIATIONS_PER_CHECK = 50;

/** US dollars a month, us-east-1: a metric alarm, or a metric that a Metrics Insights alarm analyses; a composite one. CloudWatch's pricing. */
export const ALARM_PRICES = { metric: 0.1, composite: 0.5 } as const;

/** US dollars: an interface of a check, an hour; a metric, a month, in the first tier. GUIDE and CloudWatch's pricing, us-east-1. */
export const CHECK_PRICES = { interfaceHour: 0.01, metricMonth: 0.3 } as const;

/** How long a retirement waits unless asked otherwise. MEASURED: an interface stays for more than 20 min after its check; no upper bound is known. Ours. */
export const RETIREMENT_SECONDS = 10_800;

/** For so long retirements that have ended are remembered. Ours. */
export const RETIREMENT_REMEMBERED_SECONDS = 90 * 86_400;

/** Interfaces that are named in one DescribeNetworkInterfaces: well within what GUIDE permits. Ours. */
export const INTERFACES_PER_DESCRIBE = 100;

/** As AWS's price examples count. */
export const HOURS_A_MONTH = 730;

/** From `impaired` to the termination by Auto Scaling. MEASURED once: impaired at about 2 min, terminated at 5 min 10 s. */
export const AUTO_SCALING_ACTS_SECONDS = 190;

/** Auto Scaling looks at load balancers' verdicts once in this time. The period is unpublished: assumed. */
export const AUTO_SCALING_LOOKS_SECONDS = 30;

/** From launch to `running`, least and most. MEASURED as part of a replacement: 194 s from the termination to `ok`. */
export const BOOT_SECONDS = [25, 40] as const;

/** `TimeoutSeconds` of both deploy machines, which has to be a literal there. A test holds the two together. */
export const MACHINE_TIMEOUT_SECONDS = 14_400;

/** How long the acts of an adoption that have to be repeated, and its undo, may take besides its waits. Ours. */
export const ADOPTION_ROOM_SECONDS = 1_200;

/** For so long at the most a promoted check is watched longer because its instances are suppressed. Ours. */
export const BLIND_WATCH_SECONDS = 3_600;

/** A task that is retried to its end takes so much longer than its loop's deadline, and no machine can catch its own time-out. */
export const RETRY_ROOM_SECONDS = 900;

/** The most that a retirement may be told to wait: its last look, and what of it is retried, end before the machine's time-out. Ours. */
export const LONGEST_RETIREMENT_SECONDS = MACHINE_TIMEOUT_SECONDS - 2 * RETRY_ROOM_SECONDS;

/** So long at the most one execution attends a lifecycle action and watches what came of it: it has to end by itself, before its machine's time-out. Ours. */
export const ATTENDANCE_SECONDS = MACHINE_TIMEOUT_SECONDS - RETRY_ROOM_SECONDS;

/** So long at the most an instance that was let in is watched: what is left is for its attendance. Ours. */
export const WATCH_SECONDS = 3600;

/** An Auto Scaling lifecycle hook waits so long at the most, whatever its heartbeats. SDK client-auto-scaling, GlobalTimeout. */
export const LIFECYCLE_HOOK_SECONDS = 172_800;

/** How much longer than the budget a suppression lasts: it must not end while the last look is on its way. Ours. */
export const SUPPRESSION_MARGIN_SECONDS = 120;

/** How long the announcement that a run disables a suppression keeps others away. MEASURED: release shows after 120-150 s. */
export const RELEASING_SECONDS = 600;

/** How long an act that has read a run in one phase may go on in the next: its own time-out and some slack, as a fence waits. Ours. */
export const JOINING_SECONDS = ACT_TIMEOUT_SECONDS + 5;

/** How long a target group is guarded while a floor is judged and targets leave: as long as an act can last. */
export const GUARD_SECONDS = ACT_TIMEOUT_SECONDS;

/**
 * Conditional writes of one function that may be in flight together: DynamoDB has no conditional batch write. Ours: answered
 * in under 10 ms they come to the 4,000 writes a second that a new on-demand table takes (GUIDE: DynamoDB on-demand capacity).
 */
export const LEDGER_WRITES_AT_ONCE = 32;

/** Instances in one run: their ids have to fit into the run's item of 400 KB, with room to spare. Ours. */
export const MEMBERS_PER_RUN = 5_000;

/** Instance ids in one request: more would pass 100 KB between two states (R-PAYLOAD). Ours. */
export const IDS_PER_REQUEST = 4_000;

/**
 * Calls that change target groups, over all runs: less than half of ELB_BUCKETS.targets, so that with the reads that go with
 * each call it is less than half of ELB_BUCKETS.all, 3.9 a second (D10). Those are 1.4 a call, by `npm run bench -- --hooks 200`.
 */
export const ELB_CALLS_PER_SECOND = 0.4 * ELB_BUCKETS.targets.refillPerSecond;

/** Enables, and as many disables, over all runs: each has a bucket of its own, and some of it is left to others (D31). */
export const SUPPRESSIONS_PER_SECOND = 0.8 * EC2_BUCKETS.mutating.refillPerSecond;

/** Calls that change target groups of one invocation: half of the bucket's capacity. */
export const ELB_CALLS_AT_ONCE = ELB_BUCKETS.targets.capacity / 2;

/** How long one sweep begins new acts: what it has begun ends within ACT_TIMEOUT_SECONDS. Ours. */
export const SWEEP_ACTS_SECONDS = 40;

/**
 * For so long after its period a file of a log may come, or come again: as long as EventBridge and Lambda try in template.yaml,
 * an hour each, and an hour for its delivery. Ours.
 */
export const LOG_EVENTS_SECONDS = 10_800;

/** Runs that one sweep sets right at the same time. Ours. */
export const HEALS_AT_ONCE = 8;
