import * as z from 'zod/mini';
import { goals } from './domain/goals.ts';

const named = z.string().check(z.minLength(1));
const instant = z.number();
const timestamp = z.iso.datetime({ offset: true });

/** Who asks: the run, and the execution that owns it. Machines put both into every payload. */
const ownership = { runId: named, execution: named };

export const actPayload = z.object({ ...ownership, deadline: instant });
export type ActPayload = z.output<typeof actPayload>;

/** `cover`: to the run over the whole fleet that covers this one. */
export const releasePayload = z.object({ ...actPayload.shape, to: z.optional(z.literal('cover')) });

export const suppressPayload = z.object({
  ...ownership,
  until: instant,
  round: z.int().check(z.minimum(0)),
});

export const observePayload = z.object({
  ...ownership,
  goals: z.array(z.enum(goals)).check(z.minLength(1)),
  deadline: instant,
  until: instant,
  newerThan: instant,
  /** Only of looks at readiness: changes of the checks have been counted up to then. */
  countedUntil: z.optional(instant),
  enteredAt: timestamp,
});

export const planPayload = z.discriminatedUnion('phase', [
  z.object({
    phase: z.literal('before'),
    execution: named,
    startedAt: timestamp,
    enteredAt: timestamp,
    optInTagValue: named,
    /** JSON text: the stack's parameter. */
    defaultPolicy: z.string(),
    request: z.unknown(),
  }),
  z.object({ phase: z.literal('after'), execution: named, request: z.unknown() }),
]);

export const concludePayload = z.object({
  ...ownership,
  outcome: z.enum(['go-ahead', 'succeeded', 'undone']),
});

export const adoptPayload = z.object({
  ...actPayload.shape,
  promotions: z.array(z.object({ checkId: named, group: named })).check(z.minLength(1)),
});

/** Empty names are of a machine whose input was too broken to carry one. */
const failedRun = { runId: z.string(), error: z.string(), cause: z.string() };
const failedAdoption = { group: z.string(), execution: named, error: z.string(), cause: z.string() };
const failedRetirement = { retirement: z.string(), execution: named, error: z.string(), cause: z.string() };

const demotion = { checkId: named, at: instant };
const topics = z.enum(['demoted', 'observed', 'again', 'named', 'over', 'passed']);

/** What an alarm's notification says is decided when it rings. */
const alarmNews = {
  alarm: named,
  news: z.object({ subject: named, message: named, detailType: named, detail: z.unknown() }),
};

export const tellPayload = z.union([
  z.object({ phase: z.literal('compose'), ...alarmNews }),
  z.object({ phase: z.literal('told'), what: named, ...alarmNews }),
  z.object({ phase: z.literal('compose'), what: topics, ...demotion }),
  z.object({ phase: z.literal('told'), what: topics, ...demotion }),
  z.object({ phase: z.literal('compose'), ...failedRun }),
  z.object({ phase: z.literal('compose'), ...failedAdoption }),
  z.object({ phase: z.literal('compose'), ...failedRetirement }),
  z.object({ phase: z.literal('told'), what: named, ...failedRetirement }),
  z.object({ phase: z.literal('told'), what: named, ...failedRun }),
  z.object({ phase: z.literal('told'), what: named, ...failedAdoption }),
]);

export const fencePayload = z.object({
  /** Empty when the machine's input was too broken to carry one. */
  runId: z.string(),
  execution: named,
  error: z.string(),
  cause: z.string(),
  /** Only of undo-run: the execution that the run is taken over from. */
  from: z.optional(named),
  /** Only of undo-run: a person wants back what the run holds, or would hold (D38). */
  giveBack: z.optional(z.boolean()),
});

/** The stack's parameters on alarms, as the machine that reconciles them carries them. */
export const alarmParameters = z.object({
  /** Disabled: there should be none. */
  kept: z.enum(['Enabled', 'Disabled']),
  prefix: named,
  namespace: named,
  dimension: named,
  aggregateMissingData: z.enum(['missing', 'ignore']),
  instancesPerGroup: z.int().check(z.minimum(0)),
  actionArn: named,
});
export type AlarmParameters = z.output<typeof alarmParameters>;

export const reconcilePayload = z.object({
  execution: named,
  startedAt: timestamp,
  optInTagValue: named,
  alarms: alarmParameters,
});

/** The detail of an Auto Scaling lifecycle event, in the words of this product. */
const lifecycleAction = z.pipe(
  z.object({
    LifecycleActionToken: named,
    AutoScalingGroupName: named,
    LifecycleHookName: named,
    EC2InstanceId: named,
  }),
  z.transform(detail => ({
    token: detail.LifecycleActionToken,
    group: detail.AutoScalingGroupName,
    hook: detail.LifecycleHookName,
    instanceId: detail.EC2InstanceId,
  })),
);

/** What begins the attendance of an Auto Scaling lifecycle action: its event, and the stack's settings. */
const opening = {
  step: z.literal('begin'),
  action: lifecycleAction,
  execution: named,
  openedAt: timestamp,
  optInTagValue: named,
  /** Where the instance goes: `AutoScalingGroup`, `EC2` or `WarmPool`; empty where an event does not say. */
  destination: z.string(),
};

export const launchPayload = z.discriminatedUnion('step', [
  z.object({
    ...opening,
    /** JSON text: the stack's parameter. */
    defaultPolicy: z.string(),
  }),
  z.object({
    step: z.literal('attend'),
    action: lifecycleAction,
    plan: z.object({
      includedChecks: z.array(z.string()),
      excludedChecks: z.array(z.string()),
      actionDeadline: instant,
      againSeconds: instant,
      turnSeconds: instant,
      inServiceSeconds: instant,
    }),
    evidence: z.object({
      evaluations: z.int().check(z.minimum(0)),
      newerThan: instant,
      readyDeadline: instant,
      unsuppressedSince: instant,
    }),
    optInTagValue: named,
  }),
  z.object({
    step: z.literal('watch'),
    action: lifecycleAction,
    deadline: instant,
    budgetSeconds: instant,
  }),
]);

export const terminationPayload = z.discriminatedUnion('step', [
  z.object(opening),
  z.object({
    step: z.literal('attend'),
    action: lifecycleAction,
    plan: z.object({
      targetIds: z.array(z.string()),
      groups: z.array(z.object({ arn: named, targetType: named })),
      deadline: instant,
      turnSeconds: instant,
    }),
  }),
]);

export const completePayload = z.object({
  action: lifecycleAction,
  result: z.enum(['CONTINUE', 'ABANDON']),
  reason: z.string(),
});
