import { RunEnded } from '../errors.ts';
import { findInstances } from '../ledger/instances.ts';
import { recordRefusal } from '../ledger/refusals.ts';
import { advance, endRun, fencedRun, findRun, ownRun } from '../ledger/runs.ts';
import { isRunId } from '../request.ts';
import { nowSeconds } from '../time.ts';
import { endClaims } from './release.ts';

export interface Concluded {
  readonly runId: string;
  readonly at: number;
}

/** Writes the go-ahead into the record: from now on the deployment may act. @throws RunEnded */
export async function giveGoAhead(runId: string, owner: string): Promise<Concluded> {
  const at = nowSeconds();
  if (!(await advance(runId, { from: 'before', to: 'go-ahead', owner, at })))
    throw new RunEnded(`Run ${runId} ended before its go-ahead: it is not given.`);
  return { runId, at };
}

/** Ends a run that went through the whole bracket. */
export async function succeed(runId: string, owner: string): Promise<Concluded> {
  const run = await findRun(runId);
  const at = nowSeconds();
  if (!(run?.status === 'ended' && run.owner === owner && run.outcome === 'succeeded')) {
    const { plan } = await ownRun(runId, owner);
    await endClaims(runId, await findInstances(plan.instanceIds));
    if (!(await endRun(runId, { owner, outcome: 'succeeded', at })))
      throw new RunEnded(`Run ${runId} was ended by somebody else before it could succeed.`);
  }
  return { runId, at };
}

export interface Fenced {
  readonly runId: string;
  /** `undo`: something was done. `nothing`: nothing was, or the run is not this execution's to end. */
  readonly next: 'undo' | 'nothing';
  readonly deadline: number;
  readonly error: string;
  readonly cause: string;
}

/**
 * Ends a run before its undo: no act of it starts after this write (D5). What only holds claims is given up at once.
 */
export async function fence(
  runId: string,
  owner: string,
  failure: { readonly error: string; readonly cause: string },
): Promise<Fenced> {
  const at = nowSeconds();
  const said = readable(failure);
  // A request without a proper runId has neither run nor refusal on record.
  const run = isRunId(runId) ? await findRun(runId) : undefined;
  const ours = run !== undefined && (await endRun(run.runId, { owner, outcome: 'failed', at, ...said }));
  if (!run && isRunId(runId)) await recordRefusal(runId, said, at);
  const answer = { runId, deadline: at + (run?.plan.budgets.undo ?? 0), ...said };
  if (!ours) return { ...answer, next: 'nothing' };
  // Read after the fence: an act that marked the run before it goes on, and has to be undone.
  if ((await fencedRun(run.runId, owner)).acted) return { ...answer, next: 'undo' };
  await endClaims(run.runId, await findInstances(run.plan.instanceIds));
  return { ...answer, next: 'nothing' };
}

/** Ends the claims of a fenced run whose undo was observed. @throws RunEnded when this execution did not fence it */
export async function closeUndone(runId: string, owner: string): Promise<Concluded> {
  const run = await fencedRun(runId, owner);
  await endClaims(runId, await findInstances(run.plan.instanceIds));
  return { runId, at: nowSeconds() };
}

/** A Lambda function's error arrives as JSON in the cause: a person reads its sentence (SFN puts at most 32,768 characters). */
function readable({ error, cause }: { readonly error: string; readonly cause: string }) {
  try {
    const read: unknown = JSON.parse(cause);
    if (read && typeof read === 'object' && 'errorMessage' in read && typeof read.errorMessage === 'string')
      return { error, cause: read.errorMessage };
  } catch {
    // Not JSON: already a sentence.
  }
  return { error, cause };
}
