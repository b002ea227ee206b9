import { applicationStatusChecks } from '../aws/application-status.ts';
import { checkAssociations } from '../aws/check-associations.ts';
import { checksWithTag, deleteCheck, disassociate, setAggregation } from '../aws/checks.ts';
import { metStep, type StepAnswer, waitingStep } from '../bracket/step-answer.ts';
import { nextWait } from '../domain/pace.ts';
import { AdoptionEnded } from '../errors.ts';
import { type Failure, readable } from '../failure.ts';
import {
  type AdoptionEvidence,
  type AdoptionRecord,
  closeAdoption,
  endAdoption,
  findAdoption,
  ownAdoption,
} from '../ledger/adoptions.ts';
import { giveCheck } from '../ledger/check-locks.ts';
import { nowSeconds } from '../time.ts';
import { ADOPTION_TAG } from './act.ts';
import { groupTag, isOnGroup } from './group-tag.ts';

export interface FencedAdoption extends Failure {
  readonly group: string;
  readonly next: 'undo' | 'nothing';
  readonly deadline: number;
}

/** How long an undo may take, in seconds: a few calls, and twice what a description lies behind. Ours. */
const UNDO_SECONDS = 600;

/** Ends an adoption before its undo: no act of it starts after this write (D5). */
export async function fenceAdoption(group: string, owner: string, failure: Failure): Promise<FencedAdoption> {
  const said = readable(failure);
  const at = nowSeconds();
  const answer = { group, deadline: at + UNDO_SECONDS, ...said };
  if (group === '' || !(await endAdoption(group, owner, { outcome: 'failed', at, ...said })))
    return { ...answer, next: 'nothing' };
  // Read after the fence: an act that marked itself before it goes on, and has to be undone.
  const record = await ownAdoption(group, owner, 'undoing');
  if (record.acts.length > 0) return { ...answer, next: 'undo' };
  await close(record);
  return { ...answer, next: 'nothing' };
}

/**
 * Undoes what a fenced adoption has done: a check that it has created is deleted; one that was there is excluded, and
 * associated with what it was. `met` when there was nothing left to do.
 */
export async function undoAdoption(group: string, owner: string, deadline: number): Promise<StepAnswer> {
  const record = await ownAdoption(group, owner, 'undoing');
  const left = record.acts.includes('created') ? await undoCreation(record) : await undoUse(record);
  if (left.length === 0) return metStep(1);
  return waitingStep(nextWait(nowSeconds(), deadline, 10), left);
}

async function undoCreation({ checkId, plan }: AdoptionRecord): Promise<string[]> {
  // Also by its tag: a function that has died may have created it and not named it.
  const candidates = new Set([checkId, ...(await checksWithTag(ADOPTION_TAG, plan.token))]);
  const there = [...(await applicationStatusChecks([...candidates].flatMap(id => id ?? []))).keys()];
  for (const id of there) await deleteCheck(id);
  return there.map(id => `${id} is still there`);
}

async function undoUse({ group, checkId, acts, plan }: AdoptionRecord): Promise<string[]> {
  if (checkId === undefined) return [];
  const check = (await applicationStatusChecks([checkId])).get(checkId);
  if (!check) return [];
  const left: string[] = [];
  if (acts.includes('promoted') && check.aggregation === 'included') {
    await setAggregation(checkId, 'excluded');
    left.push(`${checkId} is still included`);
  }
  const tag = groupTag(group);
  const found = (await checkAssociations()).filter(one => one.checkId === checkId);
  const sampled = found.flatMap(one =>
    'instanceId' in one && plan.sample.includes(one.instanceId) ? [one.instanceId] : [],
  );
  // One that was made before the adoption got so far is somebody else's (D39).
  if (acts.includes('widened') && !plan.wasOnGroup && found.some(one => isOnGroup(one, group))) {
    await disassociate(checkId, { tag });
    left.push(`${checkId} is still associated with ${group}`);
  }
  if (sampled.length > 0) {
    await disassociate(checkId, { instanceIds: sampled });
    left.push(`${checkId} is still associated with ${sampled.join(', ')}`);
  }
  return left;
}

export interface ConcludedAdoption {
  readonly group: string;
  readonly checkId: string;
  readonly outcome: 'succeeded' | 'undone';
  /** Of a promoted check: why it was. */
  readonly evidence: AdoptionEvidence | Record<string, never>;
}

/** Writes into the record how an adoption has ended, and lets others adopt. @throws AdoptionEnded */
export async function concludeAdoption(
  group: string,
  owner: string,
  outcome: 'succeeded' | 'undone',
): Promise<ConcludedAdoption> {
  const end = { outcome: 'succeeded', at: nowSeconds(), error: '', cause: '' } as const;
  const ended = outcome === 'undone' || (await endAdoption(group, owner, end));
  const record = await findAdoption(group);
  if (!ended || record?.owner !== owner)
    throw new AdoptionEnded(
      `The adoption by ${group} was ended by somebody else before it could be concluded.`,
    );
  await close(record);
  const { checkId = '', evidence = {} } = record;
  return { group, outcome, checkId, evidence };
}

async function close({ group, owner, checkId }: AdoptionRecord): Promise<void> {
  if (checkId !== undefined) await giveCheck(checkId, group);
  await closeAdoption(group, owner);
}
