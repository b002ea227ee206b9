import { type News, NOTHING } from '../bracket/tell.ts';
import { aws, shellLine } from '../domain/aws-cli.ts';
import { announceRetirement, type RetirementDetail } from '../domain/retirement-announcement.ts';
import type { Failure } from '../failure.ts';
import { findRetirement, leavesSomething, markRetirementTold } from '../ledger/retirements.ts';
import { nowSeconds } from '../time.ts';

const WHAT = 'unfinished';

/**
 * What people are to be told of a retirement whose machine has failed. Nothing of one that was refused before it had a record,
 * which its caller knows, nothing of another execution's, and nothing twice.
 */
export async function composeOnRetirement(
  { retirement: subject, execution }: { readonly retirement: string; readonly execution: string },
  { error, cause }: Failure,
): Promise<News<RetirementDetail>> {
  const record = subject === '' ? undefined : await findRetirement(subject);
  if (record?.owner !== execution || record.outcome !== 'failed' || record.told.includes(WHAT))
    return NOTHING;
  const { plan, acts, endedAt = nowSeconds() } = record;
  const announcement = announceRetirement({
    subject,
    deletedCheck: acts.includes('check-deleted'),
    error,
    cause,
    endedAt,
    byHand: leavesSomething(record)
      ? plan.groupIds.map(id => shellLine(aws('ec2', 'delete-security-group', { 'group-id': id })))
      : [],
  });
  return { isNews: true, what: WHAT, ...announcement };
}

/** People were told. Written afterwards, so that what fails in between is told again (at least once). */
export async function rememberOnRetirement(
  subject: string,
  what: string,
): Promise<{ readonly told: boolean }> {
  return { told: await markRetirementTold(subject, what) };
}
