import { GROUP_TAG_KEY, groupTag, isOnGroup } from '../adopt/group-tag.ts';
import { type CheckAssociation, checkAssociations } from '../aws/check-associations.ts';
import { checksWithTag } from '../aws/checks.ts';
import { listTargets } from '../aws/code-deploy.ts';
import { associateOrConfirm } from '../aws/confirmed-association.ts';
import { describeInstances } from '../aws/instances.ts';
import {
  claimSuccession,
  isSuccessionDone,
  markSuccessionDone,
  recordSuccession,
  type Succession,
} from '../ledger/successions.ts';
import { optInTag, setting } from '../settings.ts';
import { nowSeconds } from '../time.ts';

/** Longer than the function may run. */
const CLAIM_SECONDS = 30;

/**
 * Associates the Auto Scaling group that a blue/green deployment has made with the checks of ours that the original one has
 * by its name, which nothing else does. Repeating it does what is still to do.
 *
 * @param instanceId of the green side
 * @returns false while another instance's call is at it
 * @throws QuotaExceeded, ObservationPending
 */
export async function takeOverChecks(deploymentId: string, instanceId: string): Promise<boolean> {
  if (await isSuccessionDone(deploymentId)) return true;
  if (!(await claimSuccession(deploymentId, nowSeconds(), CLAIM_SECONDS)))
    return isSuccessionDone(deploymentId);
  const succession = await successionOf(deploymentId, instanceId);
  if (succession) {
    await recordSuccession(succession);
    for (const id of succession.checkIds) await associateOrConfirm(id, { tag: groupTag(succession.to) });
  }
  await markSuccessionDone(deploymentId);
  return true;
}

/** Undefined where there is nothing to take over, or the new instances do not carry our tag (D19). */
async function successionOf(deploymentId: string, instanceId: string): Promise<Succession | undefined> {
  const facts = await describeInstances(await listTargets(deploymentId));
  const { key, value } = optInTag(setting('OPT_IN_TAG_VALUE'));
  const green = facts.get(instanceId)?.tags;
  const to = green?.[GROUP_TAG_KEY];
  if (to === undefined || green?.[key] !== value) return undefined;
  const groups = new Set([...facts.values()].flatMap(({ tags }) => tags[GROUP_TAG_KEY] ?? []));
  const from = [...groups].filter(group => group !== to);
  const ours = new Set(await checksWithTag(key, value));
  const isTheirs = (one: CheckAssociation) => from.some(group => isOnGroup(one, group));
  const checkIds = (await checkAssociations())
    .filter(one => ours.has(one.checkId) && isTheirs(one))
    .map(({ checkId }) => checkId);
  return checkIds.length === 0 ? undefined : { deploymentId, to, from, checkIds: [...new Set(checkIds)] };
}
