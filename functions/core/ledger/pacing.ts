import { ALARM_WRITES_PER_SECOND, ELB_CALLS_PER_SECOND, SUPPRESSIONS_PER_SECOND } from '../limits.ts';
import { pk } from './items.ts';
import { change, number } from './table.ts';

/** What a run, or the reconciliation of alarms, waits for its turn to do. */
export type PacedAct = 'out' | 'back' | 'suppress' | 'release' | 'alarms';

/** Acts that draw from one bucket of AWS's keep to one pace. */
const PACES: Readonly<Record<PacedAct, { readonly name: string; readonly perSecond: number }>> = {
  out: { name: 'elasticloadbalancing', perSecond: ELB_CALLS_PER_SECOND },
  back: { name: 'elasticloadbalancing', perSecond: ELB_CALLS_PER_SECOND },
  suppress: { name: 'suppress', perSecond: SUPPRESSIONS_PER_SECOND },
  release: { name: 'release', perSecond: SUPPRESSIONS_PER_SECOND },
  alarms: { name: 'alarms', perSecond: ALARM_WRITES_PER_SECOND },
};

const SLOT = 'slot#';

/**
 * One account-wide pace for the calls that change target groups, and one for each that changes suppressions, held over all
 * runs (D10, D31, D42).
 *
 * @returns when the run may make these calls, in milliseconds since the epoch. A turn that lies ahead is kept for the run:
 *   it asks again then, and has it.
 */
export const turnOf = (runId: string, act: PacedAct, calls: number, nowMs: number): Promise<number> =>
  turnFor(pk.run(runId), act, calls, nowMs);

/** The same for whatever has an item in the ledger, by which a turn that lies ahead is kept. */
export async function turnFor(item: string, act: PacedAct, calls: number, nowMs: number): Promise<number> {
  const name = SLOT + act;
  const used = await change(item, {
    UpdateExpression: 'REMOVE #slot',
    ConditionExpression: '#slot <= :now',
    ExpressionAttributeNames: { '#slot': name },
    ExpressionAttributeValues: { ':now': number(nowMs) },
    ReturnValues: 'NONE',
  });
  if (used) return nowMs;
  const kept = await change(item, {
    UpdateExpression: 'SET #slot = #slot',
    ConditionExpression: 'attribute_exists(#slot)',
    ExpressionAttributeNames: { '#slot': name },
  });
  const ahead = Number(kept?.[name]?.N ?? 0);
  if (ahead > 0) return ahead;
  const turn = await reserve(act, calls, nowMs);
  if (turn > nowMs)
    await change(item, {
      UpdateExpression: 'SET #slot = :turn',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#slot': name },
      ExpressionAttributeValues: { ':turn': number(turn) },
      ReturnValues: 'NONE',
    });
  return turn;
}

/** The next free turn for so many calls: now, or behind those of the runs that came before. */
async function reserve(act: PacedAct, calls: number, nowMs: number): Promise<number> {
  const { name, perSecond } = PACES[act];
  const cost = (calls * 1000) / perSecond;
  const idle = await change(pk.pace(name), {
    UpdateExpression: 'SET nextAt = :next',
    ConditionExpression: 'attribute_not_exists(nextAt) OR nextAt <= :now',
    ExpressionAttributeValues: { ':next': number(nowMs + cost), ':now': number(nowMs) },
    ReturnValues: 'NONE',
  });
  if (idle) return nowMs;
  const queued = await change(pk.pace(name), {
    UpdateExpression: 'ADD nextAt :cost',
    ExpressionAttributeValues: { ':cost': number(cost) },
  });
  return Number(queued?.nextAt?.N ?? nowMs) - cost;
}
