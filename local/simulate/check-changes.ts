import type { Account } from '../account/account.ts';
import { OPT_IN } from './build-fleet.ts';

/** Two evaluations at the least are evidence (R-AGREE). */
const EVIDENCE = 2;

/**
 * The instances in service that have not passed a check twice in a row, by the account's true state: whoever includes the check
 * at this moment has no evidence for them.
 */
export function unprovenFor({ checks, autoScaling }: Account, groupName: string, checkId: string): string[] {
  return autoScaling
    .group(groupName)
    .inService.map(({ instanceId }) => instanceId)
    .filter(id => {
      const result = checks.results(id).find(one => one.checkId === checkId);
      return result === undefined || result.status !== 'passed' || result.streak < EVIDENCE;
    });
}

/** Does a call change of a check no more than Quiesce may: its aggregation, or all of one that it has created itself? */
export function mayChangeCheck(
  { checks }: Account,
  action: string,
  { ApplicationStatusCheckId: id, ...input }: Readonly<Record<string, unknown>>,
): boolean {
  const check = [...checks.registry.all()].find(one => one.id === id);
  if (check?.tags.get('quiesce') !== OPT_IN.quiesce) return false;
  if (action === 'DeleteApplicationStatusCheck') return check.tags.has('quiesce-adoption');
  const members = Object.keys(input).filter(member => member !== 'ClientToken');
  return action === 'ModifyApplicationStatusCheck' && members.join() === 'Aggregation';
}
