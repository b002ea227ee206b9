import type { z } from 'zod/mini';
import type { NewCheck } from '../adoption-request.ts';
import { applicationStatusChecks } from '../aws/application-status.ts';
import { isNotFound } from '../aws/call.ts';
import { associationValue, checkAssociations } from '../aws/check-associations.ts';
import {
  type Association,
  checksWithTag,
  createExcludedCheck,
  disassociate,
  setAggregation,
} from '../aws/checks.ts';
import { associateOrConfirm } from '../aws/confirmed-association.ts';
import { describeInstances } from '../aws/instances.ts';
import { CheckChanged, ObservationPending } from '../errors.ts';
import { type AdoptionRecord, markAct, markPromoted, nameCheck, ownAdoption } from '../ledger/adoptions.ts';
import { optInTag } from '../settings.ts';
import { nowSeconds } from '../time.ts';
import { checkIdOf, currentCheck, missing } from './check.ts';
import { groupTag, isOnGroup } from './group-tag.ts';
import { count } from './look.ts';
import type { actPayload } from './payloads.ts';

/** What an act answers to the machine. Every member is always there (D15). */
export interface ActAnswer {
  /** `again`: what the act rests on does not hold any more, and has to be observed once more. */
  readonly verdict: 'met' | 'again';
  /** When it was done, in milliseconds since the epoch. */
  readonly at: number;
  /** Until when what follows is observed, in seconds since the epoch. */
  readonly deadline: number;
}

/** The tag by which a check that an adoption has created is found again. */
export const ADOPTION_TAG = 'quiesce-adoption';

/** One act of an adoption, written down before it is done. Repeating it does what is still to do. */
export async function actOnCheck(acting: z.output<typeof actPayload>): Promise<ActAnswer> {
  const record = await ownAdoption(acting.group, acting.execution);
  switch (acting.act) {
    case 'sample':
      return sample(record);
    case 'widen':
      return widen(record);
    case 'promote':
      return promote(record, acting);
  }
}

async function sample(record: AdoptionRecord): Promise<ActAnswer> {
  const { group, owner, plan } = record;
  const { check } = record.request;
  const checkId = 'id' in check ? check.id : await created(record, check);
  await markAct(group, owner, 'sampled');
  const facts = await describeInstances(plan.sample);
  const there = plan.sample.filter(id => facts.get(id)?.state === 'running');
  await associated({ ...record, checkId }, { instanceIds: there });
  return answered(plan.observeSeconds);
}

/** The check, created as excluded, or found by its tag where an earlier try has created it (R-IDEMP). */
async function created({ group, owner, plan }: AdoptionRecord, check: NewCheck): Promise<string> {
  await markAct(group, owner, 'created');
  const [found] = await checksWithTag(ADOPTION_TAG, plan.token);
  const { key, value } = optInTag(plan.optInTagValue);
  const tags = { [key]: value, [ADOPTION_TAG]: plan.token, Name: `quiesce ${group}` };
  const checkId = found ?? (await createExcludedCheck(check, tags, plan.token));
  if (checkId === undefined)
    throw new ObservationPending('The check was created by an earlier try, and does not show yet.');
  await nameCheck(group, owner, checkId);
  return checkId;
}

/** First the tag, then not the sample any more: no instance is without the check in between. */
async function widen(record: AdoptionRecord): Promise<ActAnswer> {
  const { group, owner, plan } = record;
  await currentCheck(record, 'excluded');
  await markAct(group, owner, 'widened');
  await associated(record, { tag: groupTag(group) });
  await disassociate(checkIdOf(record), { instanceIds: plan.sample });
  return answered(plan.observeSeconds);
}

/** @throws CheckChanged when somebody has deleted the check, and what associateOrConfirm throws */
async function associated(record: AdoptionRecord, what: Association): Promise<void> {
  await associateOrConfirm(checkIdOf(record), what).catch((error: unknown) => {
    throw isNotFound(error) ? missing(record) : error;
  });
}

/** Includes the check on the strength of one more look, made now: every instance of this moment has passed (D36). */
async function promote(
  record: AdoptionRecord,
  { streak, since }: Extract<z.output<typeof actPayload>, { act: 'promote' }>,
): Promise<ActAnswer> {
  const { group, owner, request, plan } = record;
  const id = checkIdOf(record);
  const answer = answered(request.watchSeconds);
  // The second try of a promotion whose answer was lost; one that never took effect rests on a new look.
  const isDone = record.acts.includes('promoted') && (await isIncluded(id));
  if (!isDone) {
    const { counted, instances } = await count(record, 'group', streak, since);
    if (counted.evaluations < request.evaluations)
      return { ...answered(plan.observeSeconds), verdict: 'again' };
    await requireOnGroupAlone(record);
    const { evaluations, newerThan: evaluatedAt } = counted;
    await markPromoted(group, owner, { instances: instances.length, evaluations, evaluatedAt }, nowSeconds());
  }
  await setAggregation(id, 'included');
  return answer;
}

const isIncluded = async (id: string): Promise<boolean> =>
  (await applicationStatusChecks([id])).get(id)?.aggregation === 'included';

/** What somebody has associated besides would be promoted with it, without any evidence. @throws CheckChanged */
async function requireOnGroupAlone(record: AdoptionRecord): Promise<void> {
  const { group, plan } = record;
  const id = checkIdOf(record);
  const found = (await checkAssociations()).filter(({ checkId }) => checkId === id);
  if (!found.some(one => isOnGroup(one, group)))
    throw new CheckChanged(`Somebody has disassociated ${id} from ${group} while it was adopted.`);
  // A description that lags shows the sample still.
  const elsewhere = found
    .filter(one => !isOnGroup(one, group))
    .map(associationValue)
    .filter(value => !plan.sample.includes(value));
  if (elsewhere.length > 0)
    throw new CheckChanged(
      `Somebody has associated ${id} with ${elsewhere.slice(0, 3).join(', ')} while ${group} adopted it, and its promotion would reach whatever that holds.`,
    );
}

const answered = (seconds: number): ActAnswer => ({
  verdict: 'met',
  at: Date.now(),
  deadline: nowSeconds() + seconds,
});
