import { applicationStatusChecks, type CheckFacts } from '../aws/ec2.ts';
import { CheckChanged } from '../errors.ts';
import type { AdoptionRecord } from '../ledger/adoptions.ts';
import { DESCRIBE_LAG_SECONDS } from '../limits.ts';
import { nowSeconds } from '../time.ts';

/**
 * The check of an adoption as it is now; undefined while one that has just been created does not show yet (R-EVENTUAL).
 *
 * @throws CheckChanged when somebody has deleted it, or its aggregation is not what the adoption has made of it
 */
export async function currentCheck(
  record: AdoptionRecord,
  wanted: CheckFacts['aggregation'],
): Promise<CheckFacts | undefined> {
  const id = checkIdOf(record);
  const check = (await applicationStatusChecks([id])).get(id);
  if (!check) {
    if (isJustCreated(record)) return undefined;
    throw new CheckChanged(`Somebody has deleted ${id} while it was adopted.`);
  }
  if (check.aggregation !== wanted)
    throw new CheckChanged(
      `${id} is ${check.aggregation}, and this adoption has not made it so: somebody else has.`,
    );
  return check;
}

/** May a check of ours be missing only because a description lies behind? */
export const isJustCreated = ({ request, createdAt }: AdoptionRecord): boolean =>
  !('id' in request.check) && nowSeconds() - createdAt < 2 * DESCRIBE_LAG_SECONDS;

/** @throws CheckChanged when it has none: an act comes before its check */
export function checkIdOf({ group, checkId }: AdoptionRecord): string {
  if (checkId === undefined) throw new CheckChanged(`The adoption by ${group} has no check yet.`);
  return checkId;
}
