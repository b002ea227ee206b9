import { type Announcement, CAUSE_LENGTH, cut, instant, SUBJECT_LENGTH } from './announcement.ts';

/** What people are told of an adoption that has failed, each once an adoption. */
export type AdoptionTopic = 'failed' | 'demoted' | 'unfinished';

export interface AdoptionNews {
  readonly group: string;
  readonly what: AdoptionTopic;
  /** Absent when it was never created. */
  readonly checkId?: string | undefined;
  readonly error: string;
  /** With the diagnosis, where instances have failed the check. */
  readonly cause: string;
  /** Seconds since the epoch. */
  readonly endedAt: number;
  /** Calls of the AWS CLI that undo what is left, where something is. */
  readonly byHand: readonly string[];
}

export interface AdoptionDetail {
  readonly autoScalingGroupName: string;
  readonly what: AdoptionTopic;
  readonly checkId?: string;
  readonly error: string;
  readonly cause: string;
  readonly endedAt: string;
}

const DETAIL_TYPES: Readonly<Record<AdoptionTopic, string>> = {
  failed: 'Quiesce Adoption Failed',
  demoted: 'Quiesce Check Demoted',
  unfinished: 'Quiesce Adoption Unfinished',
};

const SUBJECTS: Readonly<Record<AdoptionTopic, string>> = {
  failed: 'has not adopted its check',
  demoted: 'has demoted its check',
  unfinished: 'has a check that is NOT undone',
};

const STATES: Readonly<Record<AdoptionTopic, string>> = {
  failed: 'The check was never included, so Auto Scaling has ended no instance for it. Everything is undone.',
  demoted:
    'The check was included, and is excluded again: Auto Scaling does not act on it any more. Everything is undone.',
  unfinished:
    'The undo could not be finished: the check may still be there, associated or included. The sweep tries again. By hand:',
};

export function announceAdoption(news: AdoptionNews): Announcement<AdoptionDetail> {
  const { group, what, checkId, error, byHand } = news;
  const cause = cut(news.cause, CAUSE_LENGTH);
  const endedAt = instant(news.endedAt);
  const subject = (name: string) => `Quiesce: ${name} ${SUBJECTS[what]}`;
  // A group's name may have any character.
  const name = cut(group.replace(/[^ -~]/g, '?'), SUBJECT_LENGTH - subject('').length);
  return {
    subject: subject(name),
    message: [
      `The adoption of ${checkId ?? 'a check'} by Auto Scaling group ${group} failed at ${endedAt} with ${error}.`,
      cause,
      '',
      STATES[what],
      ...byHand.map(line => `  ${line}`),
      '',
      'See what the ledger says of it:  quiesce status',
    ].join('\n'),
    detailType: DETAIL_TYPES[what],
    detail: {
      autoScalingGroupName: group,
      what,
      ...(checkId !== undefined && { checkId }),
      error,
      cause,
      endedAt,
    },
  };
}
