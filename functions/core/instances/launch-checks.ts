import { applicationStatusChecks, type CheckFacts } from '../aws/application-status.ts';
import { checkAssociations } from '../aws/check-associations.ts';
import type { InstanceFacts } from '../aws/instances.ts';
import type { Sharing } from '../bracket/sharing.ts';
import { appliesTo } from '../domain/lifecycle-action.ts';

/**
 * The checks on an instance that is being launched, as they are now. By association, not by what the instance's application
 * status shows: a check that has just begun shows nothing yet, and neither does one that does not exist.
 */
export async function checksOn(instance: InstanceFacts, { state }: Sharing): Promise<CheckFacts[]> {
  const associations = await state('check-associations', checkAssociations)();
  const here = associations.filter(association => appliesTo(association, instance));
  const ids = [...new Set(here.map(association => association.checkId))].sort();
  return [...(await state('checks', applicationStatusChecks)(ids)).values()];
}
