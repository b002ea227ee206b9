import type { Account } from '../account/account.ts';
import type { Evidence } from './evidence.ts';

const ACTS = new Set(['PutMetricAlarm', 'PutCompositeAlarm', 'DeleteAlarms']);

/** By the tag that the product gives to what it makes. */
const isOfProduct = (tags: ReadonlyMap<string, string>): boolean => tags.has('quiesce');

/** Does a call leave the alarms alone that somebody else has made? Also one that changes none. */
export function leavesOthersAlarms(
  { alarms }: Account,
  action: string,
  { AlarmName, AlarmNames }: Readonly<Record<string, unknown>>,
): boolean {
  if (!ACTS.has(action)) return true;
  const names = [AlarmName, ...(Array.isArray(AlarmNames) ? AlarmNames : [])].map(String);
  return names.every(name => isOfProduct(alarms.find(name)?.tags ?? new Map([['quiesce', '']])));
}

/** Invariant 4 when everything is over: no alarm is left on an instance or a check that is gone. */
export function judgeAlarms({ account: { alarms, ec2, checks }, broken }: Evidence): void {
  const ids = new Set(checks.registry.active().map(({ id }) => id));
  for (const { name, tags } of alarms.all()) {
    if (!isOfProduct(tags)) continue;
    const [instance] = /\bi-\w+/.exec(name) ?? [];
    const [check] = /\basc-\w+/.exec(name) ?? [];
    if (instance !== undefined && ec2.instance(instance)?.state !== 'running')
      broken(4, `the alarm ${name} is on an instance that is gone`);
    if (check !== undefined && !ids.has(check)) broken(4, `the alarm ${name} is on a check that is gone`);
  }
}
