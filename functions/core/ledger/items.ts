import type { Member, Membership } from '../domain/fleet.ts';
import type { Plan } from '../domain/plan.ts';
import type { RunRequest } from '../request.ts';

/**
 * The ledger: one DynamoDB table with the string key `pk`, written by conditional writes only and before each act (D16).
 *
 * | pk                   | attributes                                                                             |
 * | -------------------- | -------------------------------------------------------------------------------------- |
 * | `run#<runId>`        | version, status, phase, owner, digest, request, plan, createdAt, deadline, acted,       |
 * |                      | newcomers (set of ids), suppressedSince, suppressedAt, takenOutAt, heldAt, goAheadAt,      |
 * |                      | resumedAt, endedAt, outcome, error, cause, heldUntil, told (set of what people were told), |
 * |                      | `slot#<act>`, expiresAt                                                                    |
 * | `instance#<id>`      | claimants (set of runIds), `claim#<runId>` (Claim), traffic (runId), tookOver (runId),   |
 * |                      | memberships, releasing (runId), releasingUntil, handedOn, deployed (Deployed)            |
 * | `targetgroup#<arn>`  | holder, holderUntil, outRuns (set of runIds), `out#<runId>` (count by zone)              |
 * | `autoscaling#<name>` | runs (set of runIds), suspended (set of processes that we suspended), alone, resuming    |
 * | `pace#<calls>`       | nextAt (milliseconds): the next free turn for calls that draw from one bucket of AWS's   |
 * | `observer#<deployment>` | instanceIds: all instances of a deployment whose runs share their reads (D10)        |
 * | `seen#<read>`        | readAt (milliseconds), packed (gzip), leaseUntil: a read that those runs share             |
 * | `refusal#<runId>`    | error, cause, expiresAt: why a run was refused before it had a record                      |
 * | `healthlog#<load balancer>` | `node#<address>` (heardAt), expiresAt: the nodes whose health check logs were read |
 * | `healthlog#<load balancer>#<node>` | log (NodeLog), revision, expiresAt: what its last logs say            |
 * | `zones#<target group arn>` | view (ZoneView), viewedAt, expiresAt: what befell it at the last view of the zones |
 * | `lifecycle#<token>`  | owner: the execution that attends an Auto Scaling lifecycle action; expiresAt               |
 * | `adoption#<group>`   | version, status, owner, createdAt, request, plan, acts (set), checkId, evidence, outcome,     |
 * |                      | error, cause, endedAt, promotedAt, told (set): the latest adoption by this Auto Scaling group  |
 * | `demotion#<id>`      | status, at, groups, cause, includedBy, told (set): a check that the loop breaker has demoted, or would     |
 * |                      | have; `over` when its cause is gone                                                          |
 * | `succession#<deployment>` | claimedUntil, takesOver, stoodFor, checkIds, isDone, expiresAt: the group of a blue/green  |
 * |                      | deployment that takes over the checks of others                                              |
 * | `looks#alarmed`      | beganAt: when an alarm last had the loop breaker look                                      |
 * | `alarms#reconciliation` | owner (an execution), until (seconds), `slot#alarms`: who may change alarms now; fencedAt: |
 * |                      | since when they are the clean-up's, where it is the owner                                     |
 * | `resource#<requestId>` | answer (ResourceAnswer), sentAt, brought (set of associations), expiresAt: what CloudFormation
 * |                      | is told about a request, and what an undo of it lets go                                       |
 * | `association#<check>#<value>` | holders (set of resources of stacks that want it), made: was it made for them?;       |
 * |                      | retakenAt: when one came to want it while it was being let go                                 |
 * | `check#<id>`         | group, owner: the group whose adoption is at work on this check, and its execution; or       |
 * |                      | retirement, owner: the subject of the retirement that is                                     |
 * | `retirement#<subject>` | version, status, owner, request, plan, createdAt, deadline, acts (set), outcome, error, cause, |
 * |                      | endedAt, told (set), expiresAt: the latest retirement of a check, or of security groups alone  |
 * | `interface#<id>`     | known (KnownInterface): an interface of a check, and which checks have needed it                |
 * | `alarm#telling#<alarm> <state> <minute>` | invocation, expiresAt: which one of the function's tells of that             |
 * | `alarm#<group or check>` | toldAt, expiresAt: people were told of a failure there, and not yet that it is over        |
 * | `stack#closing`      | deletion, closedAt, until: the stack is being deleted, and nothing begins until then       |
 * | `hooks#open`         | `hook#<executionArn>` (OpenHook): hooks of ECS and Lambda deployments to be answered       |
 *
 * Structured attributes are JSON text. Times are whole seconds since the epoch. `expiresAt` is DynamoDB's TTL attribute: it
 * tidies ended runs away and no decision relies on it.
 */
