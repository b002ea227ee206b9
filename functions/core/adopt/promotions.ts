import { applicationStatusChecks } from '../aws/application-status.ts';
import { associationValue, checkAssociations } from '../aws/check-associations.ts';
import { leastObservation } from '../domain/adoption.ts';
import { CheckInUse, CheckUnknown } from '../errors.ts';
import { DESCRIBE_LAG_SECONDS } from '../limits.ts';
import { groupIn } from './group-tag.ts';

/** A check that a run has adopted, and the Auto Scaling group that it is on. */
export interface Promotion {
  readonly checkId: string;
  readonly group: string;
}

/** The evaluations in a row that such an adoption asks for: what one that is asked for alone does unless told. */
const EVALUATIONS = 2;

/** For the adoption's own plan, its acts, and what of them has to be repeated. Ours. */
const ROOM_SECONDS = 300;

/**
 * The promotions that an after-deploy is asked for, and how long they may take at once, in seconds.
 *
 * @throws CheckUnknown, CheckInUse when a check is included, or on anything but one group that no other of them is on
 */
export async function promotionsOf(
  checkIds: readonly string[],
): Promise<{ readonly promotions: readonly Promotion[]; readonly seconds: number }> {
  if (checkIds.length === 0) return { promotions: [], seconds: 0 };
  const checks = await applicationStatusChecks(checkIds);
  const associations = await checkAssociations();
  const groups = new Set<string>();
  const found = [...new Set(checkIds)].map(checkId => {
    const check = checks.get(checkId);
    if (!check) throw new CheckUnknown(`There is no application status check ${checkId}.`);
    if (check.aggregation === 'included')
      throw new CheckInUse(`${checkId} is included already: leave it out of promoteCheckIds.`);
    const on = associations.filter(one => one.checkId === checkId);
    const [first] = on;
    const group = first && groupIn(first);
    if (on.length !== 1 || group === undefined)
      throw new CheckInUse(
        `${checkId} has to be associated with one Auto Scaling group, by its tag aws:autoscaling:groupName, and is with ${on.map(associationValue).join(', ') || 'nothing'}.`,
      );
    if (groups.has(group))
      throw new CheckInUse(`Auto Scaling group ${group} adopts one check at a time: name one of its checks.`);
    groups.add(group);
    return { checkId, group, seconds: leastObservation(check, EVALUATIONS, DESCRIBE_LAG_SECONDS) };
  });
  return {
    promotions: found.map(({ checkId, group }) => ({ checkId, group })),
    seconds: Math.max(...found.map(({ seconds }) => seconds)) + ROOM_SECONDS,
  };
}
