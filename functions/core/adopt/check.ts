import { applicationStatusChecks, type CheckFacts } from '../aws/application-status.ts';
import { CheckChanged, ObservationPending } from '../errors.ts';
import type { AdoptionRecord } from '../ledger/adoptions.ts';
import { DESCRIBE_LAG_SECONDS } from '../limits.ts';
import { nowSeconds } from '../time.ts';

/**
 * The check of an adoption as it is now.
 *
 * @param madeSoAt when the adoption has made it so, in milliseconds since the epoch; 0 when it did nothing about it
 * @throws CheckChanged when somebody has deleted it, or its aggregation is not what the adoption has made of it
 * @throws ObservationPending while one that has just been created, or modified, does not show
 */
export async function currentCheck(
  record: AdoptionRecord,
  wanted: CheckFacts['aggregation'],
  madeSoAt = 0,
): Promise<CheckFacts> {
  const id = checkIdOf(record);
  const check = (await applicationStatusChecks([id])).get(id);
  if (!check) throw missing(record);
  // A description lies behind, and one that does not show our own act yet says nothing about others' (R-EVENTUAL).
  if (check.aggregation !== wanted && Date.now() - madeSoAt < DESCRIBE_LAG_SECONDS * 1000)
    throw new ObservationPending(`${id} was just made ${wanted}, and does not show it yet.`);
  if (check.aggregation !== wanted)
    throw new CheckChanged(
      `${id} is ${check.aggregation}, and this adoption has not made it so: somebody else has.`,
    );
  return check;
}

/** What it means that EC2 does not know the check of an adoption: one of ours may only not show yet (R-EVENTUAL). */
export function missing(record: AdoptionRecord): CheckChanged | ObservationPending {
  const id = checkIdOf(record);
  const isNew = !('id' in record.request.check) && nowSeconds() - record.createdAt < DESCRIBE_LAG_SECONDS;
  return isNew
    ? new ObservationPending(`${id} was just created, and does not show yet.`)
    : new CheckChanged(`Somebody has deleted ${id} while it was adopted.`);
}

/** @throws CheckChanged when it has none: an act comes before its check */
export function checkIdOf({ group, checkId }: AdoptionRecord): string {
  if (checkId === undefined) throw new CheckChanged(`The adoption by ${group} has no check yet.`);
  return checkId;
}
