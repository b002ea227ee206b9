import { pk } from './items.ts';
import { change, getAll, type Item, json, number, parsed, remove, text } from './table.ts';

const OUT = 'out#';

/** What the ledger knows of a target group while a run holds its guard. */
export interface Guard {
  /** Targets that live runs have taken out, by run and zone: they still belong to the group (D7). */
  readonly outByRun: ReadonlyMap<string, Readonly<Record<string, number>>>;
}

/**
 * Takes the short hold under which a floor is judged and the targets leave (D7), so that two runs cannot both count the
 * same healthy target. Undefined while another run has it; it ends by itself.
 */
export async function takeGuard(
  arn: string,
  runId: string,
  nowSeconds: number,
  untilSeconds: number,
): Promise<Guard | undefined> {
  const item = await change(pk.targetGroup(arn), {
    UpdateExpression: 'SET holder = :run, holderUntil = :until',
    ConditionExpression: 'attribute_not_exists(holder) OR holder = :run OR holderUntil < :now',
    ExpressionAttributeValues: {
      ':run': text(runId),
      ':now': number(nowSeconds),
      ':until': number(untilSeconds),
    },
  });
  return item && toGuard(item);
}

/** Writes down how many targets of which zone the run is about to take out: under the guard, before it does. */
export async function announceOut(
  arn: string,
  runId: string,
  out: Readonly<Record<string, number>>,
): Promise<boolean> {
  const written = await change(pk.targetGroup(arn), {
    UpdateExpression: 'SET #out = :out ADD outRuns :runs',
    ConditionExpression: 'holder = :run',
    ExpressionAttributeNames: { '#out': OUT + runId },
    ExpressionAttributeValues: { ':out': json(out), ':run': text(runId), ':runs': { SS: [runId] } },
    ReturnValues: 'NONE',
  });
  return written !== undefined;
}

/** Writes down what a run takes over that is out already: from then on it is out for this run, whatever the other one does. */
export async function inheritOut(
  arn: string,
  runId: string,
  out: Readonly<Record<string, number>>,
): Promise<void> {
  if (Object.keys(out).length === 0) return;
  await change(pk.targetGroup(arn), {
    UpdateExpression: 'SET #out = :out ADD outRuns :runs',
    ExpressionAttributeNames: { '#out': OUT + runId },
    ExpressionAttributeValues: { ':out': json(out), ':runs': { SS: [runId] } },
    ReturnValues: 'NONE',
  });
}

/** Gives the guard back, if the run still has it. */
export async function giveGuard(arn: string, runId: string): Promise<void> {
  const given = await change(pk.targetGroup(arn), {
    UpdateExpression: 'REMOVE holder, holderUntil',
    ConditionExpression: 'holder = :run',
    ExpressionAttributeValues: { ':run': text(runId) },
  });
  if (given && !given.outRuns) await removeIfIdle(arn);
}

/** The run's targets are registered again: they no longer count as taken out. */
export async function forgetOut(arn: string, runId: string): Promise<void> {
  await change(pk.targetGroup(arn), {
    UpdateExpression: 'REMOVE #out DELETE outRuns :runs',
    ConditionExpression: 'attribute_exists(#out)',
    ExpressionAttributeNames: { '#out': OUT + runId },
    ExpressionAttributeValues: { ':runs': { SS: [runId] } },
    ReturnValues: 'NONE',
  });
  // Also when it was forgotten before: whoever did that may have died before this.
  await removeIfIdle(arn);
}

/** Only these targets of the run are still out: the others are registered again. Without one, the run has none out. */
export async function keepOut(
  arn: string,
  runId: string,
  out: Readonly<Record<string, number>>,
): Promise<void> {
  if (Object.keys(out).length === 0) return forgetOut(arn, runId);
  await change(pk.targetGroup(arn), {
    UpdateExpression: 'SET #out = :out',
    ConditionExpression: 'attribute_exists(#out)',
    ExpressionAttributeNames: { '#out': OUT + runId },
    ExpressionAttributeValues: { ':out': json(out) },
    ReturnValues: 'NONE',
  });
}

async function removeIfIdle(arn: string): Promise<void> {
  await remove(pk.targetGroup(arn), {
    ConditionExpression: 'attribute_not_exists(holder) AND attribute_not_exists(outRuns)',
  });
}

/** Reads a target group's item. */
export function toGuard(item: Item): Guard {
  const out = new Map<string, Record<string, number>>();
  for (const [name, value] of Object.entries(item)) {
    const counts = name.startsWith(OUT) ? parsed<Record<string, number>>(value) : undefined;
    if (counts) out.set(name.slice(OUT.length), counts);
  }
  return { outByRun: out };
}

/** Reads how many targets live runs have out, without taking the guard. */
export async function readGuards(arns: readonly string[]): Promise<Map<string, Guard>> {
  return guardsIn(await getAll(arns.map(pk.targetGroup)), arns);
}

/** The guards of groups in what was read; one that nobody has taken is empty. */
export const guardsIn = (items: ReadonlyMap<string, Item>, arns: readonly string[]): Map<string, Guard> =>
  new Map(arns.map(arn => [arn, toGuard(items.get(pk.targetGroup(arn)) ?? {})]));

/** The targets that other runs have out of a group, by zone. */
export function outByZone(guard: Guard | undefined, exceptRunId?: string): Map<string, number> {
  const sum = new Map<string, number>();
  for (const [runId, counts] of guard?.outByRun ?? [])
    for (const [zone, count] of runId === exceptRunId ? [] : Object.entries(counts))
      sum.set(zone, (sum.get(zone) ?? 0) + count);
  return sum;
}
