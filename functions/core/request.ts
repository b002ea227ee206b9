import * as z from 'zod';
import { InvalidRequest } from './errors.ts';
import { IDS_PER_REQUEST, LEAD_SECONDS } from './limits.ts';

/** CodeDeploy ends an in-place deployment after 12 h (D8): nothing that a run waits for lasts longer. */
const LONGEST_SECONDS = 43_200;
const seconds = z.int().min(0).max(LONGEST_SECONDS);
const instanceId = z.string().regex(/^i-[0-9a-f]{8,17}$/, 'is not an instance id');

const fleet = z.union(
  [
    z.strictObject({ instanceIds: z.array(instanceId).min(1).max(IDS_PER_REQUEST) }),
    z.strictObject({ autoScalingGroupName: z.string().min(1) }),
    z.strictObject({ codeDeployDeploymentId: z.string().regex(/^d-[0-9A-Z]+$/, 'is not a deployment id') }),
    z.strictObject({ tag: z.strictObject({ key: z.string().min(1), value: z.string() }) }),
  ],
  {
    error:
      'must be exactly one of {instanceIds: [...]}, {autoScalingGroupName}, {codeDeployDeploymentId} or {tag: {key, value}}',
  },
);

const policy = z.strictObject({
  /** Least time from the last suppression to the go-ahead. */
  leadSeconds: z
    .int()
    .min(LEAD_SECONDS, `must be at least ${LEAD_SECONDS}: suppression takes about 192 s to spread`)
    .default(LEAD_SECONDS),
  /** Least duration of the suppression; it is never shorter than the whole budget. */
  suppressSeconds: seconds.default(0),
  /** How long the deployment itself may take, from the go-ahead to the start of after-deploy. */
  deploymentSeconds: z.int().min(1).max(LONGEST_SECONDS).default(3600),
  minHealthyPercent: z.int().min(0).max(100).default(50),
  autoScaling: z.enum(['auto', 'hold', 'standby', 'none']).default('auto'),
  /** Further processes to suspend with a hold. */
  alsoSuspend: z.array(z.enum(['AZRebalance', 'ScheduledActions', 'AlarmNotification'])).default([]),
  readyBeforeTraffic: z.boolean().default(true),
  readyEvaluations: z.int().min(2, 'must be at least 2: one evaluation is no evidence').default(2),
  /** How long an application may take to be ready after the deployment. */
  readySeconds: z.int().min(60).max(LONGEST_SECONDS).default(900),
  /** How long a floor that does not permit the act, or with `queue` a live run, is waited for. */
  waitSeconds: seconds.default(900),
  /** Where target groups are looked for: those attached to the Auto Scaling group, or every group of the VPC. */
  discover: z.enum(['attached', 'vpc']).optional(),
});

const RUN_ID = /^[0-9A-Za-z_.:-]{1,128}$/;

export const isRunId = (text: string): boolean => RUN_ID.test(text);

const runId = z.string().regex(RUN_ID, 'must be 1 to 128 of the characters 0-9 A-Z a-z _ . : -');

/** What a caller asks of before-deploy. */
export const runRequest = z.strictObject({
  runId,
  fleet,
  /** `drain`: Quiesce takes targets out and puts them back. `leave`: CodeDeploy or somebody else does. */
  traffic: z.enum(['drain', 'leave']).default('drain'),
  zones: z.array(z.string().min(1)).min(1).optional(),
  targetGroupArns: z
    .array(z.string().regex(/^arn:[^:]+:elasticloadbalancing:.*:targetgroup\//, 'is not a target group ARN'))
    .min(1)
    .optional(),
  policy: policy.prefault({}),
  /** Lifts the lead and the floors until that instant; always said in the log and in the record (D37). */
  emergency: z
    .strictObject({ reason: z.string().min(1), until: z.iso.datetime({ offset: true }) })
    .optional(),
  /** The caller's own time-out for before-deploy: refused when it is shorter than the budget. */
  timeoutSeconds: z.int().min(1).optional(),
  /** The CodeDeploy deployment whose runs share what they read (D10): hooks say it, one run over a whole fleet needs none. */
  observer: z.string().min(1).optional(),
  /** Waits for a live run that moves the same instances' traffic, instead of being refused. */
  queue: z.boolean().default(false),
});
export type RunRequest = z.output<typeof runRequest>;
export type Policy = RunRequest['policy'];

/** What a caller asks of after-deploy. */
export const afterRequest = z.strictObject({
  runId,
  /** When the deployment ended; the start of after-deploy when it is not given. */
  deployedAt: z.iso.datetime({ offset: true }).optional(),
});
export type AfterRequest = z.output<typeof afterRequest>;

/**
 * Reads a request, or refuses it naming each field.
 *
 * @throws InvalidRequest
 */
export function readRequest<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const faults = read.error.issues.map(issue => `${issue.path.join('.') || 'the request'}: ${issue.message}`);
  throw new InvalidRequest(`${faults.join('; ')}.`);
}
