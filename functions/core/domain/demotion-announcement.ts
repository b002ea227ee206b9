import { type Announcement, CAUSE_LENGTH, cut, instant, SUBJECT_LENGTH } from './announcement.ts';

/**
 * What people are told of a check that the loop breaker has demoted, or would have; `passed`: an observed loop is over; `named`: it is known now who has included it again.
 */
export type DemotionTopic = 'demoted' | 'observed' | 'again' | 'named' | 'over' | 'passed';

export interface DemotionNews {
  readonly checkId: string;
  readonly what: DemotionTopic;
  /** With the diagnosis, and what to add where a security group is closed. */
  readonly cause: string;
  readonly groups: readonly string[];
  /** When the demotion began, in seconds since the epoch. */
  readonly at: number;
  /** The ARN of who has included it again last, where that is known. */
  readonly includedBy?: string;
}

export interface DemotionDetail {
  readonly checkId: string;
  readonly what: DemotionTopic;
  readonly cause: string;
  readonly autoScalingGroupNames: readonly string[];
  readonly at: string;
  /** Absent where it is not known, or nobody has. */
  readonly includedBy?: string;
}

const SUBJECTS: Readonly<Record<DemotionTopic, string>> = {
  demoted: 'is demoted before it has more instances replaced',
  observed: 'has instances replaced, and would be demoted',
  again: 'was included again, and is demoted again',
  named: 'was included again, and it is known by whom',
  over: 'is well again, and still excluded',
  passed: 'is well again, and would not be demoted any more',
};

const DETAIL_TYPES: Readonly<Record<DemotionTopic, string>> = {
  demoted: 'Quiesce Loop Broken',
  observed: 'Quiesce Loop Observed',
  again: 'Quiesce Loop Broken',
  named: 'Quiesce Loop Broken',
  over: 'Quiesce Loop Over',
  passed: 'Quiesce Loop Over',
};

const STATES: Readonly<Record<DemotionTopic, string>> = {
  demoted: 'It is excluded now: Auto Scaling does not act on it any more',
  observed:
    'The loop breaker only observes, so it is included still: exclude it, or set LoopBreaker to demote',
  again: 'Its cause lasts, so it is excluded again. Take it out of the template that includes it',
  named: 'Its cause lasts, so it is excluded again. Take it out of the template that includes it',
  over: 'What showed its cause passes it again. It is not included by itself: adopt it again',
  passed: 'Every instance passes it again. The loop breaker has only observed it',
};

/** Only what is excluded can be adopted. */
const IS_EXCLUDED: Readonly<Record<DemotionTopic, boolean>> = {
  demoted: true,
  observed: false,
  again: true,
  named: true,
  over: true,
  passed: false,
};

export function announceDemotion(news: DemotionNews): Announcement<DemotionDetail> {
  const { checkId, what, groups, includedBy } = news;
  const isIncludedAgain = includedBy !== undefined && (what === 'again' || what === 'named');
  const cause = cut(news.cause, CAUSE_LENGTH);
  const at = instant(news.at);
  return {
    subject: cut(`Quiesce: check ${checkId} ${SUBJECTS[what]}`, SUBJECT_LENGTH),
    message: [
      `Check ${checkId}, since ${at}:`,
      cause,
      ...(isIncludedAgain ? ['', `${includedBy} has included it again.`] : []),
      '',
      `${STATES[what]}. That holds for every group that it is on: ${groups.join(', ')}.`,
      ...(IS_EXCLUDED[what]
        ? [
            '',
            `Adopt it again when its cause is gone: quiesce adopt --auto-scaling-group GROUP --check ${checkId}`,
          ]
        : []),
    ].join('\n'),
    detailType: DETAIL_TYPES[what],
    detail: {
      checkId,
      what,
      cause,
      autoScalingGroupNames: groups.slice(0, 50),
      at,
      ...(isIncludedAgain && { includedBy }),
    },
  };
}
