import { ObservationPending, QuotaExceeded } from '../errors.ts';
import { associationValue, checkAssociations } from './check-associations.ts';
import { type Association, associate, disassociate } from './checks.ts';

/** What a check is associated with now, as far as descriptions show it: `key=value`, or an instance's id. */
export async function shownOn(checkId: string): Promise<readonly string[]> {
  const all = await checkAssociations();
  return all.filter(one => one.checkId === checkId).map(associationValue);
}

/**
 * Associates, and believes what a description shows rather than the reasons of a refusal, which may be that it already is.
 *
 * @throws QuotaExceeded
 * @throws ObservationPending while an association that EC2 says is there already does not show
 */
export async function associateOrConfirm(checkId: string, what: Association): Promise<void> {
  const refused = await associate(checkId, what);
  if (refused.length === 0) return;
  const shown = await shownOn(checkId);
  const [left] = refused.filter(({ value }) => !shown.includes(value));
  if (left && /already/i.test(left.reason))
    throw new ObservationPending(`${checkId} is associated with ${left.value}, which does not show yet.`);
  if (left) throw new QuotaExceeded(`EC2 does not associate ${checkId} with ${left.value}: ${left.reason}`);
}

/**
 * Disassociates, and believes what a description shows rather than the reasons of a refusal, which may be that it is gone already.
 *
 * @throws ObservationPending while what EC2 has refused to disassociate shows
 */
export async function disassociateOrConfirm(checkId: string, what: Association): Promise<void> {
  const refused = await disassociate(checkId, what);
  if (refused.length === 0) return;
  const shown = await shownOn(checkId);
  const left = refused.find(({ value }) => shown.includes(value));
  if (left)
    throw new ObservationPending(`EC2 does not disassociate ${checkId} from ${left.value}: ${left.reason}.`);
}