export const ITEM_VERSION = 1;

export type RunPhase = 'before' | 'go-ahead' | 'after' | 'done';

/** One fleet's passage through the bracket. */
export interface RunRecord {
  readonly runId: string;
  readonly status: 'live' | 'ended';
  readonly phase: RunPhase;
  /** The execution that may act for the run; every act names it and is refused when it is not this one. */
  readonly owner: string;
  readonly digest: string;
  readonly request: RunRequest;
  readonly plan: Plan;
  readonly createdAt: number;
  /** The run's own end, computed at plan time (D15). */
  readonly deadline: number;
  /** Was anything done that undo has to undo? */
  readonly acted: boolean;
  /** Instances that were launched during the run and suppressed with its fleet: released with it, and nothing else. */
  readonly newcomers: readonly string[];
  /** When this run first enabled a suppression. */
  readonly suppressedSince?: number;
  /** When this run last enabled a suppression. */
  readonly suppressedAt?: number;
  /** When this run last deregistered targets. */
  readonly takenOutAt?: number;
  /** When the plan's holdings were all held. */
  readonly heldAt?: number;
  readonly goAheadAt?: number;
  /** When after-deploy took the run over. */
  readonly resumedAt?: number;
  readonly endedAt?: number;
  readonly outcome?: 'succeeded' | 'failed';
  readonly error?: string;
  readonly cause?: string;
  /**
   * When what a failed run keeps held ends (D38). Until then nobody undoes it further, unless a person asks; an undo from
   * then on gives everything back.
   */
  readonly heldUntil?: number;
  /** What people were told of its failure, each once. */
  readonly told?: readonly string[];
}

/**
 * How a failed run leaves an instance that is not proven ready, as `policy.afterFailure` says (D38). `held`: out of traffic
 * and suppressed until the run's `heldUntil`, in the run's name. `handed-over`: Auto Scaling replaces it.
 */
export interface Fate {
  readonly how: 'held' | 'handed-over';
  readonly reason: string;
  /** Seconds since the epoch. */
  readonly since: number;
}

/** A run's hold on an instance: what it found there and what it will have to undo. */
export interface Claim {
  readonly member: Member;
  /** The claim of a dead run ends by itself at this instant. */
  readonly until: number;
  /** Only of a failed run. Without one the instance is put back. */
  readonly fate?: Fate;
}

/** An instance that was deployed to under the run over the whole fleet, whose suppression and proof are that run's now. */
export interface Deployed {
  /** The CodeDeploy deployment. */
  readonly by: string;
  /** When it had ended on the instance, in seconds since the epoch: evaluations are evidence from then on. */
  readonly at: number;
}

/** What the ledger knows of an instance, over all runs. */
export interface InstanceRecord {
  readonly instanceId: string;
  readonly claims: ReadonlyMap<string, Claim>;
  /** The run that may move its traffic. */
  readonly traffic?: string;
  /** The run that took its traffic over from one that had ended: while that one moves it, the memberships are out (D2). */
  readonly tookOver?: string;
  /** As listed before the first deregistration. */
  readonly memberships: readonly Membership[];
  /** The run that is disabling its suppression. */
  readonly releasing?: string;
  readonly deployed?: Deployed;
}

export const pk = {
  adoption: (group: string) => `adoption#${group}`,
  check: (checkId: string) => `check#${checkId}`,
  looks: 'looks#alarmed',
  succession: (deploymentId: string) => `succession#${deploymentId}`,
  demotion: (checkId: string) => `demotion#${checkId}`,
  retirement: (subject: string) => `retirement#${subject}`,
  checkInterface: (interfaceId: string) => `interface#${interfaceId}`,
  run: (runId: string) => `run#${runId}`,
  instance: (instanceId: string) => `instance#${instanceId}`,
  targetGroup: (arn: string) => `targetgroup#${arn}`,
  autoScaling: (group: string) => `autoscaling#${group}`,
  openHooks: 'hooks#open',
  closing: 'stack#closing',
  pace: (name: string) => `pace#${name}`,
  alarms: 'alarms#reconciliation',
};
