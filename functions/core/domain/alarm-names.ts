import { createHash } from 'node:crypto';

/** What an alarm on a group says. `failing` is not told when it begins, only when it is over: the others say more. */
export const GROUP_ALARMS = [
  'failing-and-acted-upon',
  'failing-under-suppression',
  'check-silent',
  'failing',
] as const;
export type GroupAlarm = (typeof GROUP_ALARMS)[number];

/**
 * What an alarm of ours is about. `impaired` is of the aggregate metric, which is silent while an instance is suppressed;
 * `failed` of one check's own, which is not. Without an instance: over all instances of a check, or of the account.
 */
export type AlarmSubject =
  | { readonly of: 'instance'; readonly instanceId: string; readonly what: 'impaired' }
  | {
      readonly of: 'instance';
      readonly instanceId: string;
      readonly what: 'failed';
      readonly checkId: string;
    }
  | {
      readonly of: 'group';
      readonly label: string;
      readonly what: GroupAlarm;
      /** Of an alarm whose rule is too long for one: which part of it. */
      readonly part?: number;
    }
  | { readonly of: 'check'; readonly checkId: string; readonly what: 'failing' }
  | { readonly of: 'account'; readonly what: 'impaired' };

export function alarmName(prefix: string, subject: AlarmSubject): string {
  switch (subject.of) {
    case 'instance': {
      const about = `${prefix}instance/${subject.instanceId}`;
      return subject.what === 'impaired' ? `${about}/impaired` : `${about}/${subject.checkId}/failed`;
    }
    case 'group': {
      const name = `${prefix}group/${subject.label}/${subject.what}`;
      return subject.part === undefined ? name : `${name}/${subject.part}`;
    }
    case 'check':
      return `${prefix}check/${subject.checkId}/failing`;
    case 'account':
      return `${prefix}account/impaired`;
  }
}

const GROUP = new RegExp(`^group/([^/]+)/(${GROUP_ALARMS.join('|')})(?:/(\\d+))?$`);

/** What an alarm of this name is about; undefined when we would give no alarm this name. */
export function subjectOf(prefix: string, name: string): AlarmSubject | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const rest = name.slice(prefix.length);
  const [, instanceId, checkId] = /^instance\/(i-\w+)\/(?:impaired|(asc-\w+)\/failed)$/.exec(rest) ?? [];
  if (instanceId !== undefined)
    return checkId === undefined
      ? { of: 'instance', instanceId, what: 'impaired' }
      : { of: 'instance', instanceId, what: 'failed', checkId };
  const [, label, said, part] = GROUP.exec(rest) ?? [];
  const what = GROUP_ALARMS.find(one => one === said);
  if (label !== undefined && what)
    return { of: 'group', label, what, ...(part !== undefined && { part: Number(part) }) };
  const [, ofCheck] = /^check\/(asc-\w+)\/failing$/.exec(rest) ?? [];
  if (ofCheck !== undefined) return { of: 'check', checkId: ofCheck, what: 'failing' };
  return rest === 'account/impaired' ? { of: 'account', what: 'impaired' } : undefined;
}

/** Leaves room for the prefix, and for two names in each of a composite alarm's terms. Ours. */
const LABEL_LENGTH = 60;

/**
 * What stands for an Auto Scaling group in names of alarms. A group's name may be longer, and have quotes and slashes: what
 * does not fit is told apart by a digest.
 */
export function groupLabel(group: string | undefined): string {
  if (group === undefined) return '(no-group)';
  const readable = group.replace(/[^\w.-]/g, '-').slice(0, LABEL_LENGTH);
  if (readable === group) return group;
  return `${readable}-${createHash('sha256').update(group).digest('hex').slice(0, 8)}`;
}
