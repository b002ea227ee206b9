import { concurrently } from '../aws/batch.ts';
import { deploymentProgress } from '../aws/code-deploy.ts';
import { describeInstances } from '../aws/instances.ts';
import { describeExecution, executionArn, runningExecutions } from '../aws/step-functions.ts';
import { isOver } from '../domain/hook-caller.ts';
import { deploymentOf, type End, inTurn, type SweepFacts, type SweptRun } from '../domain/sweep.ts';
import { DeploymentUnknown } from '../errors.ts';
import { DESCRIBES_AT_ONCE, DESCRIBES_PER_SWEEP } from '../limits.ts';
import { executionName } from '../naming.ts';
import { setting } from '../settings.ts';

export interface ReadFacts extends SweepFacts {
  /** What could not be read: the runs that it concerns are left to the next sweep, the others are not (R-PARTIAL). */
  readonly failures: readonly unknown[];
}

/**
 * What these runs depend on. The listing of what runs is one call for all: only an owner that is not in it is described, and
 * a deployment once for all its runs, so that hundreds of healthy runs cost no more than one (D10).
 *
 * @param keptHeld instances that failed runs keep for somebody to look at (D38)
 */
export async function readFacts(
  all: readonly SweptRun[],
  keptHeld: readonly string[],
  now: number,
): Promise<ReadFacts> {
  const runs = inTurn(all, now, DESCRIBES_PER_SWEEP);
  const undoer = setting('UNDO_RUN_ARN');
  const machines = [setting('BEFORE_DEPLOY_ARN'), setting('AFTER_DEPLOY_ARN'), undoer];
  const failures: unknown[] = [];
  // What a listing that failed would have told is asked of each owner instead.
  const running = new Set<string>();
  await Promise.all(
    machines.map(async machine => {
      try {
        for (const arn of await runningExecutions(machine)) running.add(arn);
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  const ask = async <T>(keys: Iterable<string>, read: (key: string) => Promise<T | undefined>) => {
    const found = new Map<string, T>();
    await concurrently([...new Set(keys)].slice(0, DESCRIBES_PER_SWEEP), DESCRIBES_AT_ONCE, async key => {
      try {
        const answer = await read(key);
        if (answer) found.set(key, answer);
      } catch (error) {
        failures.push(error);
      }
    });
    return found;
  };
  const owners = runs
    .filter(run => !running.has(run.owner) && !isLeftToDeployment(run, executionArn(undoer, '')))
    // Between go-ahead and after-deploy an owner has ended well, and nothing follows from that.
    .toSorted((a, b) => Number(a.phase === 'go-ahead') - Number(b.phase === 'go-ahead'));
  const executions = await ask(
    owners.map(run => run.owner),
    endOfExecution,
  );
  const after = setting('AFTER_DEPLOY_ARN');
  const resumptions = await ask(
    runs.filter(run => run.phase === 'go-ahead' && run.request.observer === undefined).map(run => run.runId),
    // Under the name that hooks and the command line give it.
    runId => endOfExecution(executionArn(after, executionName('after', runId))),
  );
  const waiting = runs.filter(run => run.status === 'live' && run.phase !== 'after');
  const deployments = await ask(
    waiting.flatMap(run => deploymentOf(run) ?? []),
    endOfDeployment,
  );
  const gone = await terminatedAmong(keptHeld).catch((error: unknown) => {
    failures.push(error);
    return new Set<string>();
  });
  return { now, executions, deployments, resumptions, gone, failures };
}

/** The deployment acts already, and whatever became of before-deploy, its own end is what counts. */
const isLeftToDeployment = (run: SweptRun, undoers: string): boolean =>
  run.status === 'live' &&
  run.phase === 'go-ahead' &&
  run.request.observer !== undefined &&
  !run.owner.startsWith(undoers);

async function endOfExecution(arn: string): Promise<End | undefined> {
  // A record that was written again belongs to nobody; Step Functions forgets an execution 90 days after its end.
  const execution = arn.startsWith('arn:') ? await describeExecution(arn) : undefined;
  if (!execution) return { status: 'FORGOTTEN', at: 0 };
  const { status, stoppedAt, error, cause } = execution;
  return stoppedAt && { status, at: seconds(stoppedAt), error, cause };
}

async function endOfDeployment(id: string): Promise<End | undefined> {
  try {
    const { status, endedAt } = await deploymentProgress(id);
    return isOver(status) && endedAt ? { status, at: seconds(endedAt) } : undefined;
  } catch (error) {
    // Not one of CodeDeploy's: the name of a run that only looks like it.
    if (error instanceof DeploymentUnknown) return undefined;
    throw error;
  }
}

async function terminatedAmong(instanceIds: readonly string[]): Promise<ReadonlySet<string>> {
  const facts = await describeInstances(instanceIds);
  return new Set(instanceIds.filter(id => (facts.get(id)?.state ?? 'terminated') === 'terminated'));
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);
