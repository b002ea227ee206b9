/** What a hook script is told: to go on waiting, to go ahead, or to end with a failure. */
export interface HookAnswer {
  readonly verdict: 'wait' | 'go-ahead' | 'failed';
  /** A sentence that says what is awaited, or why. */
  readonly reason: string;
  /** Seconds until it is worth asking again; 0 unless waiting. */
  readonly waitSeconds: number;
}

export const goAhead = (reason: string): HookAnswer => ({ verdict: 'go-ahead', reason, waitSeconds: 0 });
export const failed = (reason: string): HookAnswer => ({ verdict: 'failed', reason, waitSeconds: 0 });
export const wait = (reason: string, waitSeconds: number): HookAnswer => ({
  verdict: 'wait',
  reason,
  waitSeconds,
});

/** What of a run's record a hook needs to know. */
export interface RunSeen {
  readonly status: 'live' | 'ended';
  readonly phase: 'before' | 'go-ahead' | 'after' | 'done';
  readonly outcome?: 'succeeded' | 'failed';
  readonly error?: string;
  readonly cause?: string;
  /** The run over the whole fleet that this one is inside of. */
  readonly coveredBy?: string;
  /** Is every Auto Scaling group held that is to be? */
  readonly held: boolean;
  /** What is awaited now, in words. */
  readonly awaiting: string;
  /** Seconds that it will take at least. */
  readonly leastSeconds: number;
}

/**
 * Seconds between two questions of a script: each costs CodeDeploy two calls, whose rate AWS does not publish. What will
 * take longer is asked for less often, but often enough to notice that it has failed.
 */
const ASK_AGAIN = { soonest: 15, latest: 60 };
const askAgain = (seconds: number): number =>
  Math.min(ASK_AGAIN.latest, Math.max(ASK_AGAIN.soonest, Math.ceil(seconds)));

/**
 * May CodeDeploy take the instance out of traffic? What is still awaited besides is awaited by `gate`, so that CodeDeploy's
 * own drain overlaps it (D8); but Auto Scaling would replace what is `unused` while nobody holds its verdicts (D4).
 */
export function judgeBefore(run: RunSeen): HookAnswer {
  const answer = judgeGate(run);
  if (answer.verdict !== 'wait') return answer;
  if (run.held) return goAhead(answer.reason);
  return wait("Waiting for Auto Scaling's health checks to be held.", SOON);
}

/** What takes some seconds. */
const SOON = 5;

/** May the deployment act on the instance? (D1: nothing to do is a go-ahead for a hook.) */
export function judgeGate(run: RunSeen): HookAnswer {
  if (run.status === 'ended') return ended(run);
  if (run.phase === 'before') return wait(run.awaiting, askAgain(run.leastSeconds));
  return goAhead('The checks are suppressed and the instance is out of traffic.');
}

/** Is the instance back in service and its suppression released? */
export function judgeAfter(run: RunSeen): HookAnswer {
  if (run.status === 'ended') return ended(run);
  if (run.phase === 'before')
    return failed('The go-ahead was never given: before and gate have to run first.');
  return wait(run.awaiting, askAgain(run.leastSeconds));
}

function ended(run: RunSeen): HookAnswer {
  if (run.outcome === 'succeeded')
    return goAhead(
      `The instance is back in service${run.coveredBy === undefined ? ' and its suppression is released' : `; run ${run.coveredBy} has its suppression`}.`,
    );
  if (run.error === 'NothingToDo') return goAhead(run.cause ?? 'There is nothing to do.');
  return failed(`${run.error || 'The run has ended'}: ${run.cause || 'it was ended from outside'}`);
}
