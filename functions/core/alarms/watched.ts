import { type ApplicationStatusFacts, everyApplicationStatus } from '../aws/application-status.ts';
import { checksWithTag } from '../aws/checks.ts';
import { describeInstances, type InstanceFacts } from '../aws/instances.ts';
import { alarmName } from '../domain/alarm-names.ts';
import type { WatchedGroup } from '../domain/alarms.ts';
import type { OptInTag } from '../settings.ts';

/** An instance that runs and has a check of ours, with what EC2 reports of it. */
export interface Reported {
  readonly instance: InstanceFacts;
  /** Its results are those of our checks alone. */
  readonly status: ApplicationStatusFacts;
}

/**
 * Every instance that a check with the tag reports on. A call for the checks, and one a hundred instances for statuses and
 * for instances: at 5,000 instances about 100 calls, well below EC2's buckets.
 */
export async function reportedInstances({ key, value }: OptInTag): Promise<Reported[]> {
  const ours = new Set(await checksWithTag(key, value));
  if (ours.size === 0) return [];
  const statuses = (await everyApplicationStatus())
    .map(status => ({ ...status, checks: status.checks.filter(({ checkId }) => ours.has(checkId)) }))
    .filter(({ checks }) => checks.length > 0);
  const instances = await describeInstances(statuses.map(({ instanceId }) => instanceId));
  return statuses.flatMap(status => {
    const instance = instances.get(status.instanceId);
    return instance?.state === 'running' ? [{ instance, status }] : [];
  });
}

const GROUP_TAG = 'aws:autoscaling:groupName';

/** The Auto Scaling group of an instance, by the tag that the group gives it. */
export const groupOf = ({ instance }: Reported): string | undefined => instance.tags[GROUP_TAG];

/** A check has been evaluated: before that its metric says nothing. */
const EVALUATED: ReadonlySet<string> = new Set(['passed', 'failed']);

/** What has an alarm has been evaluated before: that it says nothing now is news, and its alarm has to stay to tell it. */
export function haveAlarms(prefix: string, existing: readonly { readonly name: string }[]): HasAlarm {
  const names = new Set(existing.map(({ name }) => name));
  return (instanceId, checkId) =>
    names.has(alarmName(prefix, { of: 'instance', instanceId, what: 'failed', checkId }));
}

/** Is there an alarm on this check of this instance? */
type HasAlarm = (instanceId: string, checkId: string) => boolean;

/** By their groups, and within those in the order of their ids: the same account gives the same alarms. */
export function watchedGroups(
  reported: readonly Reported[],
  hasAlarm: HasAlarm = () => false,
): WatchedGroup[] {
  const sorted = reported.toSorted((a, b) => a.instance.id.localeCompare(b.instance.id));
  return Array.from(Map.groupBy(sorted, groupOf), ([name, members]) => ({
    name,
    instances: members.flatMap(({ instance: { id }, status }) => {
      const checks = status.checks
        .filter(check => EVALUATED.has(check.status) || hasAlarm(id, check.checkId))
        .map(({ checkId, aggregation }) => ({ checkId, included: aggregation === 'included' }))
        .sort((a, b) => a.checkId.localeCompare(b.checkId));
      return checks.length === 0 ? [] : [{ instanceId: id, checks }];
    }),
  })).filter(({ instances }) => instances.length > 0);
}
