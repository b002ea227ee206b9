// zod/mini: the same schemas as zod, in a third of the size; every function's bundle carries it.
import * as z from 'zod/mini';
import { checkId } from './adoption-request.ts';
import { InvalidRequest } from './errors.ts';
import { readOrFaults, sentenceOf, shown } from './faults.ts';
import { IDS_PER_REQUEST, LEAD_SECONDS } from './limits.ts';

/** CodeDeploy ends an in-place deployment after 12 h (D8): nothing that a run waits for lasts longer. */
const LONGEST_SECONDS = 43_200;
const seconds = (least: number) => z.int().check(z.minimum(least), z.maximum(LONGEST_SECONDS));
const named = z.string().check(z.minLength(1));
const matching = (pattern: RegExp, wanted: string) =>
  z.string().check(z.regex(pattern, { error: ({ input }) => `must be ${wanted}, not ${shown(input)}` }));
const instanceId = matching(/^i-[0-9a-f]{8,17}$/, 'an instance id such as i-0123456789abcdef0');
const targetGroupArn = matching(
  /^arn:[^:]+:elasticloadbalancing:.*:targetgroup\//,
  'the ARN of a target group, arn:aws:elasticloadbalancing:...:targetgroup/...',
);

const fleet = z.union(
  [
    z.strictObject({ instanceIds: z.array(instanceId).check(z.minLength(1), z.maxLength(IDS_PER_REQUEST)) }),
    z.strictObject({ autoScalingGroupName: named }),
    z.strictObject({
      codeDeployDeploymentId: matching(/^d-[0-9A-Z]+$/, 'a deployment id such as d-A1B2C3D4E'),
    }),
    z.strictObject({ tag: z.strictObject({ key: named, value: z.string() }) }),
  ],
  {
    error:
      'must be exactly one of {instanceIds: [...]}, {autoScalingGroupName}, {codeDeployDeploymentId} or {tag: {key, value}}',
  },
);

const policy = z.strictObject({
  /** Least time from the last suppression to the go-ahead. */
  leadSeconds: z._default(
    z
      .int()
      .check(
        z.minimum(LEAD_SECONDS, `must be at least ${LEAD_SECONDS}: suppression takes about 192 s to spread`),
      ),
    LEAD_SECONDS,
  ),
  /** Least duration of the suppression; it is never shorter than the whole budget. */
  suppressSeconds: z._default(seconds(0), 0),
  /** How long the deployment itself may take, from the go-ahead to the start of after-deploy. */
  deploymentSeconds: z._default(seconds(1), 3600),
  minHealthyPercent: z._default(z.int().check(z.minimum(0), z.maximum(100)), 50),
  autoScaling: z._default(z.enum(['auto', 'hold', 'standby', 'none']), 'auto'),
  /** Further processes to suspend with a hold. */
  alsoSuspend: z._default(z.array(z.enum(['AZRebalance', 'ScheduledActions', 'AlarmNotification'])), []),
  readyBeforeTraffic: z._default(z.boolean(), true),
  readyEvaluations: z._default(
    z.int().check(z.minimum(2, 'must be at least 2: one evaluation is no evidence')),
    2,
  ),
  /** How long an application may take to be ready after the deployment. */
  readySeconds: z._default(seconds(60), 900),
  /** How long a floor that does not permit the act, or with `queue` a live run, is waited for. */
  waitSeconds: z._default(seconds(0), 900),
  /**
   * What becomes of an instance that is not proven ready when the run has failed after its go-ahead (D38): it is put back
   * into traffic, held out of it for somebody to look at, or left to Auto Scaling to replace.
   */
  afterFailure: z._default(z.enum(['put-back', 'held', 'replaced']), 'put-back'),
  /** How long it is held. */
  heldSeconds: z._default(seconds(600), 3600),
  /**
   * What becomes of instances that the fleet's Auto Scaling group launches during the run, where it has the launch hook:
   * `join` suppresses and releases them with the fleet, `wait` keeps them out of service until the run has ended.
   */
  launches: z._default(z.enum(['auto', 'ignore', 'join', 'wait']), 'auto'),
  /** What a run does when all targets of one zone fail, as the view of the zones has it: it is refused, or goes on. */
  zoneEvents: z._default(z.enum(['refuse', 'ignore']), 'refuse'),
  /** Where target groups are looked for: those attached to the Auto Scaling group, or every group of the VPC. */
  discover: z.optional(z.enum(['attached', 'vpc'])),
});

