import { type Announcement, CAUSE_LENGTH, cut, instant, SUBJECT_LENGTH } from './announcement.ts';

export interface RetirementNews {
  /** The check, or the security groups where no check was named. */
  readonly subject: string;
  /** Was the check deleted? */
  readonly deletedCheck: boolean;
  readonly error: string;
  /** With what is in the way. */
  readonly cause: string;
  /** Seconds since the epoch. */
  readonly endedAt: number;
  /** Calls of the AWS CLI that delete what is left when nothing holds it any more. */
  readonly byHand: readonly string[];
}

export interface RetirementDetail {
  readonly subject: string;
  readonly error: string;
  readonly cause: string;
  readonly endedAt: string;
}

/** What people are told of a retirement that has come to its limit, or has failed after it had deleted something. */
export function announceRetirement(news: RetirementNews): Announcement<RetirementDetail> {
  const { subject, deletedCheck, error, byHand } = news;
  const cause = cut(news.cause, CAUSE_LENGTH);
  const endedAt = instant(news.endedAt);
  const head = 'Quiesce: something is left of ';
  return {
    subject: `${head}${cut(subject, SUBJECT_LENGTH - head.length)}`,
    message: [
      `The retirement of ${subject} ended at ${endedAt} with ${error}.`,
      cause,
      '',
      `${deletedCheck ? 'The check is deleted. ' : ''}An interface that is left costs 0.01 US dollars an hour; a security group nothing.`,
      ...(byHand.length > 0
        ? ['When nothing holds it any more:', ...byHand.map(line => `  ${line}`), '']
        : ['']),
      'See what is there:  quiesce interfaces',
    ].join('\n'),
    detailType: 'Quiesce Retirement Unfinished',
    detail: { subject, error, cause, endedAt },
  };
}
