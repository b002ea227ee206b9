/** What people are told of a run that has failed, each once a run. */
export type Topic = 'failed' | 'held' | 'given-back' | 'unfinished';

export interface RunNews {
  readonly runId: string;
  readonly what: Topic;
  readonly error: string;
  readonly cause: string;
  readonly instanceIds: readonly string[];
  /** Instances that are held, or that still are as the run left them. */
  readonly left: readonly { readonly instanceId: string; readonly reason: string }[];
  /** Seconds since the epoch. */
  readonly endedAt: number;
  readonly heldUntil?: number | undefined;
  /** Calls of the AWS CLI, and what each is for, that close the run without Quiesce; empty where they would be too many. */
  readonly byHand: readonly string[];
}

/** One notification: an e-mail's subject and body, and an event for whoever builds on it. */
export interface Announcement<Detail> {
  /** At most 100 ASCII characters in one line: SNS takes no others. */
  readonly subject: string;
  readonly message: string;
  readonly detailType: string;
  readonly detail: Detail;
}

export interface RunDetail {
  readonly runId: string;
  readonly what: Topic;
  readonly error: string;
  readonly cause: string;
  /** The first hundred; `instances` is how many there are. */
  readonly instanceIds: readonly string[];
  readonly instances: number;
  readonly left: RunNews['left'];
  readonly endedAt: string;
  readonly heldUntil?: string;
}

export const SUBJECT_LENGTH = 100;
/** An error's cause can have 32,768 characters; whoever wants all of it looks at the run. */
export const CAUSE_LENGTH = 2_000;
const LISTED = 100;

const DETAIL_TYPES: Readonly<Record<Topic, string>> = {
  failed: 'Quiesce Run Failed',
  held: 'Quiesce Instances Held',
  'given-back': 'Quiesce Instances Given Back',
  unfinished: 'Quiesce Undo Unfinished',
};

export function announce(news: RunNews): Announcement<RunDetail> {
  const { runId, what, error, instanceIds, endedAt, heldUntil } = news;
  const cause = cut(news.cause, CAUSE_LENGTH);
  const left = news.left.slice(0, LISTED);
  const end = heldUntil === undefined ? undefined : instant(heldUntil);
  return {
    subject: subjectOf(runId, what),
    message: [
      `Run ${runId} over ${counted(instanceIds.length)} failed at ${instant(endedAt)} with ${error}.`,
      cause,
      '',
      ...stateOf(what, end),
      ...left.map(({ instanceId, reason }) => `  ${instanceId}: ${reason}`),
      ...(news.left.length > left.length ? [`  and ${news.left.length - left.length} more`] : []),
      '',
      `See what the run did and holds:  quiesce status ${runId}`,
      ...(what === 'held' || what === 'unfinished' ? howToFinish(runId, news.byHand) : []),
    ].join('\n'),
    detailType: DETAIL_TYPES[what],
    detail: {
      runId,
      what,
      error,
      cause,
      instanceIds: instanceIds.slice(0, LISTED),
      instances: instanceIds.length,
      left,
      endedAt: instant(endedAt),
      ...(end === undefined ? {} : { heldUntil: end }),
    },
  };
}

const howToFinish = (runId: string, byHand: readonly string[]): string[] => [
  `Give everything back now:        quiesce undo ${runId}`,
  `The same by plain AWS CLI calls: quiesce status ${runId} --by-hand`,
  ...(byHand.length > 0 ? ['', 'At the moment those are:', '', ...byHand] : []),
];

function subjectOf(runId: string, what: Topic): string {
  const said = {
    failed: 'failed and is undone',
    held: 'failed and holds instances',
    'given-back': 'has given back what it held',
    unfinished: 'failed and is NOT fully undone',
  }[what];
  const room = SUBJECT_LENGTH - `Quiesce: run  ${said}`.length;
  return `Quiesce: run ${cut(runId, room)} ${said}`;
}

function stateOf(what: Topic, end: string | undefined): string[] {
  switch (what) {
    case 'failed':
      return ['Nothing is claimed, held or suppressed for it any more.'];
    case 'held':
      return [
        `These instances are not proven ready. They are kept out of traffic and suppressed until ${end}, so that somebody can look at them, and Auto Scaling does not replace them. Everything else is put back:`,
      ];
    case 'given-back':
      return [
        'Its hold is over. Every instance is put back into its target groups and its suppression is released: Auto Scaling replaces those that do not work.',
      ];
    case 'unfinished':
      return [
        'Its undo could not be finished. These instances may still be out of traffic, suppressed, or in a held Auto Scaling group:',
      ];
  }
}

const counted = (count: number): string => (count === 1 ? '1 instance' : `${count} instances`);

export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 3)}...`;

export const instant = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
