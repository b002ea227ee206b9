import type { Account } from '../account/account.ts';
import { OPT_IN } from './build-fleet.ts';

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
