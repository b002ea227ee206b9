import type { Given } from './given.ts';
import type { Change } from './mutant.ts';

/** A fault in the product, and the smallest run that shows it. */
export interface Mutation {
  /** The rule that the mutated product no longer keeps. */
  readonly rule: string;
  readonly changes: readonly Change[];
  readonly given: Given;
  /** What goes wrong besides: the line of one fault. */
  readonly fault?: string;
  /** What shows it: a broken invariant, or another ending than the product's. */
  readonly breaks: RegExp;
}

export const mutations: readonly Mutation[] = [
  {
    rule: 'R-STATE: release only what is ready',
    changes: [
      {
        file: 'functions/core/bracket/begin.ts',
        text: 'run.request.policy.readyBeforeTraffic && budgets.ready > 0',
        instead: 'false',
      },
      {
        file: 'functions/core/bracket/begin.ts',
        text: 'budgets.readyAgain > 0 ? run.request.policy.readyEvaluations : 0',
        instead: '0',
      },
    ],
    given: { fleet: { targetGroups: [] }, deployment: { neverReady: true } },
    breaks: /^2: ReleaseFunction released i-/,
  },
  {
    rule: 'R-UNDO: write into the ledger before acting',
    changes: [
      {
        file: 'functions/core/bracket/suppress.ts',
        text: 'if (lacking.length > 0) await markActed(runId, owner, now);',
        instead: '',
      },
    ],
    given: {},
    fault: 'SuppressFunction ec2:EnableApplicationStatusCheckSuppression 1 late',
    breaks: /^4: i-\w+ is still suppressed/,
  },
  {
    rule: 'R-SWALLOW: an error is not swallowed',
    changes: [
      {
        file: 'functions/core/bracket/hold.ts',
        text: 'if (!(error instanceof AutoScalingGroupUnknown || error instanceof InstanceUnknown)) throw error;',
        instead: 'void error;',
      },
    ],
    given: {},
    fault: 'ReleaseFunction autoscaling:ResumeProcesses 1 unavailable',
    breaks: /^4: HealthCheck of web is still suspended/,
  },
  {
    rule: 'R-EXACT: deregister with the port that was listed',
    changes: [
      {
        file: 'functions/core/aws/elastic-load-balancing.ts',
        text: `new DeregisterTargetsCommand({
      TargetGroupArn: arn,
      Targets: some.map(target => described(target, targetType)),`,
        instead: `new DeregisterTargetsCommand({
      TargetGroupArn: arn,
      Targets: some.map(({ id }) => ({ Id: id })),`,
      },
    ],
    given: { fleet: { targetGroups: [{ name: 'web', port: 8080, alsoOnPorts: [8081] }] } },
    breaks: /^ends as refused BudgetSpent/,
  },
  {
    rule: 'R-AGREE: ready is two evaluations that agree',
    changes: [
      {
        file: 'statemachines/after-deploy.asl.yaml',
        text: '$evaluations + 1 < $run.readyEvaluations',
        instead: '$evaluations + 1 < 1',
      },
    ],
    given: {
      fleet: { targetGroups: [] },
      events: [{ after: 'ObserveEvidence', atSeconds: 35, do: 'break-application' }],
    },
    breaks: /^ends as succeeded/,
  },
  {
    rule: 'D5: fence before undo',
    changes: [
      {
        file: 'functions/core/ledger/runs.ts',
        text: "'SET #status = :ended, outcome",
        instead: "'SET outcome",
      },
    ],
    given: { events: [{ atSeconds: 60, do: 'release-suppression' }] },
    breaks: /^4: web i-\w+:8080 was not put back/,
  },
  {
    rule: 'D5: undo waits for acts in flight',
    changes: [
      {
        file: 'statemachines/undo-run.asl.yaml',
        text: 'Seconds: 65\n    Next: Undo\n',
        instead: 'Seconds: 1\n    Next: Undo\n',
      },
    ],
    given: {},
    fault: 'DeregisterFunction elasticloadbalancing:DeregisterTargets 2 late',
    breaks: /^2: Auto Scaling terminated i-\w+, which we had taken out/,
  },
  {
    rule: 'R-PARTIAL: go on until a batch is done',
    changes: [
      {
        file: 'functions/core/ledger/table.ts',
        text: 'keys = answer.UnprocessedKeys?.[TableName]?.Keys ?? [];',
        instead: 'keys = [];',
      },
    ],
    given: {},
    fault: 'ReleaseFunction dynamodb:BatchGetItem 1 partial',
    breaks: /^4: i-\w+ is still suppressed/,
  },
  {
    rule: 'D4: look before the hold is resumed',
    changes: [
      {
        file: 'functions/core/bracket/hold.ts',
        text: 'const unready = force ? [] : await unreadyMembers(holding, members);',
        instead: 'const unready: string[] = [];',
      },
    ],
    given: { events: [{ after: 'GoAhead', atSeconds: 30, do: 'mark-unhealthy' }] },
    breaks: /^replaces 1/,
  },
  {
    rule: 'R-LIFECYCLE: what somebody has put in Standby is not put back',
    changes: [
      {
        file: 'functions/core/bracket/put-back.ts',
        text: 'const staying = members.filter(member => !aside.has(member.instanceId) && isBack(member));',
        instead: 'const staying = members;',
      },
    ],
    given: {
      fleet: { autoScaling: { healthChecks: ['EC2'], minSize: 1 } },
      deployment: { downSeconds: 180 },
      events: [{ after: 'GoAhead', atSeconds: 5, do: 'enter-standby' }],
    },
    breaks: /^4: RegisterFunction registered i-\w+, which is Standby/,
  },
  {
    rule: 'D6: the floor is exact',
    changes: [
      {
        file: 'functions/core/domain/floors.ts',
        text: 'if (left < floor)',
        instead: 'if (left < floor - 1)',
      },
    ],
    given: { deployment: { instances: [0, 1, 2] } },
    breaks: /^3: our act left 1 of 4 targets in web, below 50 %/,
  },
  {
    rule: 'D36: the go-ahead rests on one joint look',
    changes: [
      {
        file: 'functions/core/bracket/look.ts',
        text: 'return [judgeSuppressed(member, seen, request.until * 1000)];',
        instead: "return [{ verdict: 'met' }];",
      },
    ],
    // So long before the go-ahead that what was read of it cannot lie behind.
    given: {
      deployment: { request: { policy: { leadSeconds: 420 } } },
      events: [{ atSeconds: 60, do: 'release-suppression' }],
    },
    breaks: /^1: go-ahead while i-\w+ was not suppressed/,
  },
  {
    rule: 'R-OWN: leave no alarm behind',
    changes: [
      {
        file: 'functions/core/domain/alarm-changes.ts',
        text: 'const surplus = existing.filter(({ name }) => !wanted.has(name));',
        instead: 'const surplus: ExistingAlarm[] = [];',
      },
    ],
    given: {
      parameters: { Alarms: 'Enabled' },
      deployment: { instances: undefined, batches: undefined, downSeconds: undefined, idleMinutes: 15 },
      events: [{ atSeconds: 660, do: 'terminate-instance' }],
    },
    breaks: /^4: the alarm quiesce\/instance\/i-\w+\/\S+ is on an instance that is gone/,
  },
  {
    rule: 'D39: leave what belongs to others',
    changes: [
      {
        file: 'functions/core/domain/suppression.ts',
        text: "if (suppression === 'ours') return",
        instead: 'if (suppression) return',
      },
    ],
    given: { fleet: { suppressedByOthers: { instances: 1, seconds: 86_400 } } },
    breaks: /^4: .*somebody else's suppression/,
  },
  {
    rule: 'D4: hold before the first deregistration',
    changes: [
      {
        file: 'functions/core/bracket/take-out.ts',
        text: 'const busy = await holdAutoScaling(run);',
        instead: 'const busy = undefined;',
      },
    ],
    given: {},
    breaks: /^2: Auto Scaling terminated i-/,
  },
  {
    rule: 'D20: a loop of replacements is broken before its first kill',
    changes: [
      {
        file: 'functions/core/domain/replacement-loop.ts',
        text: 'instances.every(({ check }) => isConnectionTimeout(check.code)) &&',
        instead: 'false &&',
      },
    ],
    given: {
      fleet: { instances: 4, targetGroups: [] },
      parameters: { LoopBreaker: 'demote' },
      deployment: { idleMinutes: 12 },
      events: [{ atSeconds: 10, do: 'close-security-group' }],
    },
    breaks: /^5: 4 instances that nothing can connect to were replaced/,
  },
  {
    rule: 'R-OWN: no security group is deleted that nobody has named and that does not carry the tag for it',
    changes: [
      {
        file: 'functions/core/retire/plan.ts',
        text: "tags[key] === value && tags[DELETE_WHEN_FREE_KEY] === 'true'",
        instead: 'tags[key] === value',
      },
    ],
    given: {
      fleet: { instances: 1, targetGroups: [], checks: [{ port: 8080, ownGroup: 'kept' }] },
      deployment: { retire: {} },
    },
    breaks: /^6: sg-\w+ was deleted, and nobody had named it/,
  },
];
