import { type News, NOTHING } from '../bracket/tell.ts';
import {
  type AdoptionDetail,
  type AdoptionTopic,
  announceAdoption,
} from '../domain/adoption-announcement.ts';
import { aws, shellLine } from '../domain/aws-cli.ts';
import type { Failure } from '../failure.ts';
import { type AdoptionRecord, findAdoption, markAdoptionTold } from '../ledger/adoptions.ts';
import { nowSeconds } from '../time.ts';
import { groupTag } from './group-tag.ts';

/**
 * What people are to be told of an adoption whose machine has failed. Nothing of one that was refused before it did anything,
 * which its caller knows, nothing of another execution's, and nothing twice.
 */
export async function composeOnAdoption(
  { group, execution }: { readonly group: string; readonly execution: string },
  failure: Failure,
): Promise<News<AdoptionDetail>> {
  const record = await findAdoption(group);
  if (record?.owner !== execution || record.acts.length === 0 || record.outcome === 'succeeded')
    return NOTHING;
  const what = topicOf(record);
  if (record.told.includes(what)) return NOTHING;
  const announcement = announceAdoption({
    group,
    what,
    checkId: record.checkId,
    error: failure.error,
    cause: failure.cause,
    endedAt: record.endedAt ?? nowSeconds(),
    byHand: what === 'unfinished' ? undoByHand(record) : [],
  });
  return { isNews: true, what, ...announcement };
}

function topicOf({ status, acts }: AdoptionRecord): AdoptionTopic {
  if (status !== 'ended') return 'unfinished';
  return acts.includes('promoted') ? 'demoted' : 'failed';
}

/** Without its name a created check is found by its tag only, and the sweep does that. */
function undoByHand({ checkId, acts, group, plan }: AdoptionRecord): string[] {
  if (checkId === undefined) return [];
  const check = { 'application-status-check-id': checkId };
  if (acts.includes('created')) return [shellLine(aws('ec2', 'delete-application-status-check', check))];
  const exclude = shellLine(
    aws('ec2', 'modify-application-status-check', { ...check, aggregation: 'excluded' }),
  );
  if (plan.wasOnGroup) return [exclude];
  const { key, value } = groupTag(group);
  // The sample's associations, until the whole group's takes their place.
  const what = acts.includes('widened')
    ? { 'target-tag-associations': `Key=${key},Value=${value}` }
    : { 'instance-ids': plan.sample };
  return [exclude, shellLine(aws('ec2', 'disassociate-application-status-check', { ...check, ...what }))];
}

/** People were told. Written afterwards, so that what fails in between is told again (at least once). */
export async function rememberOnAdoption(group: string, what: string): Promise<{ readonly told: boolean }> {
  return { told: await markAdoptionTold(group, what) };
}
