import { GROUP_TAG_KEY, groupIn } from '../adopt/group-tag.ts';
import { AdoptionInProgress, RunInProgress } from '../errors.ts';
import { findAdoption } from '../ledger/adoptions.ts';
import { findInstances } from '../ledger/instances.ts';
import type { AssociatedCheck } from './checks-in-use.ts';

/**
 * A run proves with the checks of its instances that they are ready, and an adoption counts its own: neither is to be made
 * blind by their deletion.
 *
 * @throws RunInProgress, AdoptionInProgress
 */
export async function requireUncounted({ id, members, associations }: AssociatedCheck): Promise<void> {
  const records = await findInstances(members.map(member => member.id));
  for (const { instanceId, claims } of records.values()) {
    const [runId] = claims.keys();
    if (runId !== undefined)
      throw new RunInProgress(
        `Run ${runId} claims ${instanceId}, and counts on ${id} there. Retire it when the run is over.`,
      );
  }
  const groups = [...members.map(({ tags }) => tags[GROUP_TAG_KEY]), ...associations.map(groupIn)];
  for (const group of new Set(groups.flatMap(name => name ?? []))) {
    const adoption = await findAdoption(group);
    if (adoption?.checkId === id && adoption.status !== 'ended')
      throw new AdoptionInProgress(
        `${group} is adopting ${id}, in ${adoption.owner}. Retire it when that has ended.`,
      );
  }
}