const RUN_ID = /^[0-9A-Za-z_.:-]{1,128}$/;

export const isRunId = (text: string): boolean => RUN_ID.test(text);

const runId = matching(RUN_ID, '1 to 128 of the characters 0-9 A-Z a-z _ . : -');

/** What a caller asks of before-deploy. */
export const runRequest = z.strictObject({
  runId,
  fleet,
  /** `drain`: Quiesce takes targets out and puts them back. `leave`: CodeDeploy or somebody else does. */
  traffic: z._default(z.enum(['drain', 'leave']), 'drain'),
  zones: z.optional(z.array(named).check(z.minLength(1))),
  targetGroupArns: z.optional(z.array(targetGroupArn).check(z.minLength(1))),
  policy: z.prefault(policy, {}),
  /** Lifts the lead and the floors until that instant; always said in the log and in the record (D37). */
  emergency: z.optional(z.strictObject({ reason: named, until: z.iso.datetime({ offset: true }) })),
  /** The caller's own time-out for before-deploy: refused when it is shorter than the budget. */
  timeoutSeconds: z.optional(z.int().check(z.minimum(1))),
  /** The caller's own time-out for after-deploy: refused beforehand, when nothing has been touched. */
  afterTimeoutSeconds: z.optional(z.int().check(z.minimum(1))),
  /** The CodeDeploy deployment whose runs share what they read (D10): hooks say it, one run over a whole fleet needs none. */
  observer: z.optional(named),
  /** Waits for a live run that moves the same instances' traffic, instead of being refused. */
  queue: z._default(z.boolean(), false),
});
export type RunRequest = z.output<typeof runRequest>;
export type Policy = RunRequest['policy'];

/** What a caller asks of after-deploy. */
export const afterRequest = z.strictObject({
  runId,
  /** When the deployment ended; the start of after-deploy when it is not given. */
  deployedAt: z.optional(z.iso.datetime({ offset: true })),
  /**
   * Excluded checks that the deployment has brought, each on the whole of an Auto Scaling group of its own: they are adopted,
   * with the same evidence, when the fleet is in service and before it is released.
   */
  promoteCheckIds: z.optional(z.array(checkId).check(z.minLength(1), z.maxLength(5))),
});
export type AfterRequest = z.output<typeof afterRequest>;

/**
 * Reads a request, or refuses it naming each field.
 *
 * @throws InvalidRequest
 */
export function readRequest<S extends z.core.$ZodType>(schema: S, given: unknown): z.output<S> {
  const read = readOrFaults(schema, given);
  if (!read.faults) return read.data;
  throw new InvalidRequest(`${read.faults.map(fault => sentenceOf(fault, 'the request')).join('; ')}.`);
}

/**
 * A request with the stack's defaults in its policy wherever it says nothing itself.
 *
 * @param defaults the stack's parameter DefaultPolicy, as JSON
 * @throws InvalidRequest when those are no policy
 */
export function withDefaultPolicy(request: unknown, defaults: string): unknown {
  const below = policyIn(defaults);
  if (!isRecord(request)) return request;
  const { policy: own = {} } = request;
  return isRecord(own) ? { ...request, policy: { ...below, ...own } } : request;
}

/** The stack's default policy, with what it leaves out. @throws InvalidRequest */
export const stackPolicy = (defaults: string): Policy => readRequest(policy, policyIn(defaults));

/** As it is written, since what it leaves out is left to the request. */
function policyIn(text: string): object {
  try {
    const written: unknown = JSON.parse(text);
    readRequest(policy, written);
    return isRecord(written) ? written : {};
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new InvalidRequest(`The parameter DefaultPolicy of the stack is no policy: ${why}`);
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
