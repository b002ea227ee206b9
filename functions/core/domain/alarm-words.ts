import type { AlarmSubject } from './alarm-names.ts';

/** By it an alarm is known as ours, besides its name: DescribeAlarms gives no tags. */
export const MADE_BY = 'Made, kept and removed by Quiesce (docs/alarms.md).';

/** SDK: an AlarmDescription has at most 1,024 characters; a group's name has at most 255. */

/** What it means that the alarm rings, for somebody who is woken by it. */
export function descriptionOf(subject: AlarmSubject, group?: string): string {
  return `${meaningOf(subject, group)} ${MADE_BY}`;
}

function meaningOf(subject: AlarmSubject, group: string | undefined): string {
  switch (subject.of) {
    case 'instance':
      return subject.what === 'impaired'
        ? `EC2 calls ${subject.instanceId} impaired by its included application status checks, and Auto Scaling replaces it. Silent while it is suppressed.`
        : `The application status check ${subject.checkId} fails on ${subject.instanceId}, suppressed or not. INSUFFICIENT_DATA: the check says nothing.`;
    case 'group':
      return ofGroup(subject.what, group === undefined ? 'no Auto Scaling group' : `group ${group}`);
    case 'check':
      return `The application status check ${subject.checkId} fails on the instances that this alarm lists as contributors, suppressed or not.`;
    case 'account':
      return 'EC2 calls the instances that this alarm lists as contributors impaired, and Auto Scaling replaces them. Silent on suppressed ones.';
  }
}

function ofGroup(what: Extract<AlarmSubject, { of: 'group' }>['what'], where: string): string {
  switch (what) {
    case 'failing-and-acted-upon':
      return `Instances of ${where} fail their included application status checks, and Auto Scaling replaces them, about three minutes after it sees that. Look: quiesce diagnose.`;
    case 'failing-under-suppression':
      return `Instances of ${where} fail an application status check while they are suppressed: nobody replaces them, until the suppression ends. Look at the deployment: quiesce status.`;
    case 'check-silent':
      return `An application status check says nothing of instances of ${where}: it was taken away, its interface is gone, or the quota of targets is used up. Look: quiesce alarms.`;
    case 'failing':
      return `Instances of ${where} fail an included application status check, suppressed or not. It only tells when that is over.`;
  }
}
