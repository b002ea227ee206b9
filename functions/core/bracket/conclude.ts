import { RunEnded } from '../errors.ts';
import { readable } from '../failure.ts';
import { findInstances } from '../ledger/instances.ts';
import type { Fate, InstanceRecord, RunRecord } from '../ledger/items.ts';
import { recordRefusal } from '../ledger/refusals.ts';
import { advance, endHolding, endRun, fencedRun, findRun, ownRun, takeOver } from '../ledger/runs.ts';
import type { Measure } from '../metrics.ts';
import { isRunId } from '../request.ts';
import { nowSeconds } from '../time.ts';
import { list } from './discover-fleet.ts';
import { dropClaims, endClaims } from './end-claims.ts';
import { instancesOf } from './members.ts';
import { measureBlindness, measureGoAhead, measureOutcome } from './run-measures.ts';

export interface Concluded {
  readonly runId: string;
  readonly at: number;
  /** Of an undone run: a sentence on what is not put back; else empty. */
  readonly left: string;
  readonly measures: readonly Measure[];
}

/** Writes the go-ahead into the record: from now on the deployment may act. @throws RunEnded */
export async function giveGoAhead(runId: string, owner: string): Promise<Concluded> {
  const at = nowSeconds();
  if (!(await advance(runId, { from: 'before', to: 'go-ahead', owner, at })))
    throw new RunEnded(`Run ${runId} ended before its go-ahead: it is not given.`);
  return { runId, at, left: '', measures: measureGoAhead(await ownRun(runId, owner), at) };
}

/** Ends a run that went through the whole bracket. */
export async function succeed(runId: string, owner: string): Promise<Concluded> {
  const known = await findRun(runId);
  const at = nowSeconds();
  if (known?.status === 'ended' && known.owner === owner && known.outcome === 'succeeded')
    return { runId, at, left: '', measures: [] };
  const run = await ownRun(runId, owner);
  await endClaims(runId, await findInstances(instancesOf(run)));
  if (!(await endRun(runId, { owner, outcome: 'succeeded', at })))
    throw new RunEnded(`Run ${runId} was ended by somebody else before it could succeed.`);
  const measures = [measureOutcome('succeeded', undefined), measureBlindness(run, at)];
  return { runId, at, left: '', measures };
}

export interface Fenced {
  readonly runId: string;
  /** `undo`: something was done. `nothing`: nothing was, or the run is not this execution's to end. */
  readonly next: 'undo' | 'nothing';
  readonly deadline: number;
  readonly error: string;
  readonly cause: string;
  readonly measures: readonly Measure[];
}

/**
 * Ends a run before its undo: no act of it starts after this write (D5). What only holds claims is given up at once.
 *
 * @param from an execution that owns the run and cannot end it: it is taken over first
 * @param giveBack also what its policy would hold, or holds, is given back (D38)
 */
export async function fence(
  runId: string,
  owner: string,
  failure: { readonly error: string; readonly cause: string },
  from?: string,
  giveBack = false,
): Promise<Fenced> {
  if (giveBack) await endHolding(runId, nowSeconds(), 'any');
  if (from !== undefined) await takeOver(runId, from, owner);
  const at = nowSeconds();
  const said = readable(failure);
  // A request without a proper runId has neither run nor refusal on record.
  const run = isRunId(runId) ? await findRun(runId) : undefined;
  const ours = run !== undefined && (await endRun(run.runId, { owner, outcome: 'failed', at, ...said }));
  if (!run && isRunId(runId)) await recordRefusal(runId, said, at);
  const answer = { runId, deadline: at + (run?.plan.budgets.undo ?? 0), ...said };
  const refused = [measureOutcome('refused', said.error)];
  if (!ours) return { ...answer, next: 'nothing', measures: refused };
  // A repeated fence ends nothing.
  const once = (measures: readonly Measure[]) => (run.status === 'live' ? measures : []);
  // Read after the fence: an act that marked the run before it goes on, and has to be undone.
  const { acted } = await fencedRun(run.runId, owner);
  if (acted || (await dropClaims(run.runId, await findInstances(instancesOf(run)))))
    return { ...answer, next: 'undo', measures: once([measureOutcome('failed', said.error)]) };
  return { ...answer, next: 'nothing', measures: once(refused) };
}

/**
 * Ends the claims of a fenced run whose undo was observed, except for those of instances that it keeps held (D38).
 *
 * @throws RunEnded when this execution did not fence it
 */
export async function closeUndone(runId: string, owner: string): Promise<Concluded> {
  const run = await fencedRun(runId, owner);
  const records = await findInstances(instancesOf(run));
  const fated = (how: Fate['how']) =>
    [...records.values()].filter(record => record.claims.get(runId)?.fate?.how === how);
  const held = fated('held');
  const free = [...records].filter(([, record]) => !held.includes(record));
  const left = whatIsLeft(run, held, fated('handed-over'));
  const isClosed = run.told?.some(what => what === 'failed' || what === 'given-back') ?? false;
  await endClaims(runId, new Map(free));
  const at = nowSeconds();
  // Measured once: not of a run that still holds, nor when it was closed before.
  return { runId, at, left, measures: held.length === 0 && !isClosed ? [measureBlindness(run, at)] : [] };
}

function whatIsLeft(
  { heldUntil = 0 }: RunRecord,
  held: readonly InstanceRecord[],
  handedOver: readonly InstanceRecord[],
): string {
  const ids = (records: readonly InstanceRecord[]) => list(records.map(({ instanceId }) => instanceId));
  const until = new Date(heldUntil * 1000).toISOString();
  return [
    ...(held.length > 0 ? [` Held out of traffic until ${until}: ${ids(held)}.`] : []),
    ...(handedOver.length > 0 ? [` Left to Auto Scaling to replace: ${ids(handedOver)}.`] : []),
  ].join('');
}
