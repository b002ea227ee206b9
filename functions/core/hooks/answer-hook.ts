import { deploymentConfig, type HookedTarget, hookedTarget, listTargets } from '../aws/code-deploy.ts';
import { startExecution } from '../aws/step-functions.ts';
import { findCover } from '../bracket/cover.ts';
import {
  failed,
  goAhead,
  type HookAnswer,
  judgeAfter,
  judgeBefore,
  judgeGate,
  type RunSeen,
  wait,
} from '../domain/hook-answer.ts';
import { hasEnded, standingOf } from '../domain/hook-caller.ts';
import type { Plan } from '../domain/plan.ts';
import { deploymentLimitSeconds, wavesOf } from '../domain/waves.ts';
import { DeploymentTooLong, HookRefused, ObservationPending } from '../errors.ts';
import { findInstances } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { findObserver, recordObserver } from '../ledger/observers.ts';
import { findRefusal } from '../ledger/refusals.ts';
import { findRun } from '../ledger/runs.ts';
import { readShared } from '../ledger/shared-reads.ts';
import { DESCRIBE_LAG_SECONDS, LIFECYCLE_EVENT_SECONDS } from '../limits.ts';
import { executionName, runOfInstance } from '../naming.ts';
import { setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { hookPolicy } from './hook-policy.ts';
import { takeOverChecks } from './take-over-checks.ts';
import { endRunsOfDeployment } from './unended-runs.ts';

export interface HookCall {
  readonly act: 'before' | 'gate' | 'after';
  readonly deploymentId: string;
  readonly lifecycleEvent: string;
  readonly instanceId: string;
}

/**
 * Answers a hook script on an instance. Whatever the script says of its deployment is checked with CodeDeploy (D9); the rest
 * is read from the ledger, never from executions (D10).
 *
 * @throws HookRefused when the call does not belong to a lifecycle event that is in progress; DeploymentTooLong; QuotaExceeded
 */
export async function answerHook(call: HookCall): Promise<HookAnswer> {
  const target = await hookedTarget(call.deploymentId, call.instanceId);
  if (!target)
    throw new HookRefused(`Instance ${call.instanceId} is no target of deployment ${call.deploymentId}.`);
  const standing = standingOf(target, call.lifecycleEvent);
  if (standing === 'over') {
    // D32: a script goes on after StopDeployment. Events of the end are best effort, so its question is another.
    if (hasEnded(target)) {
      await endRunsOfDeployment({ ...call, state: target.deploymentStatus });
      throw new HookRefused(
        `CodeDeploy deployment ${call.deploymentId} has ended for ${call.instanceId} (${target.deploymentStatus}): nothing more is done for it.`,
      );
    }
    throw new HookRefused(
      `${call.lifecycleEvent} of ${call.instanceId} in deployment ${call.deploymentId} is not in progress.`,
    );
  }
  if (standing === 'not-yet')
    return wait(`CodeDeploy does not show ${call.lifecycleEvent} in progress yet.`, 5);
  if (target.creator === 'autoscaling' || target.creator === 'autoscalingTermination')
    return goAhead(`The deployment was made by ${target.creator}: the instance is not in service (D1).`);
  if (target.label) {
    // The application is up, and in no traffic yet: earlier the check would find every instance of the copy failing.
    if (target.label === 'Green' && call.act === 'after' && !(await haveTakenOver(call)))
      return wait(
        'The copy of the Auto Scaling group is being associated with the checks of the original.',
        5,
      );
    return goAhead(BLUE_GREEN[target.label]);
  }

  // One AppSpec serves groups with and without CodeDeploy's own load balancer step, and only one of the two events is last.
  if (call.act === 'after' && target.loadBalanced && call.lifecycleEvent === 'ValidateService')
    return goAhead('CodeDeploy has still to allow traffic: the bracket is closed at AfterAllowTraffic.');

  const runId = runOfInstance(call.deploymentId, call.instanceId);
  const run = await findSeen(runId);
  if (call.act === 'after')
    return run
      ? afterDeploy(runId, run)
      : failed('before and gate have not run: nothing is known of this instance.');
  if (run) return call.act === 'before' ? judgeBefore(run) : judgeGate(run);
  if (!(await isObserved(call, target)))
    return wait('Another instance of the deployment is just reading what they all need.', 5);
  await startExecution(setting('BEFORE_DEPLOY_ARN'), executionName('before', runId), {
    runId,
    fleet: { instanceIds: [call.instanceId] },
    traffic: target.loadBalanced ? 'leave' : 'drain',
    // What takes a deployment back may be what ends the zone event.
    policy: { ...hookPolicy(), ...(target.rollbackOf !== undefined && { zoneEvents: 'ignore' }) },
    observer: call.deploymentId,
    queue: true,
    timeoutSeconds: SCRIPT_SECONDS,
    afterTimeoutSeconds: SCRIPT_SECONDS,
  });
  return wait('The bracket has begun: the checks are being suppressed.', call.act === 'before' ? 5 : 15);
}

async function haveTakenOver({ deploymentId, instanceId }: HookCall): Promise<boolean> {
  try {
    return await takeOverChecks(deploymentId, instanceId);
  } catch (error) {
    if (error instanceof ObservationPending) return false;
    throw error;
  }
}

/** In a blue/green deployment no application is stopped that anybody is served by (D1). */
const BLUE_GREEN = {
  Blue: 'The instance is the blue side of the deployment: CodeDeploy takes its traffic, and nothing stops its application.',
  Green:
    'The instance is the green side of the deployment: it was in no traffic, so there is nothing to suppress or to drain.',
};

async function afterDeploy(runId: string, run: RunSeen): Promise<HookAnswer> {
  const answer = judgeAfter(run);
  if (run.status === 'live' && run.phase === 'go-ahead')
    await startExecution(setting('AFTER_DEPLOY_ARN'), executionName('after', runId), {
      runId,
      deployedAt: new Date(nowSeconds() * 1000).toISOString(),
    });
  return answer;
}

async function findSeen(runId: string): Promise<RunSeen | undefined> {
  const run = await findRun(runId);
  if (run) {
    const { coveredBy, holdings } = run.plan;
    const held = holdings.length === 0 || run.heldAt !== undefined;
    const seen = { held, awaiting: awaiting(run), leastSeconds: leastSeconds(run, nowSeconds()) };
    return { ...run, ...seen, ...(coveredBy !== undefined && { coveredBy }) };
  }
  const refusal = await findRefusal(runId);
  const ended = {
    status: 'ended',
    phase: 'done',
    outcome: 'failed',
    held: false,
    awaiting: '',
    leastSeconds: 0,
  } as const;
  return refusal && { ...ended, ...refusal };
}

function awaiting({ phase, plan }: RunRecord): string {
  const parts =
    phase === 'before'
      ? [
          plan.suppressing > 0 && !plan.coveredBy && 'the suppression to spread (about 192 s)',
          plan.draining > 0 && `its targets to drain (a delay of ${delayOf(plan)} s)`,
          plan.coveredBy && 'the instances before it to be ready',
        ]
      : plan.coveredBy
        ? ['the instance to be in service']
        : ['the instance to be ready, in service, ready again, and released'];
  return `Waiting for ${parts.filter(Boolean).join(' and ') || 'the go-ahead'}.`;
}

const delayOf = ({ groups }: Plan): number =>
  Math.max(0, ...groups.map(group => group.deregistrationDelaySeconds));

/** What is left of the time that the phase cannot do without; an evaluation may come at once, so it counts for nothing. */
function leastSeconds(run: RunRecord, now: number): number {
  const { phase, plan, suppressedAt, takenOutAt, resumedAt } = run;
  const from = (since: number | undefined, seconds: number) =>
    since === undefined ? 0 : since + seconds - now;
  // What was found suppressed has no lead.
  if (phase === 'before')
    return Math.max(from(suppressedAt, SPREAD_SECONDS), from(takenOutAt, delayOf(plan)));
  return plan.suppressing > 0 && !plan.coveredBy ? from(resumedAt, RELEASE_SECONDS) : 0;
}

// MEASURED: suppression takes about 192 s to spread, its release 120-150 s.
const SPREAD_SECONDS = 192;
const RELEASE_SECONDS = 120;

/**
 * Once a deployment: its instances share what their runs read (D10).
 *
 * @returns false while another instance of the deployment reads it
 * @throws DeploymentTooLong before anything is touched, when the waves cannot all fit into CodeDeploy's own limit (D8)
 */
async function isObserved({ deploymentId, instanceId }: HookCall, target: HookedTarget): Promise<boolean> {
  if (await findObserver(deploymentId)) return true;
  const read = async () => ({
    instances: await listTargets(deploymentId),
    config: await deploymentConfig(target.deploymentConfigName),
  });
  const found = await readShared({ key: `deployment ${deploymentId}`, notBefore: 0, read }).catch(
    (error: unknown) => {
      if (error instanceof ObservationPending) return undefined;
      throw error;
    },
  );
  if (!found) return false;
  const waves = wavesOf(found.instances.length, found.config);
  const records = [...(await findInstances([instanceId])).values()];
  const isCovered =
    (await findCover(runOfInstance(deploymentId, instanceId), records, nowSeconds())) !== undefined;
  const wave = isCovered ? COVERED_WAVE_SECONDS : WAVE_SECONDS;
  const needed = waves * wave;
  const limit = deploymentLimitSeconds(found.config);
  if (needed > limit)
    throw new DeploymentTooLong(
      `${waves} waves of at least ${wave} s need ${needed} s and CodeDeploy ends a deployment after ${limit} s. Deploy to more instances at once, or bracket the whole fleet from the pipeline.`,
    );
  await recordObserver(deploymentId, found.instances, nowSeconds());
  return true;
}

/** How long the script waits, less than its event's hour: a plan that may need longer is refused before it acts (R-BUDGET). */
const SCRIPT_SECONDS = LIFECYCLE_EVENT_SECONDS - 360;

/** What a wave costs at least: 192 s to spread, two evaluations of each check, 120 s to release (measured). */
const WAVE_SECONDS = 480;

/** Inside a run over the whole fleet: until an evaluation newer than the deployment is described (40-60 s, measured). */
const COVERED_WAVE_SECONDS = DESCRIBE_LAG_SECONDS;
