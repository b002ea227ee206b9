import { concurrently } from '../aws/batch.ts';
import { executionArn as arnOf, describeExecution, type ExecutionFacts } from '../aws/step-functions.ts';
import { instancesOf } from '../bracket/members.ts';
import { hasMissed } from '../domain/sweep.ts';
import { findInstances } from '../ledger/instances.ts';
import type { RunRecord } from '../ledger/items.ts';
import { findObserver } from '../ledger/observers.ts';
import { findRefusal } from '../ledger/refusals.ts';
import { findRun } from '../ledger/runs.ts';
import { LEDGER_WRITES_AT_ONCE } from '../limits.ts';
import { runOfInstance } from '../naming.ts';
import { isRunId } from '../request.ts';
import { setting } from '../settings.ts';
import { isBeingUndone, startUndo } from './start-undo.ts';

/** The end of a deployment, or of one instance of it, as its event tells. An end is final: nothing newer can follow it. */
export interface DeploymentEnd {
  readonly deploymentId: string;
  readonly instanceId?: string | undefined;
  /** `SUCCESS`, `FAILURE` or `STOP`. */
  readonly state: string;
}

/**
 * Ends the runs that hooks of this deployment began and that are still live: nothing will close their brackets any more.
 *
 * @returns the runs that are being ended
 */
export async function endRunsOfDeployment(end: DeploymentEnd): Promise<string[]> {
  const { deploymentId, instanceId, state } = end;
  const instanceIds = instanceId ? [instanceId] : ((await findObserver(deploymentId))?.instanceIds ?? []);
  const runIds = instanceIds.map(id => runOfInstance(deploymentId, id));
  // A deployment to ECS or Lambda has one run, of its own name.
  const candidates = instanceId ? runIds : [deploymentId, ...runIds];
  const what = `${instanceId === undefined ? '' : `Instance ${instanceId} of `}CodeDeploy deployment ${deploymentId}`;
  const cause = `${what} ended with ${state} before after-deploy had closed the bracket.`;
  const ended = await concurrently(candidates, LEDGER_WRITES_AT_ONCE, async runId => {
    const run = await findRun(runId);
    // Events of one end come at once, that of the instance and that of its deployment: one undo must not take it from the other.
    if (run?.status !== 'live' || isBeingUndone(run)) return [];
    await startUndo({ runId, error: 'DeploymentEnded', cause, from: run.owner });
    return [runId];
  });
  return ended.flat();
}

/**
 * Ends the run of an execution that has ended without ending it: it was stopped, timed out, or died of a limit, all of
 * which no Catch hears of.
 *
 * @returns the run that is being ended; undefined when there is nothing to end
 */
export async function endCutOffRun(executionArn: string): Promise<string | undefined> {
  const execution = await describeExecution(executionArn);
  if (!execution || !CUT_OFF.has(execution.status)) return undefined;
  const runId = runIdIn(execution.input);
  if (runId === undefined) return undefined;
  const run = await findRun(runId);
  if (run ? !(await isLeft(run, executionArn, execution)) : await findRefusal(runId)) return undefined;
  // R-FAIL: a run that was cut off in its undo keeps the error that led to it.
  const { error, cause } = run?.status === 'ended' ? run : execution;
  const reason = {
    error: error || execution.status,
    cause: cause || `${executionArn} ended as ${execution.status} before the run did.`,
  };
  // Also without a record: a plan in flight may still write one, in this execution's name.
  await startUndo({ runId, ...reason, from: run?.owner ?? executionArn });
  return runId;
}

const CUT_OFF = new Set(['FAILED', 'TIMED_OUT', 'ABORTED']);

/** Does the run wait for this execution, which is not there any more? */
async function isLeft(run: RunRecord, executionArn: string, ended: ExecutionFacts): Promise<boolean> {
  const { status, stoppedAt, error } = ended;
  const isAfter = executionArn.startsWith(arnOf(setting('AFTER_DEPLOY_ARN'), ''));
  const at = Math.floor((stoppedAt?.getTime() ?? 0) / 1000);
  if (isAfter && run.status === 'live' && hasMissed(run, { status, at, error })) return true;
  if (run.owner !== executionArn) return false;
  // The deployment acts already, and its own end will be heard of.
  if (run.phase === 'go-ahead' && run.request.observer !== undefined) return false;
  if (run.status === 'live') return true;
  // Cut off in its undo. One that has failed by itself has said what it could not undo.
  if (status === 'FAILED' || run.outcome !== 'failed') return false;
  const records = await findInstances(instancesOf(run));
  if ([...records.values()].some(record => record.claims.has(run.runId))) return true;
  // Cut off before people could be told of it.
  return run.acted && run.told === undefined;
}

function runIdIn(input: string): string | undefined {
  const read: unknown = JSON.parse(input);
  const named = read !== null && typeof read === 'object' && 'runId' in read ? read.runId : undefined;
  return typeof named === 'string' && isRunId(named) ? named : undefined;
}
